// SPDX-License-Identifier: Apache-2.0
// What the probes of UnitOp are compared with: the laws of model/laboratory for the accesses that the probes make, and
// closed forms of what is measured here alone.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/laboratory/access.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace headroom {

/// Lanes of a warp of NVIDIA's.
inline constexpr std::int64_t warp_lanes = AccessUnit{}.lanes;

/// Sectors of 32 bytes that the 4-byte loads of a warp touch, its lanes `stride` >= 1 elements apart from the element
/// `offset` of a sector on, as count_access() counts them.
[[nodiscard]] inline std::int64_t sectors_of_warp(std::int64_t stride, std::int64_t offset = 0) {
  AccessPattern loads;
  loads.stride = stride;
  loads.offset = offset * loads.element;
  return std::llround(count_access(loads, AccessUnit{}).sectors);
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
