// SPDX-License-Identifier: Apache-2.0
// Facts of the launches and clients behind published serving rows, for the cells that a row leaves blank.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

class ModelData;

/// One table of model/stacks/step/serve-launches.toml: which rows it holds for, and what it says of them.
struct PublishedLaunch {
  std::string id, source;
  std::vector<std::string> sources, refs, engines, models, gpus, weights, versions;  ///< empty: any
  std::string scenario;                                                              ///< empty: any
  std::string from, until;         ///< days between which a row that states one was measured, as 2026-02-13; empty: any
  std::optional<double> isl, osl;  ///< nominal lengths; nullopt: any
  std::optional<std::array<std::int64_t, 2>> tp, concurrency;  ///< inclusive bounds
  std::vector<std::pair<std::string, std::string>> facts;      ///< name and value, as a row has it
  [[nodiscard]] bool holds(const RunRow& row) const;
};

/// Ranks of one worker of a pool, and how many workers it has.
struct PublishedPool {
  std::int64_t workers = 1, ranks = 1, ep = 1;
  bool attention_dp = false;
  [[nodiscard]] std::int64_t gpus() const noexcept { return workers * ranks; }
};

/// A deployment in pools that a publication's configuration launched for a number of clients.
struct PublishedDeployment {
  std::int64_t isl = 1, osl = 1, clients = 1;  ///< nominal tokens; requests in flight
  PublishedPool prefill, decode;
  std::int64_t drafts = 0;  ///< tokens drafted a step; -1: drafts of an unpublished number
  std::int64_t slots = 0;   ///< experts of a decoding worker that balances their load, copies counted; 0: it does not
  std::int64_t batch = 0;   ///< sequences that a decoding worker (an attention group of it) runs at once; 0: not stated
  /// Whether a row's cells of both pools say nothing else: their ranks, all GPUs in either, or nothing.
  [[nodiscard]] bool agrees(const ServingConfiguration& run) const;
  /// Whether a row that states its workers is this deployment, which has no drafts.
  [[nodiscard]] bool is_of(const ServingConfiguration& run) const;
  /// The row with both pools as the configuration has them.
  [[nodiscard]] ServingConfiguration deployed(const ServingConfiguration& run) const;
  /// What the row's cells of both pools do not say: places and balance of the decoding workers.
  void launch(ServingConfiguration& run) const;
};

/// Deployments of one configuration (model/stacks/step/serve-deployments.toml), and the rows that they hold for.
struct PublishedDeployments {
  PublishedLaunch rows;  ///< conditions, no facts
  std::vector<PublishedDeployment> deployments;
};

/// An engine that no stack stands for.
struct RefusedEngine {
  std::vector<std::string> engines;
  std::string why;  ///< clause that follows the engine's name
};

struct PublishedLaunches {
  std::vector<PublishedLaunch> launches;
  std::vector<RefusedEngine> refused;
  /// Why an engine is refused, as a clause; empty for the others.
  [[nodiscard]] std::string_view refusal(std::string_view engine) const noexcept;
};

[[nodiscard]] std::vector<PublishedDeployments> read_published_deployments(const ConfigValue& document,
                                                                           Diagnostics& diagnostics);
/// From the embedded file or the user's folders, parsed once.
[[nodiscard]] const std::vector<PublishedDeployments>& published_deployments(const ModelData& data);

[[nodiscard]] PublishedLaunches read_published_launches(const ConfigValue& document, Diagnostics& diagnostics);
/// From the embedded file or the user's folders, parsed once.
[[nodiscard]] const PublishedLaunches& published_launches(const ModelData& data);

/// A row's configuration with its blank cells filled, and what filled them: "kv_cache fp8, range_ratio 0.8 (ID; ID)".
struct LaunchedRow {
  ServingConfiguration run;
  std::string assumed;       ///< empty: nothing was filled
  bool open_drafts = false;  ///< a deployment with drafts of an unpublished number
};
[[nodiscard]] LaunchedRow launched(const RunRow& row, const PublishedLaunches& launches);

/// A disaggregated row as each of the deployments that its publication launched for its lengths and clients; empty
/// where nothing is known. More than one where the publication ran several (with and without drafts), which no column
/// tells apart. A row that states its workers has no drafts unless it says so; it takes places and balance alone.
[[nodiscard]] std::vector<LaunchedRow> deployments_of(const RunRow& row,
                                                      const LaunchedRow& filled,
                                                      const std::vector<PublishedDeployments>& published);

/// Problems of facts that exclude each other, each with the way out; empty when there are none.
[[nodiscard]] std::string contradiction(const ServingConfiguration& run);

}  // namespace headroom
