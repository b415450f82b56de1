// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/fabric/max_min.hpp>

#include <algorithm>
#include <limits>

namespace headroom {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Load on each link from the flows that are not yet fixed.
std::vector<double> loads_of(std::size_t links, std::span<const Flow> flows, const std::vector<bool>& fixed) {
  std::vector<double> load(links, 0.0);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    for (const RouteStep& step : flows[i].route) {
      load[static_cast<std::size_t>(step.link)] += fixed[i] ? 0.0 : step.share;
    }
  }
  return load;
}

}  // namespace

std::vector<BytesPerSecond> max_min_rates(std::span<const FabricLink> links, std::span<const Flow> flows) {
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

SlowestFlow slowest_flow(std::span<const FabricLink> links,
                         std::span<const Flow> flows,
                         std::span<const double> weights) {
  std::vector<double> load(links.size(), 0.0);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    for (const RouteStep& step : flows[i].route) {
      load[static_cast<std::size_t>(step.link)] += step.share * (weights.empty() ? 1.0 : weights[i]);
    }
  }
  SlowestFlow slowest{BytesPerSecond{unlimited}, -1};
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (load[i] > 0.0 && links[i].rate.raw() / load[i] < slowest.rate.raw()) {
      slowest = {BytesPerSecond{links[i].rate.raw() / load[i]}, static_cast<std::int32_t>(i)};
    }
  }
  return slowest;
}

}  // namespace headroom
