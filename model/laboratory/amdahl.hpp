// SPDX-License-Identifier: Apache-2.0
// What a whole gains when parts of it run faster (Amdahl 1967), and what it gains where the parts grow (Gustafson
// 1988).
#pragma once

#include <cstddef>
#include <span>

namespace headroom {

/// A part of a run.
struct SpedPart {
  double share = 0.0;    ///< of the whole's time before, 0 to 1
  double speedup = 1.0;  ///< of the part, > 0; below 1 it is slower
};

/// Time of the whole over before: 1 - sum f + sum f / s (Amdahl 1967). Shares add up to at most 1; what they leave runs
/// as before.
[[nodiscard]] double time_after(std::span<const SpedPart> parts) noexcept;
/// Speed-up of the whole, 1 / time_after().
[[nodiscard]] double whole_speedup(std::span<const SpedPart> parts) noexcept;
/// The same with `part` taking no time at all: what further work on it can bring at most. Infinity where nothing else
/// is left.
[[nodiscard]] double speedup_limit(std::span<const SpedPart> parts, std::size_t part) noexcept;
/// The same with none of the parts taking time: 1 / (1 - sum f).
[[nodiscard]] double speedup_limit(std::span<const SpedPart> parts) noexcept;
/// Share of the time that a part has afterwards. It is also what one per cent more speed of that part takes off the
/// whole's time: the derivative of log time by log s.
[[nodiscard]] double share_after(std::span<const SpedPart> parts, std::size_t part) noexcept;

/// Speed-up where the work of each part grows as its speed does, so that its time stays (Gustafson 1988): 1 - sum f +
/// sum f s, work done over before in the same time. Shares are those of the time with the faster parts.
[[nodiscard]] double scaled_speedup(std::span<const SpedPart> parts) noexcept;

}  // namespace headroom
