// SPDX-License-Identifier: Apache-2.0
// Max-min fair rates of flows over shared links, by the textbook.
#pragma once

#include <headroom/hardware/fabric/max_min.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace headroom::test {

/// Load on each link from the flows that are not yet fixed.
inline std::vector<double> loads_of(std::size_t links, std::span<const Flow> flows, const std::vector<bool>& fixed) {
  std::vector<double> load(links, 0.0);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    for (const RouteStep& step : flows[i].route) {
      load[static_cast<std::size_t>(step.link)] += fixed[i] ? 0.0 : step.share;
    }
  }
  return load;
}

/// The rate of each flow by progressive filling: all rates rise together until a link is full, then its flows are fixed
/// and the others continue (Bertsekas and Gallager 1992, section 6.5.2). A flow without links has infinite rate.
inline std::vector<BytesPerSecond> max_min_rates(std::span<const FabricLink> links, std::span<const Flow> flows) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  std::vector<double> rate(flows.size(), unlimited);
  std::vector<double> left(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    left[i] = links[i].rate.raw();
  }
  std::vector<bool> fixed(flows.size(), false);
  double level = 0.0;
  for (;;) {
    const std::vector<double> load = loads_of(links.size(), flows, fixed);
    double rise = unlimited;
    for (std::size_t i = 0; i < links.size(); ++i) {
      rise = load[i] > 0.0 ? std::min(rise, left[i] / load[i]) : rise;
    }
    if (rise == unlimited) {
      break;
    }
    level += rise;
    // A link counts as full at a remainder of 1e-9 of its rate, so that rounding cannot leave a full link open.
    std::vector<bool> full(links.size(), false);
    for (std::size_t i = 0; i < links.size(); ++i) {
      left[i] -= rise * load[i];
      full[i] = load[i] > 0.0 && left[i] <= 1e-9 * links[i].rate.raw();
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {
      for (const RouteStep& step : flows[i].route) {
        if (!fixed[i] && step.share > 0.0 && full[static_cast<std::size_t>(step.link)]) {
          fixed[i] = true;
          rate[i] = level;
        }
      }
    }
  }
  std::vector<BytesPerSecond> rates;
  rates.reserve(rate.size());
  for (const double r : rate) {
    rates.emplace_back(r);
  }
  return rates;
}

}  // namespace headroom::test
