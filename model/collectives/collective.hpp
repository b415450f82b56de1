// SPDX-License-Identifier: Apache-2.0
// Bytes that a rank sends in a collective, and their time over one link rate. All fabric models refine these volumes.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// Dispatch and combine are the all-to-alls around a layer of experts; their buffer is a rank's routed rows.
enum class Collective : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  all_to_all,
  reduce,
  send_recv,
  dispatch,
  combine,
  count
};
inline constexpr std::size_t collective_count = static_cast<std::size_t>(Collective::count);
inline constexpr std::array<std::string_view, collective_count> collective_names{
    "all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all",
    "reduce",     "send_recv",      "dispatch",   "combine"};
[[nodiscard]] constexpr std::string_view name_of(Collective collective) {
  return collective_names[static_cast<std::size_t>(collective)];
}

/// Bytes sent per rank and byte of buffer on a ring of `ranks`: 2(n-1)/n for all-reduce; (n-1)/n for reduce-scatter,
/// all-gather and all-to-all (whose buffer is the full, gathered one), dispatch and combine (uniform routing); 1 for
/// broadcast, reduce and send_recv; 0 for one rank (Patarasuk and Yuan 2009; nccl-tests doc/PERFORMANCE.md, bus
/// bandwidth factors: busbw = algbw x factor).
[[nodiscard]] double traffic_factor(Collective collective, std::int64_t ranks) noexcept;

/// Bytes that one rank sends for a buffer of `buffer` bytes.
[[nodiscard]] Bytes bytes_per_rank(Collective collective, Bytes buffer, std::int64_t ranks) noexcept;

}  // namespace headroom
