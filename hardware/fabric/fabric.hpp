// SPDX-License-Identifier: Apache-2.0
// What a placed group of ranks sees of a cluster: rates shared with the other groups of its axis, latencies, tiers.
#pragma once

#include <headroom/hardware/fabric/fabric_graph.hpp>
#include <headroom/hardware/fabric/placement.hpp>

#include <cstdint>
#include <vector>

namespace headroom {

/// One group of ranks while all groups of its form, which tile the job, communicate at once. Rates are of one rank in
/// one direction, and the smallest over the groups.
struct GroupView {
  std::int64_t ranks = 1;
  std::int64_t stride = 1;
  std::int64_t domains = 1;     ///< scale-up domains (NVLink, xGMI, or PCIe within a host) that the group spans
  std::int64_t per_domain = 1;  ///< ranks of the group in the domain that holds most of them
  std::int64_t fewest = 1;      ///< ranks of the group in the domain that holds fewest of them
  std::int64_t nodes = 1;       ///< hosts that the group spans
  std::int64_t tier = 0;  ///< highest network tier that the group's traffic crosses; 0: it stays within the domain
  bool one_rail = true;   ///< all ranks share a rail, so that their network traffic stays off the spine

  LinkKind inside = LinkKind::nvlink;  ///< kind of the link that limits a ring within a domain
  /// Kind of the link that limits a ring between domains, which may be pcie or socket.
  LinkKind outside = LinkKind::network;
  std::int64_t binding_tier = 0;      ///< tier whose uplinks limit a ring between domains; 0: the hosts' own links do
  std::int64_t all_binding_tier = 0;  ///< tier whose uplinks limit uniform sends; 0: the hosts' own links do
  bool in_switch = false;             ///< the ranks of a domain are joined by switches that can reduce (NVLS)
  bool staged = false;                ///< the ranks of a domain copy through host memory because peer access is missing
  BytesPerSecond inside_ring{};       ///< rate from a rank to its ring neighbour within the domain
  BytesPerSecond inside_all{};        ///< rate from a rank to all others of the domain, sending uniformly
  BytesPerSecond inside_pair{};       ///< rate from a rank to one other rank of the domain
  BytesPerSecond outside_ring{};      ///< a rank's share of the network while each group's ring passes every domain
  BytesPerSecond outside_all{};       ///< rate from a rank to all ranks of other domains, sending uniformly
  BytesPerSecond outside_pair{};      ///< rate from a rank to the next rank of another domain
  Seconds inside_latency{};           ///< latency of links and switches between neighbours in a domain, one way
  Seconds outside_latency{};  ///< latency of links and switches between neighbours in different domains, one way
};

/// Number of hosts for a job of `ranks` in whole scale-up domains that all take the same number of ranks. ConfigError
/// if the ranks cannot fill whole hosts.
[[nodiscard]] std::int64_t hosts_for(const NodeWiring& wiring, std::int64_t ranks);

/// The part of a cluster that a job of `ranks` occupies, with two domains laid out, as Fabric needs it. ConfigError for
/// more hosts than the cluster has, or for what FabricGraph refuses.
[[nodiscard]] FabricGraph graph_of(const Catalog& catalog, const Cluster& cluster, std::int64_t ranks);

/// A job's ranks on a fabric: rank r is GPU r, host after host. If the job is larger than a scale-up domain, each
/// domain takes the same number of ranks: the largest divisor of the job that fills hosts (64 of an NVL72's 72 GPUs for
/// 4,096 ranks). Time and memory do not grow with the job: hosts are wired alike, and groups lie on them in few ways.
class Fabric {
 public:
  /// ConfigError for more ranks than GPUs, or ranks that do not fill hosts (the message gives the nearest that do).
  Fabric(const FabricGraph& graph, std::int64_t ranks);

  [[nodiscard]] std::int64_t ranks() const noexcept { return ranks_; }
  [[nodiscard]] std::int64_t ranks_per_domain() const noexcept { return per_domain_; }
  [[nodiscard]] const FabricGraph& graph() const noexcept { return *graph_; }

  /// The position of a rank: its scale-up domain, its host, and its GPU within that host.
  [[nodiscard]] std::int64_t domain(std::int64_t rank) const noexcept { return rank / per_domain_; }
  [[nodiscard]] std::int64_t node(std::int64_t rank) const noexcept {
    return domain(rank) * nodes_per_domain_ + rank % per_domain_ / gpus_per_node_;
  }
  [[nodiscard]] std::int64_t local(std::int64_t rank) const noexcept { return rank % per_domain_ % gpus_per_node_; }

  /// Rate of each GPU while all GPUs of a host send and receive over its NICs, and the kind of link that limits it; 0
  /// if the job is one domain.
  [[nodiscard]] BytesPerSecond host_out() const noexcept { return host_out_; }
  [[nodiscard]] LinkKind host_binds() const noexcept { return host_binds_; }

  /// What each group of `ranks` members `stride` apart sees while all such groups communicate at once. A link's
  /// capacity is shared max-min fairly, so that the slowest flow gets the least capacity over load (Bertsekas and
  /// Gallager 1992, section 6.5.2). ConfigError if ranks x stride does not divide the job.
  [[nodiscard]] GroupView view(std::int64_t ranks, std::int64_t stride) const;
  /// What each group whose members lie in runs sees, also where a run reaches into the next domain.
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

/// The views of every group form that tiles a job, in a hash table.
class GroupTable {
 public:
  explicit GroupTable(const Fabric& fabric);
  /// nullptr if ranks x stride does not divide the job.
  [[nodiscard]] const GroupView* find(std::int64_t ranks, std::int64_t stride) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return views_.size(); }

 private:
  [[nodiscard]] std::size_t slot(std::int64_t ranks, std::int64_t stride) const noexcept;

  std::vector<GroupView> views_;
  std::vector<std::int32_t> slots_;  ///< open addressing: index into views_; -1: empty
};

}  // namespace headroom
