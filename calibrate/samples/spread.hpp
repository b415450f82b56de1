// SPDX-License-Identifier: Apache-2.0
// Statistics of repeated timings: their median with its interval, and outliers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headroom {

/// The interval lies between the two order statistics that contain the median with at least 95 %, for any distribution
/// (Conover 1999, section 3.2; David and Nagaraja 2003, section 7.1).
struct Spread {
  std::size_t n = 0;
  double median = 0.0;
  double low = 0.0, high = 0.0;  ///< ends of the interval; the extremes while `told` is false
  bool told = false;             ///< whether there are at least six values, the fewest that can give 95 %
  std::size_t outliers = 0;

  /// Half the interval over the median; infinite while `told` is false.
  [[nodiscard]] double half_width() const noexcept;
};

/// Statistics of values in any order; all zero for an empty sample.
[[nodiscard]] Spread spread_of(std::span<const double> values);

/// Marks values farther from the median than five standard deviations, estimated from the median absolute deviation
/// (Iglewicz and Hoaglin 1993, with a wider gate), and than 2 % of the median, so that a coarse timer's next tick is no
/// outlier. Fewer than five values have no outliers.
[[nodiscard]] std::vector<bool> outliers_of(std::span<const double> values);

}  // namespace headroom
