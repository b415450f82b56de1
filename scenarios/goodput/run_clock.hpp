// SPDX-License-Identifier: Apache-2.0
// Calendar time of a job as a function of its step time, which a search evaluates for every strategy.
#pragma once

#include <headroom/scenarios/goodput/goodput.hpp>

namespace headroom::goodput {

/// Everything about a job's run but its step time. No heap, no exceptions. Times never fall as the step grows (up to
/// rounding), so a bound of the step time bounds them.
struct RunClock {
  Pace pace;
  double steps = 0.0;           ///< steps of the run, > 0
  double interval_steps = 0.0;  ///< steps between saves; 0: use the interval of `pace`
  double evaluations = 0.0;     ///< number of evaluation pauses in the run
  Seconds evaluation{};         ///< time of one pause

  /// Time of training and evaluation without failures and saves.
  [[nodiscard]] Seconds work(Seconds step) const noexcept { return steps * step + evaluations * evaluation; }
  /// Time between saves: interval_steps steps with their share of the pauses, or the interval of `pace`.
  [[nodiscard]] Seconds interval(Seconds step) const noexcept {
    return interval_steps > 0.0 ? interval_steps / steps * work(step) : pace.interval;
  }
  /// Mean time to completion, with failures and saves.
  [[nodiscard]] Seconds calendar(Seconds step) const noexcept {
    Pace at = pace;
    at.interval = interval(step);
    return at.completion(work(step));
  }
  /// Mean time of a step and its share of the pauses, without failures.
  [[nodiscard]] Seconds worked(Seconds step) const noexcept { return work(step) / steps; }
  /// Mean calendar time per step, with failures and saves.
  [[nodiscard]] Seconds held(Seconds step) const noexcept { return calendar(step) / steps; }
};

}  // namespace headroom::goodput
