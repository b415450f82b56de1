// SPDX-License-Identifier: Apache-2.0
// A question of classic machine learning: one algorithm with its sizes, GPUs, and the host beside them.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/hardware/cpus/cpu.hpp>
#include <headroom/model/classic/boosted_trees.hpp>
#include <headroom/model/classic/clusters.hpp>
#include <headroom/model/classic/media.hpp>
#include <headroom/model/classic/recommender.hpp>
#include <headroom/model/classic/vector_search.hpp>
#include <headroom/scenarios/money/money.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headroom::classic {

struct TreesAsked {
  std::string package;
  TreeTask task;
};
struct KMeansAsked {
  KMeansTask task;
  bool resident = true;
};
struct VectorsAsked {
  SearchTask task;
  std::optional<double> shards, recall, wanted_recall;
  double recall_power = 1.0;
  std::optional<Hertz> rate;
};
struct SelectionAsked {
  TopKTask task;
};
struct GroupingAsked {
  GroupTask task;
};
enum class Optimizer : std::uint8_t { sgd, adagrad, adam };
struct RecommenderAsked {
  RecommenderTask task;
  bool serves = false;
  double batch = 65536.0;
  Optimizer optimizer = Optimizer::sgd;
  double popularity = 1.0;
};
struct VideoAsked {
  VideoTask task;
  CardVideo engines;
  std::optional<double> streams;  ///< that are wanted; nothing: as many as the GPUs carry
  double compute_width = 0.0;     ///< half-width of the interval of `task.frame`; 0: it was stated
};
struct SimulatorAsked {
  SimulatorTask task;
  std::optional<double> steps;    ///< of all environments together, of a run
  std::optional<Hertz> demand;    ///< steps a second that are wanted
  std::optional<Bytes> env, own;  ///< of an environment, and of the simulator itself
};
struct PolicyAsked {
  PolicyTask task;
  Seconds network{};            ///< on the way to the GPU and back
  std::optional<Hertz> wanted;  ///< calls a second of the control loop
};
using Algorithm = std::variant<TreesAsked,
                               KMeansAsked,
                               VectorsAsked,
                               SelectionAsked,
                               GroupingAsked,
                               RecommenderAsked,
                               VideoAsked,
                               SimulatorAsked,
                               PolicyAsked>;
/// In the order of Algorithm: tables of a document.
inline constexpr std::array<std::string_view, std::variant_size_v<Algorithm>> algorithm_names{
    "trees", "kmeans", "vectors", "selection", "grouping", "recommender", "video", "simulator", "control"};
/// Whether the cores of a host are held against the GPUs: of video, simulators and policies they are not.
[[nodiscard]] constexpr bool has_cores(const Algorithm& algorithm) noexcept {
  return algorithm.index() < 6;
}

struct UnitsAsked {
  Hertz rate{};
  std::optional<Hertz> unit_rate;
  std::optional<Dollars> price;
  std::optional<Joules> energy;
  double years = 4.0;
  DollarsPerJoule electricity{};
};

struct Question {
  const Sources* sources = nullptr;  ///< must outlive the question
  std::string name, file;
  Card card;
  double cards = 1.0;
  bool cards_open = false;  ///< as many as memory and rate ask for
  Cores host;               ///< all cores of one host
  std::optional<Bytes> host_memory, nvme;
  BytesPerSecond network{};
  Algorithm algorithm;
  std::optional<UnitsAsked> units;
  Money money;
  std::vector<std::string> assumptions;
};

/// ConfigError with every problem at once: none or several algorithms; more probes than lists, more lists than vectors;
/// a code longer than its vector; more bins than rows; tables beyond all tiers; an index that no stated shards hold;
/// streams that no engine decodes or encodes, or more of them than the stated GPUs' engines carry.
[[nodiscard]] Question read_question(const ConfigValue& root, const std::string& file, const Sources& sources);
Question read_question(const ConfigValue& root, const std::string& file, const Sources&& gone) = delete;

/// Bytes of tables with an optimizer's moments; of one that serves the tables alone.
[[nodiscard]] Bytes table_bytes(const RecommenderAsked& asked, const Numbers::Recommender& law) noexcept;

/// Share of a card's memory that tables, vectors and rows may fill; the rest is for contexts and workspaces.
inline constexpr double usable_memory = 0.9;

}  // namespace headroom::classic
