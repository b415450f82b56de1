// SPDX-License-Identifier: Apache-2.0
// Summary statistics of samples, mostly of predictions against measurements.
#pragma once

#include <span>

namespace headroom {

/// The q-quantile (0 <= q <= 1) by linear interpolation between order statistics (Hyndman and Fan 1996, type 7). NaN
/// for an empty sample.
[[nodiscard]] double quantile(std::span<const double> values, double q);
[[nodiscard]] double median(std::span<const double> values);
[[nodiscard]] double mean(std::span<const double> values);

/// The weighted q-quantile: the smallest value at which the accumulated weight reaches the share q of the total.
/// `weights` has the length of `values`. NaN for an empty sample.
[[nodiscard]] double weighted_quantile(std::span<const double> values, std::span<const double> weights, double q);
[[nodiscard]] double weighted_median(std::span<const double> values, std::span<const double> weights);

/// Mean of |error|, where error = predicted/measured - 1 (dimensionless). NaN for an empty sample.
[[nodiscard]] double mean_absolute(std::span<const double> errors);

/// Kendall's tau-b of two samples, corrected for ties (Kendall 1945), in O(n log n) (Knight 1966). Of samples of
/// different lengths the common start counts. NaN for fewer than two pairs or if a sample is constant.
[[nodiscard]] double kendall_tau(std::span<const double> a, std::span<const double> b);

/// The value that a standard normal number lies below with probability p, by bisection within [-10, 10] to the last
/// bits; infinite at p = 0 and p = 1.
[[nodiscard]] double normal_quantile(double p) noexcept;
/// The probability that a standard normal number is no more than z.
[[nodiscard]] double normal_share(double z) noexcept;

}  // namespace headroom
