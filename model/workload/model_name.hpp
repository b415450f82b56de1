// SPDX-License-Identifier: Apache-2.0
// Names of models as publishers and people write them: "meta-llama/Llama-3.1-8B-Instruct-FP8" is a network, a training
// that changes none of it, and a format of its weights.
#pragma once

#include <headroom/model/estimate/precision.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headroom {

struct ModelName {
  std::string network;  ///< in one spelling for all: "llama3.1-8b"
  /// Of the weights, where the name ends in one: FP8, AWQ, GPTQ-Int4, W4A16, NVFP4, ...
  std::optional<Precision> weights;
};

/// Leaves out who published it, and at its end what tuned it (-Instruct, -Chat, -Base, -it, -hf, -Thinking) and when
/// (-2507); "Llama-3" and "llama3" are the same.
[[nodiscard]] ModelName read_model_name(std::string_view spelling);

/// Why a name that people ask is no decoder or encoder that a preset could describe, and what comes closest:
/// recommenders, diffusion, speech, vision, encoders with decoders, models whose sizes are not published. Empty for any
/// other name.
[[nodiscard]] std::string_view why_no_preset(std::string_view spelling);

/// The name among `known` that a slip of the pen most likely means, one of the same family.
[[nodiscard]] std::optional<std::string> nearest_model_name(std::string_view spelling,
                                                            std::span<const std::string> known);

}  // namespace headroom
