// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/stored_format.hpp>
#include <headroom/model/laboratory/summation.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

struct HalfSums {
  double of_floor = 1.0, of_next = 1.0;  ///< sums of m and of m + 1 ones
};

/// The sizes of one level of halving differ by at most one, so that two sums a level are all there are.
HalfSums half_sums(const NumberFormat& format, double m) noexcept {
  const auto sum = [&](double a, double b) { return nearest_value(format, a + b); };
  if (m <= 1.0) {
    return {nearest_value(format, 1.0), sum(1.0, 1.0)};
  }
  const double half = std::floor(0.5 * m);
  const HalfSums below = half_sums(format, half);
  const bool odd = m > 2.0 * half;
  return odd ? HalfSums{sum(below.of_floor, below.of_next), sum(below.of_next, below.of_next)}
             : HalfSums{sum(below.of_floor, below.of_floor), sum(below.of_floor, below.of_next)};
}

}  // namespace

double unit_roundoff(const NumberFormat& format) noexcept {
  return 0.5 * format.epsilon();
}

double stalled_sum(const NumberFormat& format) noexcept {
  return std::min(2.0 / format.epsilon(), format.largest());
}

double running_sum_of_ones(const NumberFormat& format, double n) noexcept {
  return std::min(n, stalled_sum(format));
}

double pairwise_sum_of_ones(const NumberFormat& format, double n) noexcept {
  return half_sums(format, n).of_floor;
}

double running_roundings(double n) noexcept {
  return n - 1.0;
}

double pairwise_roundings(double n) noexcept {
  return std::ceil(std::log2(n));
}

double split_roundings(double n, double parts) noexcept {
  return std::ceil(n / parts) - 1.0 + (parts - 1.0);
}

std::optional<double> error_bound(double roundings, double unit) noexcept {
  const double first = roundings * unit;
  return first < 1.0 ? std::optional{first / (1.0 - first)} : std::nullopt;
}

std::optional<double> compensated_bound(double n, double unit) noexcept {
  return n * unit < 1.0 ? std::optional{2.0 * unit + n * unit * unit} : std::nullopt;
}

double likely_error(double roundings, double unit) noexcept {
  return std::sqrt(roundings) * unit;
}

}  // namespace headroom
