// SPDX-License-Identifier: Apache-2.0
// Fits what an engine keeps beside weights and KV cache to measured capacities.
#pragma once

#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

/// The numbers of a stack that are fitted.
struct ServingMemoryConstants {
  double quantised_bytes = 0.0;  ///< per scheduled token and FFN unit with quantised GEMM
  Bytes framework{};
  Bytes framework_per_doubling{};
};

struct ServingMemoryErrors {
  std::size_t n = 0;
  double mape = 0.0;           ///< of the capacity in whole sequences
  std::size_t within_one = 0;  ///< rows met within one sequence
  Bytes pool_miss{};           ///< that 80 % of the rows' pools stay below, per GPU
};

struct ServingMemoryGroup {
  std::string name;  ///< "all", "gpu=...", "tp=..."
  ServingMemoryErrors fitted;
  ServingMemoryErrors left_out;  ///< by constants fitted on the other rows; n = 0 for "all"
};

struct ServingMemoryFit {
  ServingMemoryConstants constants;
  std::vector<ServingMemoryGroup> groups;
};

/// Linear least squares in sequences: a pool that holds n sequences is n + 1/2 of them on average, and it is linear in
/// the three constants as long as the scheduled tokens set the activation peak. Rows that the model refuses, doubts or
/// that ask for another metric or engine are left out. ConfigError when fewer than ten rows are left or when they
/// cannot tell the constants apart. Deterministic.
[[nodiscard]] ServingMemoryFit fit_serving_memory(std::span<const RunFile> files,
                                                  Engine engine,
                                                  const Sources& sources);

}  // namespace headroom
