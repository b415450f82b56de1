// SPDX-License-Identifier: Apache-2.0
// How long units of work take on n ranks that one of them hands out: bounds, and the events themselves.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

struct HandOutCosts {
  Seconds serial{};   ///< of rank 0 alone, before and after
  Seconds each{};     ///< that rank 0 needs for one unit: its message, its result, the merge
  Seconds latency{};  ///< that a rank waits between one unit and the next
};

/// A sweep's units: how long each takes. Unit i begins once the first known_jobs(i) units are done.
using UnitTimes = std::span<const Seconds>;

/// The longest chain of units that wait for each other: no number of ranks is faster.
[[nodiscard]] Seconds longest_chain(UnitTimes units);

/// With work W = sum of the units and of their latencies, chain C and U units, whoever takes the next unit that can
/// begin ends (Graham 1969, theorem 1, with what rank 0 adds)
///   not before  serial + max(W / n, C, U each)
///   not behind  serial + W / n + (1 - 1 / n) C' + U each,  C' the chain with its latencies.
struct HandOutBounds {
  Seconds least{}, most{};
};
[[nodiscard]] HandOutBounds hand_out_bounds(UnitTimes units, const HandOutCosts& costs, std::uint64_t ranks);

/// The same as events: rank 0 serves one rank at a time, the next idle one takes the first unit not begun.
[[nodiscard]] Seconds simulated_hand_out(UnitTimes units, const HandOutCosts& costs, std::uint64_t ranks);

}  // namespace headroom
