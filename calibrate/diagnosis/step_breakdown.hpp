// SPDX-License-Identifier: Apache-2.0
// A step as somebody wrote its parts down: a CSV of terms or phases and their times.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>

#include <deque>
#include <string>
#include <string_view>

namespace headroom {

/// A breakdown as a reading of the run; the names of its parts live here.
struct StepBreakdown {
  RunReading reading;
  std::deque<std::string> names;
  double left = 0.0;  ///< of the step that a row "step" or "total" states, what no part tells, as a share; may be < 0
};

/// Whether a text is one: its first line names a part (term, phase, part, name) and a time (seconds, s, time_s, ms,
/// time_ms, us, time_us).
[[nodiscard]] bool is_step_breakdown(std::string_view text) noexcept;

/// Parts in the file's order. A row step, total or all states the whole step; without one the parts sum to it. What
/// the whole has beyond its parts becomes a part "untold", and a note where it is 1 % or more. ConfigError with every
/// problem and its place: a time that is no number or below zero, a part named twice, parts that exceed the whole by
/// 1 % or more, no part.
[[nodiscard]] StepBreakdown read_step_breakdown(std::string_view text, const std::string& file);

}  // namespace headroom
