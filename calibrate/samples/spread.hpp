// SPDX-License-Identifier: Apache-2.0
// What repeated timings of one thing say: their median, how surely, and which of them are no ordinary ones.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headroom {

/// The interval is the two order statistics that hold the median with 95 % or more, whatever the distribution
/// (Conover 1999, section 3.2; David and Nagaraja 2003, section 7.1).
struct Spread {
  std::size_t n = 0;
  double median = 0.0;
  double low = 0.0, high = 0.0;  ///< equal to the extremes while told is false
  bool told = false;             ///< six values or more: fewer cannot hold the median with 95 %
  std::size_t outliers = 0;

  /// Half the interval over the median; infinite while it is not told.
  [[nodiscard]] double half_width() const noexcept;
};

/// Values need not be sorted. Zeros throughout for an empty sample.
[[nodiscard]] Spread spread_of(std::span<const double> values);

/// Farther from the median than five standard deviations, estimated from the median absolute deviation (Iglewicz and
/// Hoaglin 1993, with a wider gate), and more than a fiftieth of it: timers that repeat to the tick make no outliers
/// of the next tick. None of fewer than five.
[[nodiscard]] std::vector<bool> outliers_of(std::span<const double> values);

}  // namespace headroom
