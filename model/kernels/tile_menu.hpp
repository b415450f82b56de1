// SPDX-License-Identifier: Apache-2.0
// Tiles of a matrix product: the shapes that libraries ship, and how SMs process them.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace headroom {

/// Rows and columns of the output that one CTA computes. The menu spans what the measured libraries ship.
inline constexpr std::array<std::array<int, 2>, 8> tile_menu{
    {{16, 64}, {64, 64}, {64, 128}, {128, 64}, {128, 128}, {128, 256}, {256, 128}, {256, 256}}};

[[nodiscard]] constexpr double fourth(double x) noexcept {
  return (x * x) * (x * x);
}
[[nodiscard]] inline double fourth_root(double x) noexcept {
  return std::sqrt(std::sqrt(x));
}

/// Rounds up a positive number below 2^62; without SSE 4.1 std::ceil is a function call.
[[nodiscard]] constexpr double round_up(double x) noexcept {
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  return whole < x ? whole + 1.0 : whole;
}

/// Time of x = CTAs / SMs in units of one CTA: between even spreading (wave = 0) and whole waves (wave = 1).
[[nodiscard]] constexpr double turns(double x, double wave) noexcept {
  return x <= 1.0 ? 1.0 : wave * round_up(x) + (1.0 - wave) * x;
}

}  // namespace headroom
