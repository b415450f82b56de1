// SPDX-License-Identifier: Apache-2.0
// Errors of a sum by the order of its additions and the format of its accumulator (Higham 2002, chapter 4).
//
// The unit roundoff u is half of epsilon: 2^-(mantissa bits + 1), the largest relative error of one rounding to
// nearest.
#pragma once

#include <headroom/model/estimate/number_format.hpp>

#include <optional>

namespace headroom {

[[nodiscard]] double unit_roundoff(const NumberFormat& format) noexcept;

/// Where a running sum of ones stays for good: 2^(mantissa bits + 1), from which the next one is half a spacing away
/// and ties to even; the largest value of a format that saturates before.
[[nodiscard]] double stalled_sum(const NumberFormat& format) noexcept;
/// Sum of `n` ones one after another: the smaller of n and stalled_sum().
[[nodiscard]] double running_sum_of_ones(const NumberFormat& format, double n) noexcept;
/// Sum of `n` (>= 1, at most 2^52) ones by halves, each sum rounded to nearest; infinity where it overflows.
[[nodiscard]] double pairwise_sum_of_ones(const NumberFormat& format, double n) noexcept;

/// Roundings that one term meets at most, k, of which the error is |E| <= k u sum |x| to first order in u.
/// One after another: n - 1 (Higham 2002, equation 4.4).
[[nodiscard]] double running_roundings(double n) noexcept;
/// By halves: ceil(log2 n) (Higham 2002, equation 4.6).
[[nodiscard]] double pairwise_roundings(double n) noexcept;
/// In `parts` runs one after another, then those one after another: ceil(n / parts) - 1 + parts - 1 (Higham 2002,
/// section 4.3): a product whose depth is split over blocks, or vectors of accumulators.
[[nodiscard]] double split_roundings(double n, double parts) noexcept;

/// k u / (1 - k u), the bound without neglect of higher powers of u (Higham 2002, lemma 3.1); nullopt where k u >= 1,
/// of which no bound is known.
[[nodiscard]] std::optional<double> error_bound(double roundings, double unit) noexcept;
/// Compensated: 2 u + n u^2 (Kahan 1965; Higham 2002, equation 4.8, to second order); nullopt where n u >= 1.
[[nodiscard]] std::optional<double> compensated_bound(double n, double unit) noexcept;
/// sqrt(k) u: what independent roundings of mean zero add up to (Higham and Mary 2019), beside the bound.
[[nodiscard]] double likely_error(double roundings, double unit) noexcept;

}  // namespace headroom
