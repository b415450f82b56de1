// SPDX-License-Identifier: Apache-2.0
// Fits an engine's memory besides weights and KV cache to measured capacities.
#pragma once

#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

/// The fitted numbers of a stack.
struct ServingMemoryConstants {
  double quantised_bytes = 0.0;  ///< bytes per scheduled token and FFN unit with quantised GEMM
  Bytes framework{};
  Bytes framework_per_doubling{};
};

struct ServingMemoryErrors {
  std::size_t n = 0;
  double mape = 0.0;           ///< MAPE of the capacity in whole sequences
  std::size_t within_one = 0;  ///< rows predicted within one sequence
  Bytes pool_miss{};           ///< 80 % of the rows' pools are off by less, per GPU
};

struct ServingMemoryGroup {
  std::string name;  ///< "all", "gpu=...", "tp=..."
  ServingMemoryErrors fitted;
  ServingMemoryErrors left_out;  ///< errors with constants fitted to the other rows; n = 0 for "all"
};

struct ServingMemoryFit {
  ServingMemoryConstants constants;
  std::vector<ServingMemoryGroup> groups;
};

/// Linear least squares in sequences: a pool that holds n sequences is n + 1/2 of them on average, and it is linear in
/// the three constants while the scheduled tokens set the activation peak. Rows that are refused, doubted, or of
/// another metric or engine are left out. Throws ConfigError when fewer than ten rows are left or they cannot separate
/// the constants. Deterministic.
[[nodiscard]] ServingMemoryFit fit_serving_memory(std::span<const RunFile> files,
                                                  Engine engine,
                                                  const Sources& sources);

}  // namespace headroom
