// SPDX-License-Identifier: Apache-2.0
// The [serving] and [strategy] tables of a serving question.
#pragma once

#include <headroom/scenarios/keys/words.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/speculation_reader.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// The formats that words of served_weight_names and of kv_cache_names stand for, by their places.
[[nodiscard]] Precision served_weights(std::size_t choice) noexcept;
[[nodiscard]] Precision kv_cache_format(std::size_t choice) noexcept;

/// As which a model's checkpoint is served, where it is quantised in a format known here.
[[nodiscard]] std::optional<Precision> own_weights(const Architecture& architecture) noexcept;

/// Weights of another model beside the served one, where they are not stated, and why: its checkpoint's own format;
/// else that of the scenario, unless the served checkpoint brought it; else 16 bit.
struct BesideWeights {
  Precision weights = Precision::bf16;
  std::string_view why;
};
[[nodiscard]] BesideWeights weights_beside(const ServeScenario& serve, const Architecture& other) noexcept;

/// Reads both tables; the model, the device and the number of GPUs stand in `serve` already. Blank keys take the
/// engine's defaults and are told in `assumptions`; problems go to the root's diagnostics. `models` finds a draft.
void read_serving(ConfigTable& root,
                  const ModelFinder& models,
                  ServeScenario& serve,
                  std::vector<std::string>& assumptions);

/// fp8 for TensorRT-LLM with 8- or 4-bit floating-point weights, else bf16: the default of a blank KV format.
[[nodiscard]] Precision default_kv_cache(const ServingStack& stack, Precision weights) noexcept;

}  // namespace headroom
