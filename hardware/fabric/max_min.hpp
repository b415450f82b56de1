// SPDX-License-Identifier: Apache-2.0
// Max-min fair rates of flows over shared links.
#pragma once

#include <headroom/hardware/fabric/fabric_graph.hpp>

#include <span>
#include <vector>

namespace headroom {

/// One flow: the links that it crosses, and the share of it on each.
struct Flow {
  std::vector<RouteStep> route;
};

/// The rate of each flow by progressive filling: all rates rise together until a link is full, then its flows are fixed
/// and the others continue (Bertsekas and Gallager 1992, section 6.5.2). A flow without links has infinite rate.
[[nodiscard]] std::vector<BytesPerSecond> max_min_rates(std::span<const FabricLink> links, std::span<const Flow> flows);

/// The lowest max-min rate and the link that sets it; infinity and -1 if no flow crosses a link. `weights[i]` is the
/// load of flow i in units; empty: 1 each.
struct SlowestFlow {
  BytesPerSecond rate{};
  std::int32_t link = -1;
};
[[nodiscard]] SlowestFlow slowest_flow(std::span<const FabricLink> links,
                                       std::span<const Flow> flows,
                                       std::span<const double> weights = {});

}  // namespace headroom
