// SPDX-License-Identifier: Apache-2.0
// Summary statistics of predictions against measurements.
#pragma once

#include <span>

namespace headroom {

/// The q-quantile (0 <= q <= 1) by linear interpolation between order statistics (Hyndman and Fan 1996, type 7).
/// NaN for an empty sample.
[[nodiscard]] double quantile(std::span<const double> values, double q);
[[nodiscard]] double median(std::span<const double> values);
[[nodiscard]] double mean(std::span<const double> values);

/// The quantile under weights: the smallest value at which the share q of the weight is reached. NaN for an empty
/// sample.
[[nodiscard]] double weighted_quantile(std::span<const double> values, std::span<const double> weights, double q);
[[nodiscard]] double weighted_median(std::span<const double> values, std::span<const double> weights);

/// Mean of |error|, where error = predicted/measured - 1. NaN for an empty sample.
[[nodiscard]] double mean_absolute(std::span<const double> errors);

/// Kendall's tau-b of two samples of equal length (Kendall 1945), ties corrected, in O(n log n) (Knight 1966).
/// NaN for fewer than two pairs or when a sample is constant.
[[nodiscard]] double kendall_tau(std::span<const double> a, std::span<const double> b);

/// What a standard normal number lies below with chance p, by bisection to the last bits; infinite at 0 and 1.
[[nodiscard]] double normal_quantile(double p) noexcept;

}  // namespace headroom
