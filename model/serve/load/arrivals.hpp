// SPDX-License-Identifier: Apache-2.0
// When requests come: gaps of a distribution, at a rate that may change over the day.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/rate_curve.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

/// Gaps between requests: exponential, so that arrivals are a Poisson process; gamma with a coefficient of variation
/// (its shape is 1 / cv^2); Weibull with a shape; all equal. None is cut off: a rival clips at three means and so sends
/// 5 % more than asked with a cv of 0.88.
enum class GapShape : std::uint8_t { poisson, gamma, weibull, constant };

/// An open stream of requests.
struct ArrivalProcess {
  GapShape gaps = GapShape::poisson;
  Hertz rate{1.0};     ///< mean, of the curve's whole periods; infinite: all at once, at time 0
  double cv = 1.0;     ///< of gamma gaps: standard deviation over mean
  double shape = 1.0;  ///< of Weibull gaps: 1 is Poisson, less is burstier
  RateCurve curve{};
};

/// What is wrong, each with its value and the way out; empty when the process can be drawn from.
[[nodiscard]] std::vector<std::string> problems(const ArrivalProcess& process);

/// Arrivals of a process, one after the other; the first is one gap after time 0.
class Arrivals {
 public:
  /// Precondition: no problems().
  Arrivals(const ArrivalProcess& process, std::uint64_t seed);
  [[nodiscard]] Picoseconds next() noexcept;

 private:
  [[nodiscard]] double gap() noexcept;  ///< of mean 1
  ArrivalProcess process_;
  RandomStream random_;
  double weibull_scale_ = 1.0;
  double mass_ = 0.0;  ///< gaps so far over the rate: seconds of a constant rate
};

}  // namespace headroom
