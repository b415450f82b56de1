// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/results/load_run.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

std::optional<Seconds> ToldLatency::at(double share) const {
  constexpr double same = 1e-9;
  const auto told = std::find_if(quantiles.begin(), quantiles.end(),
                                 [&](const auto& known) { return std::abs(known.first - share) < same; });
  if (told != quantiles.end()) {
    return told->second;
  }
  return each.empty() ? std::nullopt : std::optional{Seconds{quantile(each, share)}};
}

std::optional<Seconds> ToldLatency::middle() const {
  if (mean) {
    return mean;
  }
  return each.empty() ? at(0.5) : std::optional{Seconds{headroom::mean(each)}};
}

}  // namespace headroom
