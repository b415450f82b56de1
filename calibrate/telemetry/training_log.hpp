// SPDX-License-Identifier: Apache-2.0
// Losses, loss scales and numbers that are none, in the log of a training run.
#pragma once

#include <headroom/calibrate/telemetry/signals.hpp>

#include <string>
#include <string_view>

namespace headroom {

/// Whether a line tells a loss or a step that loss scaling skipped.
[[nodiscard]] bool tells_training(std::string_view line) noexcept;

/// Lines of PyTorch (AMP), Apex, DeepSpeed, Megatron, Transformers and alike: "loss = 2.31", "lm loss: 1.2E+00",
/// "'loss': nan", "Gradient overflow. Skipping step", "OVERFLOW! ... Skipping step". ConfigError where no line tells a
/// loss.
void read_training_log(std::string_view text, const std::string& file, Signals& signals);

}  // namespace headroom
