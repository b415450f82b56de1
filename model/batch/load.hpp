// SPDX-License-Identifier: Apache-2.0
// Load arithmetic of batch and online inference: mean and peak rates from volumes.
#pragma once

#include <headroom/core/quantity.hpp>

namespace headroom {

struct Load {
  Hertz mean{};
  Hertz peak{};
};

/// `items` spread over `period`, and `peak_factor` times that at the busiest moment.
[[nodiscard]] constexpr Load load_of(double items, Seconds period, double peak_factor) noexcept {
  const Hertz mean = items / period;
  return {mean, peak_factor * mean};
}

}  // namespace headroom
