// SPDX-License-Identifier: Apache-2.0
// A rate that changes over time: a day's traffic, bursts, or any curve given point by point.
#pragma once

#include <headroom/core/quantity.hpp>

#include <span>
#include <vector>

namespace headroom {

/// A rate over one period, relative to its mean, straight between points, repeated for ever. Used by time change: if
/// arrivals at rate 1 are at u1, u2, ..., then those at rate r(t) are at R^-1(u1), ... with R the integral of r (Cinlar
/// 1975, section 4.7). So the mean rate is exact, and gaps of any distribution keep their shape.
class RateCurve {
 public:
  struct Point {
    Seconds at{};  ///< from 0 to the period; two points at one time are a jump
    double rate = 1.0;
  };

  /// Constant.
  RateCurve();
  /// From points by time; before the first and after the last the rate is theirs. Only ratios of rates matter.
  /// Preconditions: problem() is empty.
  RateCurve(Seconds period, std::span<const Point> points);
  /// What is wrong with points, or nullptr: none at all, no period, out of order, beyond the period, a rate that is
  /// negative or not finite, all of them zero.
  [[nodiscard]] static const char* problem(Seconds period, std::span<const Point> points);

  /// 1 + amplitude sin(2 pi t / period), in 720 straight pieces: 2 minutes of a day. 0 <= amplitude <= 1.
  [[nodiscard]] static RateCurve sinusoid(Seconds period, double amplitude);
  /// `factor` times the rate between bursts, during the first `length` of each period. factor >= 0, 0 < length <=
  /// period.
  [[nodiscard]] static RateCurve bursts(Seconds period, Seconds length, double factor);

  /// Time at which the integral of the curve, whose mean is 1, reaches `mass`.
  [[nodiscard]] Seconds when(Seconds mass) const noexcept;
  /// Largest rate over the mean.
  [[nodiscard]] double peak() const noexcept;

 private:
  /// From `at` on, for a while: rate + slope (t - at); the integral so far is `mass`.
  struct Piece {
    double at, rate, slope, mass;
  };
  double period_ = 0.0;  ///< 0: constant
  std::vector<Piece> pieces_;
};

}  // namespace headroom
