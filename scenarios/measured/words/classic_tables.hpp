// SPDX-License-Identifier: Apache-2.0
// What rows of classic machine learning name: cards, hosts, data sets and systems
// (model/stacks/step/classic-rows.toml).
#pragma once

#include <headroom/model/classic/classic_numbers.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

struct ClassicGpu {
  std::vector<std::string> names;  ///< how hardware begins
  std::string card;
  std::optional<BytesPerSecond> link;
};
struct ClassicHost {
  std::vector<std::string> names;
  std::string cpu;
  double sockets = 1.0, cores = 1.0, efficiency = 0.0;
  bool early = false;  ///< its runs are of releases before 2021
};
/// The host beside a GPU, whose names begin as those of the GPU's hardware do.
struct CardHost {
  std::vector<std::string> names;
  std::string cpu;
  double cores = 1.0;
};
struct EarlyTrees {
  std::string package;
  Seconds round{}, feature{}, update{};
};
/// Trees that grow leaf by leaf, of the libraries of 2017: a bin's search of a leaf and feature, and an addition of a
/// row.
struct LeafTrees {
  std::string package;
  bool cores = true;  ///< on cores; else beside a card
  Seconds feature{}, update{};
};
/// A data set of those runs: trees, and leaves of each.
struct LeafSet {
  std::string name;
  double trees = 1.0, leaves = 2.0;
};
struct TreeData {
  std::string name;
  double rows = 1.0, features = 1.0, outputs = 1.0, dense = 1.0;
};
struct VectorData {
  std::string name;
  double vectors = 1.0, dims = 1.0;
};
/// A system of big-ann-benchmarks: what one costs and draws, and queries a second at recall 0.9 of each data set.
struct SearchSystem {
  std::string name;
  Dollars price{};
  Watts watts{};
  std::map<std::string, double, std::less<>> rates;
};
struct ImageNetwork {
  std::string name;
  double layers = 1.0, multiplications = 1.0, pixels = 224.0;
};
struct ClassicTables {
  std::vector<ClassicGpu> gpus;
  std::vector<ClassicHost> hosts;
  std::vector<CardHost> card_hosts;
  std::vector<EarlyTrees> early;
  std::vector<LeafTrees> leaf_trees;
  std::vector<LeafSet> leaf_sets;
  double leaf_width = 0.0;
  std::vector<TreeData> trees;
  std::vector<VectorData> vectors;
  std::vector<SearchSystem> systems;
  std::vector<ImageNetwork> images;
  Seconds image_layer{};
  double image_width = 0.0;
};
[[nodiscard]] const ClassicTables& classic_tables(const ModelData& data);

/// The entry of a table whose `name` stands in a text; nullptr: none.
template <class Entry>
[[nodiscard]] const Entry* named_in(const std::vector<Entry>& all, std::string_view text) {
  for (const Entry& each : all) {
    if (text.find(each.name) != std::string_view::npos) {
      return &each;
    }
  }
  return nullptr;
}

/// Cards and their number in "4x Titan X (2 shards x 2 replicas)", "DGX A100 (A100 80GB)", "1x K40m".
struct ClassicCards {
  classic::Card card;
  double cards = 1.0;
};
/// nullopt, with the reason, for hardware that names no known GPU.
[[nodiscard]] std::optional<ClassicCards> classic_cards(const Catalog& catalog,
                                                        const ModelData& data,
                                                        std::string_view hardware,
                                                        std::string& why);
/// `stated`: cores by the row's config, "96 NUMA"; empty: all that the host has.
[[nodiscard]] std::optional<classic::Cores> classic_cores(const Catalog& catalog,
                                                          const ModelData& data,
                                                          std::string_view hardware,
                                                          std::string_view stated,
                                                          std::string& why);

/// The host that stands beside a row's GPU. nullopt, with the reason, where the tables know none.
[[nodiscard]] std::optional<classic::Cores> classic_host(const Catalog& catalog,
                                                         const ModelData& data,
                                                         std::string_view hardware,
                                                         std::string& why);
/// "4x " of a text, which then stands behind it; 1 where the text does not begin so.
[[nodiscard]] double leading_count(std::string_view& text);

/// The number behind `word`, "rows=10M": K, M and B are thousands, millions, billions. nullopt: none stands there.
[[nodiscard]] std::optional<double> number_behind(std::string_view text, std::string_view word);

/// An answer with the interval of a law's width.
[[nodiscard]] RowPrediction answered(double predicted, double width, std::string assumed = {});

}  // namespace headroom
