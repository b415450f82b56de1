// SPDX-License-Identifier: Apache-2.0
// A rate that varies over time: a day's traffic, bursts, or any curve given by points.
#pragma once

#include <headroom/core/quantity.hpp>

#include <span>
#include <vector>

namespace headroom {

/// A periodic rate relative to its mean, linear between points. It is applied by time change: if arrivals at rate 1 are
/// at u1, u2, ..., those at rate r(t) are at R^-1(u1), ... with R the integral of r (Cinlar 1975, section 4.7). So the
/// mean rate is exact, and gaps of any distribution keep their shape.
class RateCurve {
 public:
  struct Point {
    Seconds at{};  ///< time in [0, period]; two points at one time are a jump
    /// Rate in any unit; only ratios matter.
    double rate = 1.0;
  };

  RateCurve();
  /// From points in order of time; before the first and after the last point the rate is constant. Precondition:
  /// problem() returns nullptr.
  RateCurve(Seconds period, std::span<const Point> points);
  /// The problem of a set of points, or nullptr: no points, no period, wrong order, a point beyond the period, a
  /// negative or infinite rate, all rates zero.
  [[nodiscard]] static const char* problem(Seconds period, std::span<const Point> points);

  /// 1 + amplitude sin(2 pi t / period), in 720 linear pieces (2 minutes of a day each). 0 <= amplitude <= 1.
  [[nodiscard]] static RateCurve sinusoid(Seconds period, double amplitude);
  /// A burst of `factor` times the base rate in the first `length` of each period. factor >= 0, 0 < length <= period.
  [[nodiscard]] static RateCurve bursts(Seconds period, Seconds length, double factor);

  /// Time at which the integral of the curve, whose mean is 1, reaches `mass`.
  [[nodiscard]] Seconds when(Seconds mass) const noexcept;
  /// Largest rate over the mean.
  [[nodiscard]] double peak() const noexcept;

 private:
  /// A linear piece from time `at` on: rate + slope (t - at); `mass` is the integral up to `at`.
  struct Piece {
    double at, rate, slope, mass;
  };
  double period_ = 0.0;  ///< length of the period, s; 0: constant
  std::vector<Piece> pieces_;
};

}  // namespace headroom
