// SPDX-License-Identifier: Apache-2.0
// Fits the sustained shares of the rough training form to measured rows: one number per device generation and recipe.
#pragma once

#include <headroom/scenarios/validation/validation.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

/// A fitted share and its data.
struct FittedShare {
  std::string key;  ///< "hopper/16-bit"
  double share = 0.0;
  std::size_t rows = 0;
  std::vector<std::string> sources;
  double mape = 0.0;           ///< MAPE of the rows in the fit
  double left_out_mape = 0.0;  ///< mean over sources of the MAPE when that source is left out; NaN for one source
};

struct RoughFit {
  std::vector<FittedShare> shares;
  /// Per recipe, the median share over the generations, used for generations without measurements.
  std::vector<FittedShare> any;
  /// Relative widths exp(q) - 1 from weighted quantiles q of |log(predicted/measured)| over left-out sources.
  double width50 = 0.0, width80 = 0.0, width90 = 0.0;
  std::size_t left_out_rows = 0;
};

/// For each generation and recipe, the share at which the weighted median error of step time and throughput is zero.
/// Rows weigh 1/sqrt(n) of their source, so that no source dominates. 16-bit recipes come first, because attention and
/// head of narrower recipes run at their rate. A pair with fewer than ten rows falls back to `any`. Deterministic.
[[nodiscard]] RoughFit fit_rough(std::span<const RunFile> files, const Sources& sources);

}  // namespace headroom
