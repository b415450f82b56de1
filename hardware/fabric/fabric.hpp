// SPDX-License-Identifier: Apache-2.0
// What a placed group of ranks sees of a cluster: rates shared with all groups of its axis, latencies, tiers crossed.
#pragma once

#include <headroom/hardware/fabric/fabric_graph.hpp>
#include <headroom/hardware/fabric/placement.hpp>

#include <cstdint>
#include <vector>

namespace headroom {

/// A group of ranks `stride` apart (of several runs: within a run) among all groups of that form that tile the job and
/// move at once. Rates are of one rank and one direction, the smallest over the groups.
struct GroupView {
  std::int64_t ranks = 1;
  std::int64_t stride = 1;
  std::int64_t domains = 1;     ///< scale-up islands (NVLink, xGMI or PCIe within a host) that it spans
  std::int64_t per_domain = 1;  ///< ranks of it in the fullest of them
  std::int64_t fewest = 1;      ///< and in the emptiest
  std::int64_t nodes = 1;       ///< hosts that it spans
  std::int64_t tier = 0;        ///< highest network tier that its traffic crosses; 0: never leaves the domain
  bool one_rail = true;         ///< all its ranks share a rail, so that its network traffic never meets the spine

  LinkKind inside = LinkKind::nvlink;    ///< the kind of link that binds a ring within a domain
  LinkKind outside = LinkKind::network;  ///< and between domains: pcie or socket where NICs are not what binds
  std::int64_t binding_tier = 0;      ///< the tier whose uplinks bind a ring between domains; 0: the hosts' own links
  std::int64_t all_binding_tier = 0;  ///< and of uniform sends
  bool in_switch = false;             ///< ranks of a domain meet in switches that can reduce (NVLS)
  bool staged = false;                ///< ranks of a domain copy through host memory: no peer access
  BytesPerSecond inside_ring{};       ///< a rank's sends to its ring neighbour within the domain
  BytesPerSecond inside_all{};        ///< a rank's sends to all others of the domain, uniformly
  BytesPerSecond inside_pair{};       ///< a rank's sends to one other rank of the domain
  BytesPerSecond outside_ring{};      ///< a rank's share of the network while each group's ring passes every domain
  BytesPerSecond outside_all{};       ///< a rank's sends to all ranks of other domains, uniformly
  BytesPerSecond outside_pair{};      ///< a rank's sends to the next rank of another domain
  Seconds inside_latency{};           ///< of links and switches, one way between neighbours
  Seconds outside_latency{};
};

/// Hosts that a job of `ranks` needs where every scale-up domain takes the same number of them, in whole domains.
/// ConfigError where no number of hosts is filled.
[[nodiscard]] std::int64_t hosts_for(const NodeWiring& wiring, std::int64_t ranks);

/// The part of a cluster that a job of `ranks` occupies, for Fabric: two domains of it are laid out. ConfigError: more
/// hosts than the cluster has, and what FabricGraph refuses.
[[nodiscard]] FabricGraph graph_of(const Catalog& catalog, const Cluster& cluster, std::int64_t ranks);

/// A job's ranks on a fabric: rank r is GPU r, host after host; where the job is larger than a scale-up domain, each
/// domain takes the same number of ranks, the largest divisor of the job that fills hosts (64 of an NVL72's 72 GPUs for
/// 4,096 ranks). Nothing in it grows with the job: hosts are wired alike, and groups lie on them in a few ways only.
class Fabric {
 public:
  /// ConfigError: more ranks than GPUs, or ranks that do not fill hosts (with the nearest counts that do).
  Fabric(const FabricGraph& graph, std::int64_t ranks);

  [[nodiscard]] std::int64_t ranks() const noexcept { return ranks_; }
  [[nodiscard]] std::int64_t ranks_per_domain() const noexcept { return per_domain_; }
  [[nodiscard]] const FabricGraph& graph() const noexcept { return *graph_; }

  /// Where a rank stands: its scale-up domain, its host, and the GPU of that.
  [[nodiscard]] std::int64_t domain(std::int64_t rank) const noexcept { return rank / per_domain_; }
  [[nodiscard]] std::int64_t node(std::int64_t rank) const noexcept {
    return domain(rank) * nodes_per_domain_ + rank % per_domain_ / gpus_per_node_;
  }
  [[nodiscard]] std::int64_t local(std::int64_t rank) const noexcept { return rank % per_domain_ % gpus_per_node_; }

  /// The rate of each GPU while all of a host send and receive over its NICs, and what limits it; 0 where the job is
  /// one domain.
  [[nodiscard]] BytesPerSecond host_out() const noexcept { return host_out_; }
  [[nodiscard]] LinkKind host_binds() const noexcept { return host_binds_; }

  /// What each group of `ranks` members `stride` apart sees while all groups of that form move at once. A link's rate
  /// is shared max-min fairly, so that the slowest flow gets the least of capacity over load (Bertsekas and Gallager
  /// 1992, section 6.5.2). ConfigError when ranks x stride does not divide the job.
  [[nodiscard]] GroupView view(std::int64_t ranks, std::int64_t stride) const;
  /// The same for members in runs; also when a run reaches into the next.
  [[nodiscard]] GroupView view(const GroupForm& form) const;

 private:
  const FabricGraph* graph_;
  std::int64_t ranks_ = 1;
  std::int64_t per_domain_ = 1;
  std::int64_t gpus_per_node_ = 1;
  std::int64_t nodes_per_domain_ = 1;
  BytesPerSecond host_out_{};
  LinkKind host_binds_ = LinkKind::network;
};

/// The views of every group form that tiles a job, looked up without search.
class GroupTable {
 public:
  explicit GroupTable(const Fabric& fabric);
  /// nullptr where ranks x stride does not divide the job.
  [[nodiscard]] const GroupView* find(std::int64_t ranks, std::int64_t stride) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return views_.size(); }

 private:
  [[nodiscard]] std::size_t slot(std::int64_t ranks, std::int64_t stride) const noexcept;

  std::vector<GroupView> views_;
  std::vector<std::int32_t> slots_;  ///< open addressing; -1: empty
};

}  // namespace headroom
