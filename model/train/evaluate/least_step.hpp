// SPDX-License-Identifier: Apache-2.0
// The roofline of a training step: the time that no software can go below.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/strategy/strategy.hpp>

#include <algorithm>

namespace headroom {

/// Bounds of one step from below, each for itself (Williams et al. 2009, section 3).
struct LeastStep {
  Seconds arithmetic{};  ///< the FLOP that nothing can leave out, at the dense peak of the narrowest format
  Seconds traffic{};     ///< the weights of a rank, from memory, once forward and once backward
  [[nodiscard]] constexpr Seconds time() const noexcept { return std::max(arithmetic, traffic); }
};

/// F = tokens (w products forward + (1 or 2) w backward + 3 scores / 2): causal attention halved, nothing recomputed,
/// frozen weights without gradients, spread evenly over the GPUs. Of experts only those that a token meets count.
/// ConfigError when the SKU lacks the peak or the bandwidth.
[[nodiscard]] LeastStep least_step(const CompiledTraining& c, const Device& device, const Strategy& strategy);

}  // namespace headroom
