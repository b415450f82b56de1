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
  std::optional<double> isl, osl;                                                    ///< nominal lengths; nullopt: any
  std::optional<std::array<std::int64_t, 2>> tp, concurrency;                        ///< inclusive bounds
  std::vector<std::pair<std::string, std::string>> facts;  ///< name and value, as a row has it
  [[nodiscard]] bool holds(const RunRow& row) const;
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

[[nodiscard]] PublishedLaunches read_published_launches(const ConfigValue& document, Diagnostics& diagnostics);
/// From the embedded file or the user's folders, parsed once.
[[nodiscard]] const PublishedLaunches& published_launches(const ModelData& data);

/// A row's configuration with its blank cells filled, and what filled them: "kv_cache fp8, range_ratio 0.8 (ID; ID)".
struct LaunchedRow {
  ServingConfiguration run;
  std::string assumed;  ///< empty: nothing was filled
};
[[nodiscard]] LaunchedRow launched(const RunRow& row, const PublishedLaunches& launches);

/// Problems of facts that exclude each other, each with the way out; empty when there are none.
[[nodiscard]] std::string contradiction(const ServingConfiguration& run);

}  // namespace headroom
