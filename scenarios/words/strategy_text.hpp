// SPDX-License-Identifier: Apache-2.0
// A strategy in one line, and what a job states beside it.
#pragma once

#include <headroom/model/train/strategy/strategy.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// "tp 4, pp 8, dp 32, micro-batch 1, ZeRO 1, recompute none, sequence parallel". Settings at their usual value are
/// left out.
[[nodiscard]] std::string strategy_text(const Strategy& strategy);

struct MemoryOptions;
/// A key of a scenario, its path and its value as the scenario spells it.
struct StatedKey {
  std::string_view path;
  std::string value;  ///< empty: not stated
};
/// What is said of parts that run again, kept activations, exchanges of experts and averaged weights.
[[nodiscard]] std::vector<StatedKey> stated_recipe(const MemoryOptions& options);
/// Those that are stated: ", recompute parts layernorm mla_up_proj, dispatch fp8"; empty: none is.
[[nodiscard]] std::string stated_recipe_text(const MemoryOptions& options);

}  // namespace headroom
