// SPDX-License-Identifier: Apache-2.0
// The calendar time of a job as its step grows: what a search asks of every strategy.
#pragma once

#include <headroom/scenarios/goodput/goodput.hpp>

namespace headroom::goodput {

/// A job's run but for its step. No heap, no exceptions. Times do not fall as the step grows, but for rounding, so that
/// a bound of the step bounds them.
struct RunClock {
  Pace pace;
  double steps = 0.0;           ///< of the run
  double interval_steps = 0.0;  ///< between saves; 0: the pace's interval
  double evaluations = 0.0;     ///< pauses of the run
  Seconds evaluation{};         ///< of one

  /// Training and evaluation when nothing ever fails and nothing is saved.
  [[nodiscard]] Seconds work(Seconds step) const noexcept { return steps * step + evaluations * evaluation; }
  /// Of work: so many steps with their share of the pauses.
  [[nodiscard]] Seconds interval(Seconds step) const noexcept {
    return interval_steps > 0.0 ? interval_steps / steps * work(step) : pace.interval;
  }
  /// Mean time to completion.
  [[nodiscard]] Seconds calendar(Seconds step) const noexcept {
    Pace at = pace;
    at.interval = interval(step);
    return at.completion(work(step));
  }
  /// A step with its share of the pauses.
  [[nodiscard]] Seconds worked(Seconds step) const noexcept { return work(step) / steps; }
  /// Calendar time that a step takes.
  [[nodiscard]] Seconds held(Seconds step) const noexcept { return calendar(step) / steps; }
};

}  // namespace headroom::goodput
