// SPDX-License-Identifier: Apache-2.0
// Max-min fair rates of flows over shared links.
#pragma once

#include <headroom/hardware/fabric/fabric_graph.hpp>

#include <span>
#include <vector>

namespace headroom {

/// A flow and the links that it crosses; a link may carry a part of it.
struct Flow {
  std::vector<RouteStep> route;
};

/// The rate of each flow by progressive filling: all rise together until a link is full, its flows stay, the others go
/// on (Bertsekas and Gallager 1992, section 6.5.2). A flow without links is not limited (infinity).
[[nodiscard]] std::vector<BytesPerSecond> max_min_rates(std::span<const FabricLink> links, std::span<const Flow> flows);

/// The least of them, and the link that sets it; infinity and -1 where no flow crosses a link. `weights` says how much
/// more than a unit each flow carries; empty: 1 each.
struct SlowestFlow {
  BytesPerSecond rate{};
  std::int32_t link = -1;
};
[[nodiscard]] SlowestFlow slowest_flow(std::span<const FabricLink> links,
                                       std::span<const Flow> flows,
                                       std::span<const double> weights = {});

}  // namespace headroom
