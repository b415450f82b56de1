// SPDX-License-Identifier: Apache-2.0
// How far a fit's rows lay from what the model says, as the widths of a publication that was no part of the fit: a
// level that all its rows share, and the rows around it.
#pragma once

#include <headroom/calibrate/stacks/fit_serving.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Classes from r = ln(measured / predicted) of the rows, each with its publication left out of the fit where that was
/// done, else as fitted; of queues what is left of r beyond the reach of the engine's speed (beside_reach). Rows of
/// publication p are r = centre + level_p + shape (Laird and Ware 1982):
/// @code
/// centre  = (k c + 3 u) / (k + 3)              c: mean of the k publications' medians; u: of all stacks
/// level^2 = ((k - 1) s^2 + 3 t^2) / (k + 2)    s: of the k publications' medians around their centre; t: of all stacks
/// low, high = exp(centre -+ sqrt(q^2 + (1 + 1 / k) (t level)^2))    q: the 10th and 90th percentile of shape;
///                                                                     t: Student's, k + 2 degrees of freedom
/// @endcode
/// Publications weigh as the root of their rows. A class of a stack needs 40 rows, of queues three publications too;
/// those of "any" hold all stacks. Of each SKU and format of weights a factor stretches the logarithms of low and high:
/// n / (n + 6) of the logarithm of the 80th percentile of |r - middle| over the half width, relative to that of all, n
/// its runs of a network by a publication. `without`: a publication whose rows are left out; empty: none.
[[nodiscard]] ServingConfidence confidence_of_serving_fit(const ServingFit& fit, std::string_view without = {});

/// The same, with the logarithms of low and high of each quantity stretched by one factor, so that 80 % of the rows
/// whose publication was left out of numbers and widths lie inside; between 0.4 and 2, and 1 with fewer than three
/// publications.
[[nodiscard]] ServingConfidence promised_confidence(const ServingFit& fit);

/// Rows of publications that lie in the intervals of a fit, of widths and of that factor, each without them.
struct LeftOutCoverage {
  ServingQuantity quantity = ServingQuantity::tpot;
  std::int64_t rows = 0, sources = 0;
  double inside = 0.0;  ///< share of the rows, 0 to 1
  struct Publication {
    std::string source;
    std::int64_t rows = 0;
    double inside = 0.0;
  };
  std::vector<Publication> publications;  ///< by name
};
/// By quantity, of those with rows that were left out.
[[nodiscard]] std::vector<LeftOutCoverage> left_out_coverage(const ServingFit& fit);

}  // namespace headroom
