// SPDX-License-Identifier: Apache-2.0
// Arrival times of requests: gaps from a distribution, at a rate that may vary over the day.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/rate_curve.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

/// Gaps between requests: exponential (Poisson arrivals), gamma with a coefficient of variation (shape 1 / cv^2),
/// Weibull with a shape, or constant. Gaps are not truncated, which would raise the rate (at three means and cv 0.88 by
/// 5 %).
enum class GapShape : std::uint8_t { poisson, gamma, weibull, constant };

struct ArrivalProcess {
  GapShape gaps = GapShape::poisson;
  Hertz rate{1.0};     ///< mean rate over whole periods of the curve; infinite: all arrive at time 0
  double cv = 1.0;     ///< gamma gaps: standard deviation over mean
  double shape = 1.0;  ///< Weibull gaps: 1 is Poisson, smaller is burstier
  RateCurve curve{};
};

/// Every problem of a process, with its value and the way out; empty if it is valid.
[[nodiscard]] std::vector<std::string> problems(const ArrivalProcess& process);

/// Successive arrivals of a process; the first is one gap after time 0.
class Arrivals {
 public:
  /// Precondition: problems() is empty.
  Arrivals(const ArrivalProcess& process, std::uint64_t seed);
  [[nodiscard]] Picoseconds next() noexcept;

 private:
  [[nodiscard]] double gap() noexcept;  ///< a gap of mean 1
  ArrivalProcess process_;
  RandomStream random_;
  double weibull_scale_ = 1.0;
  double mass_ = 0.0;  ///< sum of gaps over the rate: seconds at a constant rate
};

}  // namespace headroom
