// SPDX-License-Identifier: Apache-2.0
// What answers of all kinds say in the same words: verdicts, broken rules, what the time goes to, how wide an interval
// is.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/train/strategy/strategy.hpp>

#include <optional>
#include <string>

namespace headroom {

/// A rule that the strategy breaks.
struct Problem {
  Verdict verdict = Verdict::feasible;
  std::string text;     ///< with the numbers that broke it
  std::string way_out;  ///< the nearest values that obey
};

/// One sentence for a verdict and its two numbers: "heads 64 do not divide by tp 6". `schedule`: a training strategy's,
/// which rules of schedules name.
[[nodiscard]] std::string verdict_text(Verdict verdict,
                                       double broke,
                                       double limit,
                                       std::optional<Schedule> schedule = std::nullopt);

/// A broken rule in words: "64 heads do not divide by tp 6", "use tp 4 or 8".
[[nodiscard]] Problem problem_of(const Legality& rule, std::optional<Schedule> schedule = std::nullopt);

/// "gemm 71 %, attention 12 %, bubble 9 %": the three largest terms of a step.
[[nodiscard]] std::string what_binds(const Breakdown& time);

/// mid x (1 + w) above and mid / (1 + w) below: symmetric in the logarithm.
template <class Q>
[[nodiscard]] Interval<Q> widened(Q mid, double width) noexcept {
  return {mid / (1.0 + width), mid, mid * (1.0 + width)};
}

}  // namespace headroom
