// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

namespace headroom {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Number of tied pairs in a sorted sequence of n: the sum of t(t-1)/2 over its runs of t equal neighbours.
template <class Equal>
double tied_pairs(std::size_t n, Equal equal) {
  double pairs = 0.0;
  double run = 1.0;
  for (std::size_t i = 1; i < n; ++i) {
    run = equal(i - 1, i) ? run + 1.0 : 1.0;
    pairs += run - 1.0;
  }
  return pairs;
}

/// Merge-sorts values[from, to) and counts the exchanges that a bubble sort would make (Knight 1966).
double sort_counting(std::vector<double>& values, std::vector<double>& scratch, std::size_t from, std::size_t to) {
  if (to - from < 2) {
    return 0.0;
  }
  const std::size_t middle = from + (to - from) / 2;
  double exchanges = sort_counting(values, scratch, from, middle) + sort_counting(values, scratch, middle, to);
  std::size_t left = from;
  std::size_t right = middle;
  for (std::size_t i = from; i < to; ++i) {
    if (right >= to || (left < middle && values[left] <= values[right])) {
      scratch[i] = values[left++];
    } else {
      exchanges += static_cast<double>(middle - left);
      scratch[i] = values[right++];
    }
  }
  std::copy(scratch.begin() + static_cast<std::ptrdiff_t>(from), scratch.begin() + static_cast<std::ptrdiff_t>(to),
            values.begin() + static_cast<std::ptrdiff_t>(from));
  return exchanges;
}

}  // namespace

double quantile(std::span<const double> values, double q) {
  if (values.empty()) {
    return nan;
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::span<const double> values) {
  return quantile(values, 0.5);
}

double mean(std::span<const double> values) {
  return values.empty() ? nan : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double weighted_quantile(std::span<const double> values, std::span<const double> weights, double q) {
  if (values.empty()) {
    return nan;
  }
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double wanted = q * std::accumulate(weights.begin(), weights.end(), 0.0);
  double reached = 0.0;
  for (const std::size_t i : order) {
    reached += weights[i];
    if (reached >= wanted) {
      return values[i];
    }
  }
  return values[order.back()];
}

double weighted_median(std::span<const double> values, std::span<const double> weights) {
  return weighted_quantile(values, weights, 0.5);
}

double mean_absolute(std::span<const double> errors) {
  if (errors.empty()) {
    return nan;
  }
  double sum = 0.0;
  for (const double error : errors) {
    sum += std::abs(error);
  }
  return sum / static_cast<double>(errors.size());
}

double kendall_tau(std::span<const double> a, std::span<const double> b) {
  const std::size_t n = std::min(a.size(), b.size());
  if (n < 2) {
    return nan;
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return a[i] < a[j] || (a[i] == a[j] && b[i] < b[j]); });
  const double all = 0.5 * static_cast<double>(n) * static_cast<double>(n - 1);
  const double tied_a = tied_pairs(n, [&](std::size_t i, std::size_t j) { return a[order[i]] == a[order[j]]; });
  const double tied_both = tied_pairs(
      n, [&](std::size_t i, std::size_t j) { return a[order[i]] == a[order[j]] && b[order[i]] == b[order[j]]; });
  std::vector<double> sorted(n);
  std::transform(order.begin(), order.end(), sorted.begin(), [&](std::size_t i) { return b[i]; });
  std::vector<double> scratch(n);
  const double discordant = sort_counting(sorted, scratch, 0, n);
  const double tied_b = tied_pairs(n, [&](std::size_t i, std::size_t j) { return sorted[i] == sorted[j]; });
  const double scale = std::sqrt((all - tied_a) * (all - tied_b));
  return scale > 0.0 ? (all - tied_a - tied_b + tied_both - 2.0 * discordant) / scale : nan;
}

double normal_quantile(double p) noexcept {
  if (p <= 0.0 || p >= 1.0) {
    return p <= 0.0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  double low = -10.0;
  double high = 10.0;
  for (int i = 0; i < 80; ++i) {
    const double middle = 0.5 * (low + high);
    (normal_share(middle) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double normal_share(double z) noexcept {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

}  // namespace headroom
