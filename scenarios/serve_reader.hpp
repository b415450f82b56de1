// SPDX-License-Identifier: Apache-2.0
// The [serving] and [strategy] tables of a serving question.
#pragma once

#include <headroom/scenarios/scenario.hpp>
#include <headroom/scenarios/serving/speculation_reader.hpp>

#include <array>
#include <string>
#include <vector>

namespace headroom {

/// Formats an engine keeps its KV cache in.
inline constexpr std::array<std::string_view, 6> kv_cache_names{"bf16", "fp16", "fp32", "fp8", "int8", "nvfp4"};

/// Reads both tables; the model, the device and the number of GPUs stand in `serve` already. Blank keys take the
/// engine's defaults and are told in `assumptions`; problems go to the root's diagnostics. `models` finds a draft.
void read_serving(ConfigTable& root,
                  const ModelFinder& models,
                  ServeScenario& serve,
                  std::vector<std::string>& assumptions);

/// fp8 for TensorRT-LLM with 8- or 4-bit floating-point weights, else bf16: the default of a blank KV format.
[[nodiscard]] Precision default_kv_cache(Engine engine, Precision weights) noexcept;

}  // namespace headroom
