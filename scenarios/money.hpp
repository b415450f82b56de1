// SPDX-License-Identifier: Apache-2.0
// Dollars from rates and times.
#pragma once

#include <headroom/core/quantity.hpp>

namespace headroom {

/// $ per million items of a machine that costs `price` whether it is busy or idle, at a served load.
[[nodiscard]] constexpr Dollars cost_per_million(DollarsPerSecond price, Hertz load) noexcept {
  return 1e6 * (price / load);
}

[[nodiscard]] constexpr Dollars rent(DollarsPerSecond price_per_gpu, double gpus, Seconds time) noexcept {
  return gpus * (price_per_gpu * time);
}

}  // namespace headroom
