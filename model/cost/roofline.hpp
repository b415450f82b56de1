// SPDX-License-Identifier: Apache-2.0
// The roofline (Williams et al. 2009): an upper bound from peak and bandwidth alone.
#pragma once

#include <headroom/core/quantity.hpp>

#include <algorithm>

namespace headroom {

struct Roofline {
  FlopsPerByte intensity{};
  FlopsPerByte ridge{};
  bool memory_bound = false;
  Seconds time{};
  FlopsPerSecond attainable{};
};

/// attainable = min(peak, intensity x bandwidth); time = FLOP / attainable.
[[nodiscard]] constexpr Roofline roofline(Flops work,
                                          Bytes moved,
                                          FlopsPerSecond peak,
                                          BytesPerSecond bandwidth) noexcept {
  Roofline result;
  result.intensity = work / moved;
  result.ridge = peak / bandwidth;
  result.memory_bound = result.intensity < result.ridge;
  result.attainable = std::min(peak, result.intensity * bandwidth);
  result.time = std::max(work / peak, moved / bandwidth);
  return result;
}

/// L2 bandwidth over memory bandwidth where nobody probed it: above every ratio published for the catalog's GPUs.
inline constexpr double l2_over_memory = 4.0;

/// No kernel is faster: compute at the peak, what exceeds L2 from memory, and everything at least through L2. Of
/// operands that a benchmark reuses, as many bytes as L2 holds may be there already, whatever the order of their use.
[[nodiscard]] constexpr Seconds least_time(
    Flops work, Bytes moved, FlopsPerSecond peak, BytesPerSecond bandwidth, Bytes l2) noexcept {
  const Bytes missed = std::max(Bytes{}, moved - l2);
  return std::max({work / peak, missed / bandwidth, moved / (l2_over_memory * bandwidth)});
}

/// 2 m n k.
[[nodiscard]] constexpr Flops gemm_flops(double m, double n, double k) noexcept {
  return Flops{2.0 * m * n * k};
}
/// Both operands read and the result written once, of one element size.
[[nodiscard]] constexpr Bytes gemm_bytes(double m, double n, double k, double bytes_per_element) noexcept {
  return Bytes{bytes_per_element * (m * k + k * n + m * n)};
}

}  // namespace headroom
