// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/samples/spread.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

constexpr double confidence = 0.95;
constexpr std::size_t fewest = 6;

/// Order statistics to leave out at either end: the largest r with P(Binomial(n, 1/2) < r) <= 2.5 %.
std::size_t left_out(std::size_t n) {
  constexpr double tail = 0.5 * (1.0 - confidence);
  double below = 0.0;
  const double halves = static_cast<double>(n) * std::log(0.5);
  for (std::size_t r = 0; r < n / 2; ++r) {
    const auto k = static_cast<double>(r);
    const double ways = std::lgamma(static_cast<double>(n) + 1.0) - std::lgamma(k + 1.0) -
                        std::lgamma(static_cast<double>(n) - k + 1.0);
    below += std::exp(ways + halves);
    if (below > tail) {
      return r;
    }
  }
  return n / 2;
}

}  // namespace

double Spread::half_width() const noexcept {
  return told && median > 0.0 ? 0.5 * (high - low) / median : std::numeric_limits<double>::infinity();
}

std::vector<bool> outliers_of(std::span<const double> values) {
  constexpr std::size_t least = 5;
  std::vector<bool> result(values.size(), false);
  if (values.size() < least) {
    return result;
  }
  const double centre = headroom::median(values);
  std::vector<double> away;
  away.reserve(values.size());
  for (const double value : values) {
    away.push_back(std::abs(value - centre));
  }
  constexpr double deviations = 5.0;
  constexpr double of_normal = 1.4826;  // standard deviation over median absolute deviation of a normal distribution
  const double gate = std::max(deviations * of_normal * headroom::median(away), 0.02 * std::abs(centre));
  for (std::size_t i = 0; i < values.size(); ++i) {
    result[i] = away[i] > gate;
  }
  return result;
}

Spread spread_of(std::span<const double> values) {
  Spread spread;
  spread.n = values.size();
  if (values.empty()) {
    return spread;
  }
  std::vector<double> sorted{values.begin(), values.end()};
  std::sort(sorted.begin(), sorted.end());
  spread.median = headroom::median(values);
  spread.told = sorted.size() >= fewest;
  const std::size_t r = spread.told ? left_out(sorted.size()) - 1 : 0;
  spread.low = sorted[r];
  spread.high = sorted[sorted.size() - 1 - r];
  const std::vector<bool> odd = outliers_of(values);
  spread.outliers = static_cast<std::size_t>(std::count(odd.begin(), odd.end(), true));
  return spread;
}

}  // namespace headroom
