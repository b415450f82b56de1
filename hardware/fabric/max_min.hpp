// SPDX-License-Identifier: Apache-2.0
// The slowest of flows that share links fairly.
#pragma once

#include <headroom/hardware/fabric/fabric_graph.hpp>

#include <span>
#include <vector>

namespace headroom {

/// One flow: the links that it crosses, and the share of it on each.
struct Flow {
  std::vector<RouteStep> route;
};

/// The lowest max-min fair rate (Bertsekas and Gallager 1992, section 6.5.2) and the link that sets it; infinity and -1
/// if no flow crosses a link. `weights[i]` is the load of flow i in units; empty: 1 each.
struct SlowestFlow {
  BytesPerSecond rate{};
  std::int32_t link = -1;
};
[[nodiscard]] SlowestFlow slowest_flow(std::span<const FabricLink> links,
                                       std::span<const Flow> flows,
                                       std::span<const double> weights = {});

}  // namespace headroom
