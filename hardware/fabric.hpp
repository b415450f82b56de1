// SPDX-License-Identifier: Apache-2.0
// What a placed group of ranks sees of a cluster: rates shared with all groups of its axis, latencies, tiers crossed.
#pragma once

#include <headroom/hardware/wiring.hpp>

#include <cstdint>

namespace headroom {

/// A group of ranks `stride` apart among all groups of that form that tile the job and move at once. Rates are of one
/// rank and one direction, the smallest over the groups.
struct GroupView {
  std::int64_t ranks = 1;
  std::int64_t stride = 1;
  std::int64_t domains = 1;     ///< scale-up islands (NVLink, xGMI or PCIe within a host) that it spans
  std::int64_t per_domain = 1;  ///< ranks of it in the fullest of them
  std::int64_t nodes = 1;       ///< hosts that it spans
  std::int64_t tier = 0;        ///< highest network tier that its traffic crosses; 0: never leaves the domain
  bool one_rail = true;         ///< all its ranks share a rail, so that its network traffic never meets the spine

  LinkKind inside = LinkKind::nvlink;  ///< the slowest kind of link between ranks of one domain
  bool in_switch = false;              ///< ranks of a domain meet in switches that can reduce (NVLS)
  bool staged = false;                 ///< ranks of a domain copy through host memory: no peer access
  BytesPerSecond inside_ring{};        ///< a rank's sends to its ring neighbour within the domain
  BytesPerSecond inside_all{};         ///< a rank's sends to all others of the domain, uniformly
  BytesPerSecond inside_pair{};        ///< a rank's sends to one other rank of the domain
  BytesPerSecond outside_ring{};       ///< a rank's share of the network while each group's ring passes every domain
  BytesPerSecond outside_all{};        ///< a rank's sends to all ranks of other domains, uniformly
  BytesPerSecond outside_pair{};       ///< a rank's sends to the next rank of another domain
  Seconds inside_latency{};            ///< of links and switches, one way between neighbours
  Seconds outside_latency{};
};

}  // namespace headroom
