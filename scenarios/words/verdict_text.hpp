// SPDX-License-Identifier: Apache-2.0
// Words that all answers share: verdicts, broken rules, the largest parts of the time, intervals of relative width.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/train/strategy/strategy.hpp>

#include <optional>
#include <string>

namespace headroom {

/// A rule that the strategy breaks, for print.
struct Problem {
  Verdict verdict = Verdict::feasible;
  std::string text;     ///< the rule, with the numbers that broke it
  std::string way_out;  ///< nearest values that obey the rule
};

/// One sentence for a verdict and its two numbers: "heads 64 do not divide by tp 6". `schedule`: a training strategy's,
/// which rules of schedules name.
[[nodiscard]] std::string verdict_text(Verdict verdict,
                                       double broke,
                                       double limit,
                                       std::optional<Schedule> schedule = std::nullopt);

/// A broken rule in words: "64 heads do not divide by tp 6", "use tp 4 or 8".
[[nodiscard]] Problem problem_of(const Legality& rule, std::optional<Schedule> schedule = std::nullopt);

/// "gemm 71 %, attention 12 %, bubble 9 %": the three largest terms of a step and their shares.
[[nodiscard]] std::string what_binds(const Breakdown& time);

/// Interval mid / (1 + width) to mid x (1 + width), symmetric in the logarithm. `width` >= 0.
template <class Q>
[[nodiscard]] Interval<Q> widened(Q mid, double width) noexcept {
  return {mid / (1.0 + width), mid, mid * (1.0 + width)};
}

}  // namespace headroom
