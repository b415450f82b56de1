// SPDX-License-Identifier: Apache-2.0
// The roofline model (Williams et al. 2009): bounds from peak and bandwidth alone, with one roof per level of memory.
#pragma once

#include <headroom/core/quantity.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

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

/// L2 over memory bandwidth where it was not measured: above every ratio published for the catalog's GPUs.
inline constexpr double l2_over_memory = 4.0;

/// Lower bound on any kernel's time: compute at the peak, bytes beyond L2's size from memory, all bytes through L2. As
/// much as fits in L2 may already be there in a benchmark that reuses its operands, in any order.
[[nodiscard]] constexpr Seconds least_time(
    Flops work, Bytes moved, FlopsPerSecond peak, BytesPerSecond bandwidth, Bytes l2) noexcept {
  const Bytes missed = std::max(Bytes{}, moved - l2);
  return std::max({work / peak, missed / bandwidth, moved / (l2_over_memory * bandwidth)});
}

/// FLOP of a matrix product: 2 m n k.
[[nodiscard]] constexpr Flops gemm_flops(double m, double n, double k) noexcept {
  return Flops{2.0 * m * n * k};
}
/// Bytes of both operands read and the result written once, with one element size.
[[nodiscard]] constexpr Bytes gemm_bytes(double m, double n, double k, double bytes_per_element) noexcept {
  return Bytes{bytes_per_element * (m * k + k * n + m * n)};
}

/// The roof above a kernel and its distance from it.
struct RoofGap {
  bool memory_bound = false;  ///< limited by the bandwidth slope; otherwise by the peak
  FlopsPerSecond roof{};
  double headroom = 1.0;      ///< roof / achieved
  std::string_view remedies;  ///< what moves a kernel towards this roof, in the order to try
};
[[nodiscard]] constexpr RoofGap roof_gap(FlopsPerSecond achieved,
                                         FlopsPerByte intensity,
                                         FlopsPerSecond peak,
                                         BytesPerSecond bandwidth) noexcept {
  const FlopsPerSecond slope = intensity * bandwidth;
  const FlopsPerSecond roof = std::min(peak, slope);
  return {slope < peak, roof, roof / achieved,
          slope < peak ? "coalesced access, fusion of passes, fewer bits an element"
                       : "tensor path and aligned shapes, larger tiles or batch, occupancy"};
}

/// One level of the memory hierarchy, shared by all SMs.
struct MemoryLevel {
  Bytes capacity{};
  BytesPerSecond rate{};
};
/// The level from which a working set is reused: the first that holds it, else the last (Ilic et al. 2014, the
/// cache-aware roofline). Precondition: `levels` is not empty and ascends in capacity.
[[nodiscard]] constexpr const MemoryLevel& level_of(Bytes working_set, std::span<const MemoryLevel> levels) noexcept {
  for (const MemoryLevel& level : levels) {
    if (working_set <= level.capacity) {
      return level;
    }
  }
  return levels.back();
}
/// What a level keeps of a working set that is larger than it and is read in the same order again and again.
enum class Kept : std::uint8_t {
  none,  ///< least recently used goes first: each line leaves before its turn comes again (Denning 1968, thrashing)
  part,  ///< as much as it holds stays, the rest passes by: as lines replaced at random, or pinned, nearly do
};
/// Time to read again a working set that has been read. With `none`, all of it at the rate of the level that holds it.
/// With `part`, every level passes on what the smaller ones do not keep, all at once: max over levels i of
/// max(0, set - capacity(i-1)) / rate(i). Precondition: `levels` is not empty, ascends in capacity, descends in rate.
[[nodiscard]] constexpr Seconds pass_time(Bytes working_set, std::span<const MemoryLevel> levels, Kept kept) noexcept {
  if (kept == Kept::none) {
    return working_set / level_of(working_set, levels).rate;
  }
  Seconds time{};
  Bytes nearer{};
  for (const MemoryLevel& level : levels) {
    time = std::max(time, std::max(Bytes{}, working_set - nearer) / level.rate);
    nearer = level.capacity;
  }
  return time;
}
/// Time to read a working set `passes` times: first from the last level, then from the level that holds it.
[[nodiscard]] constexpr Seconds hierarchical_time(Flops work,
                                                  Bytes working_set,
                                                  double passes,
                                                  FlopsPerSecond peak,
                                                  std::span<const MemoryLevel> levels,
                                                  Kept kept = Kept::none) noexcept {
  const Seconds first = working_set / levels.back().rate;
  const Seconds again = (passes - 1.0) * pass_time(working_set, levels, kept);
  return std::max(work / peak, first + again);
}

/// Intensity of a tm x tn tile whose operands come from the next level: 2 tm tn / ((tm + tn) b) FLOP per byte.
[[nodiscard]] constexpr FlopsPerByte tile_intensity(double tm, double tn, double bytes_per_element) noexcept {
  return Flops{2.0 * tm * tn} / Bytes{(tm + tn) * bytes_per_element};
}
/// Shared memory for the operands of a tile, tk elements deep, with `stages` of them in flight.
[[nodiscard]] constexpr Bytes tile_shared(
    double tm, double tn, double tk, double bytes_per_element, double stages) noexcept {
  return Bytes{stages * (tm + tn) * tk * bytes_per_element};
}

}  // namespace headroom
