// SPDX-License-Identifier: Apache-2.0
// How far a fit's predictions are from its rows.
#pragma once

#include <cstddef>
#include <span>

namespace headroom {

/// Errors of predicted / measured - 1, each a share.
struct FitErrors {
  std::size_t rows = 0;
  double mean = 0.0, median = 0.0;
};

/// Of the logarithms of predicted / measured; zeros of none.
[[nodiscard]] FitErrors fit_errors(std::span<const double> logs);

}  // namespace headroom
