// SPDX-License-Identifier: Apache-2.0
// Tiles of a matrix product: the shapes that libraries ship and how many of them an SM works off.
#pragma once

#include <array>
#include <cmath>

namespace headroom {

/// Rows, columns of the output that one CTA makes. The menu spans what the measured libraries ship.
inline constexpr std::array<std::array<int, 2>, 8> tile_menu{
    {{16, 64}, {64, 64}, {64, 128}, {128, 64}, {128, 128}, {128, 256}, {256, 128}, {256, 256}}};

[[nodiscard]] constexpr double fourth(double x) noexcept {
  return x * x * x * x;
}

/// Turns that SMs take for x CTAs each, x = CTAs / SMs: between even spreading and whole waves.
[[nodiscard]] inline double turns(double x, double wave) noexcept {
  return x <= 1.0 ? 1.0 : wave * std::ceil(x) + (1.0 - wave) * x;
}

}  // namespace headroom
