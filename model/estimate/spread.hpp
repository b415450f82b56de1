// SPDX-License-Identifier: Apache-2.0
// An interval as the distribution that it stands for: its quantiles, and the chance to stay below a limit.
#pragma once

#include <headroom/model/estimate/estimate.hpp>

#include <concepts>

namespace headroom {

/// How far a quantile lies from the middle of an 80 % interval, as a share of the way to its end in standard
/// deviations: 0 at 0.5, 1 at 0.9, -1 at 0.1. `probability`: above 0, below 1.
[[nodiscard]] double reach_of(double probability) noexcept;

/// The value that a number lies below with a probability above 0 and below 1. Log-normal on each side of the middle,
/// whose ends are the 10 % and 90 % quantiles; normal where an end is not above zero or not finite.
[[nodiscard]] double quantile_of(const Interval<double>& interval, double probability) noexcept;

/// The probability that a number is no more than `limit`, by the same distributions: 0 or 1 where it has no spread.
[[nodiscard]] double chance_of_at_most(const Interval<double>& interval, double limit) noexcept;

template <class Q>
requires(!std::same_as<Q, double>) [[nodiscard]] Q
    quantile_of(const Interval<Q>& interval, double probability) noexcept {
  return Q{quantile_of(Interval<double>{interval.low.raw(), interval.mid.raw(), interval.high.raw()}, probability)};
}
template <class Q>
requires(!std::same_as<Q, double>)
    [[nodiscard]] double chance_of_at_most(const Interval<Q>& interval, Q limit) noexcept {
  return chance_of_at_most(Interval<double>{interval.low.raw(), interval.mid.raw(), interval.high.raw()}, limit.raw());
}

}  // namespace headroom
