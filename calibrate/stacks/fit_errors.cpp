// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/fit_errors.hpp>
#include <headroom/core/statistics.hpp>

#include <cmath>
#include <vector>

namespace headroom {

FitErrors fit_errors(std::span<const double> logs) {
  FitErrors errors;
  errors.rows = logs.size();
  std::vector<double> sizes;
  for (const double log : logs) {
    sizes.push_back(std::abs(std::expm1(log)));
    errors.mean += sizes.back() / static_cast<double>(logs.size());
  }
  errors.median = sizes.empty() ? 0.0 : quantile(sizes, 0.5);
  return errors;
}

}  // namespace headroom
