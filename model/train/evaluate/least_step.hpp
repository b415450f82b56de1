// SPDX-License-Identifier: Apache-2.0
// The roofline of a training step: a lower bound for any software.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/strategy/strategy.hpp>

#include <algorithm>

namespace headroom {

/// Two independent lower bounds of one step (Williams et al. 2009, section 3).
struct LeastStep {
  Seconds arithmetic{};  ///< the unavoidable FLOP at the dense peak of the narrowest format
  Seconds traffic{};     ///< the weights of a rank read from memory once forward and once backward
  [[nodiscard]] constexpr Seconds time() const noexcept { return std::max(arithmetic, traffic); }
};

/// F = tokens (w products forward + (1 or 2) w backward + 3 scores / 2): causal attention halved, nothing recomputed,
/// no gradients of frozen weights, spread evenly over the GPUs. Of the experts only those of each token count.
/// ConfigError if the SKU lacks the peak or the bandwidth.
[[nodiscard]] LeastStep least_step(const CompiledTraining& c, const Device& device, const Strategy& strategy);

}  // namespace headroom
