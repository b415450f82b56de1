// SPDX-License-Identifier: Apache-2.0
// Fits the rough stack's sustained shares from measured training rows: one number per device generation and recipe.
#pragma once

#include <headroom/scenarios/validation/validation.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

/// One fitted share and what it rests on.
struct FittedShare {
  std::string key;  ///< "hopper/16-bit"
  double share = 0.0;
  std::size_t rows = 0;
  std::vector<std::string> sources;
  double mape = 0.0;           ///< of the rows it was fitted on
  double left_out_mape = 0.0;  ///< mean over sources of the error when that source is left out; NaN with one source
};

struct RoughFit {
  std::vector<FittedShare> shares;
  /// Per recipe, the median share over the generations: what a generation nobody measured gets.
  std::vector<FittedShare> any;
  /// Quantiles of |log(predicted/measured)| of left-out sources under the rows' weights, as relative widths: exp(q)
  /// - 1.
  double width50 = 0.0, width80 = 0.0, width90 = 0.0;
  std::size_t left_out_rows = 0;
};

/// For each generation and recipe, the share at which the weighted median error of step time and throughput is zero;
/// rows weigh 1/sqrt(n) of their source, so that no source outvotes the others. 16-bit recipes come first: attention
/// and the head of narrower recipes run at their rate. A pair with fewer than ten rows is left to `any`. Deterministic.
[[nodiscard]] RoughFit fit_rough(std::span<const RunFile> files, const Sources& sources);

}  // namespace headroom
