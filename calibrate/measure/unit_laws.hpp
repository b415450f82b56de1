// SPDX-License-Identifier: Apache-2.0
// Closed forms of an SM's habits, as far as the probes of UnitOp are compared with them.
#pragma once

#include <headroom/core/quantity.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace headroom {

/// Lanes of a warp, and 4-byte banks of shared memory (NVIDIA, CUDA C++ Programming Guide, "Shared Memory").
inline constexpr std::int64_t warp_lanes = 32;

/// Sectors of 32 bytes that the 4-byte loads of a warp touch, its lanes `stride` >= 1 elements apart from the element
/// `offset` of a sector on (NVIDIA, CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory": as many
/// transactions as 32-byte segments serve all lanes).
[[nodiscard]] constexpr std::int64_t sectors_of_warp(std::int64_t stride, std::int64_t offset = 0) noexcept {
  constexpr std::int64_t elements = 8;  // of a sector
  return stride > elements ? warp_lanes : ((offset % elements + (warp_lanes - 1) * stride) / elements) + 1;
}

/// Lanes of a warp that want different words of one bank, served one after another, when lanes are `stride` >= 1 words
/// of shared memory apart: gcd(stride, 32).
[[nodiscard]] constexpr std::int64_t bank_conflicts(std::int64_t stride) noexcept {
  return std::gcd(stride, warp_lanes);
}

/// Time of a warp whose lanes take `paths` ways of the length `path`: one after another (NVIDIA, CUDA C++ Programming
/// Guide, "SIMT Architecture").
[[nodiscard]] constexpr Seconds divergent_time(Seconds path, std::int64_t paths) noexcept {
  return static_cast<double>(paths) * path;
}

/// Rate at which memory answers when `in_flight` bytes are always on their way and each takes `latency`: no more than
/// `most` (Little 1961: L = lambda W).
[[nodiscard]] constexpr BytesPerSecond rate_in_flight(Bytes in_flight, Seconds latency, BytesPerSecond most) noexcept {
  return std::min(in_flight / latency, most);
}

/// Time of `updates` atomic adds to `addresses` >= 1 places in equal shares: those to one place wait `each` for one
/// another, all together run at no more than `rate` a second.
[[nodiscard]] constexpr Seconds atomic_time(double updates, double addresses, Seconds each, Hertz rate) noexcept {
  return std::max(updates / addresses * each, updates / rate);
}

/// Time of one sync of a grid: what one takes with a single CTA, and `each` for every further CTA, all of which count
/// themselves at one address.
[[nodiscard]] constexpr Seconds grid_sync_time(Seconds alone, Seconds each, double ctas) noexcept {
  return alone + (ctas - 1.0) * each;
}

/// Most threads that an SM holds, by 10 x compute capability (NVIDIA, CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
[[nodiscard]] constexpr std::int64_t threads_of_sm(std::int64_t capability) noexcept {
  const bool server = capability == 80 || capability == 90 || capability == 100 || capability == 103;
  return server ? 2048 : 1536;
}

}  // namespace headroom
