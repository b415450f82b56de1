// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/fabric/max_min.hpp>

#include <algorithm>
#include <limits>

namespace headroom {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

}  // namespace

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
