// SPDX-License-Identifier: Apache-2.0
// The machine as a graph: every GPU, NVSwitch plane, PCIe switch, socket, NIC and network switch of a job's hosts,
// every link with its rate, the way that traffic takes between two GPUs, and what crosses a cut.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/catalog/wiring.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {

enum class ElementKind : std::uint8_t { gpu, nvswitch, pcie_switch, socket, nic, network_switch };
inline constexpr std::array<std::string_view, 6> element_kind_names{"gpu",    "nvswitch", "pcie-switch",
                                                                    "socket", "nic",      "network-switch"};

/// A vertex. `place` is the host; of an NVSwitch plane the scale-up domain; of a network switch the block of hosts
/// below it. `index` counts within the place: of a leaf on a rail-optimised fabric it is the rail.
struct FabricElement {
  ElementKind kind = ElementKind::gpu;
  std::int32_t place = 0;
  std::int32_t index = 0;
  std::int32_t tier = 0;  ///< of a network switch, 1 next to the hosts
};

/// A directed link; the other direction is the neighbour in number (`id ^ 1`).
struct FabricLink {
  std::int32_t from = 0, to = 0;
  LinkKind kind = LinkKind::nvlink;
  BytesPerSecond rate{};
  Seconds latency{};  ///< 0 where the catalog states none
};

/// The part of a flow that one link carries.
struct RouteStep {
  std::int32_t link = 0;
  double share = 1.0;
};

/// Switching levels above the hosts, and whether NIC i of every host under a leaf goes to leaf i.
struct NetworkTiers {
  std::vector<ClusterTier> tiers;
  bool rail_optimised = false;

  /// One switch without oversubscription: what is assumed of hosts of which no cluster is named.
  [[nodiscard]] static NetworkTiers non_blocking(std::int64_t nodes);
};

/// How much of a fabric has elements and links: all of it, or its first two scale-up domains with the switches above
/// them. Hosts are wired alike, so that two domains show what joins a GPU to its own and to any other.
enum class FabricPart : std::uint8_t { whole, two_domains };

class FabricGraph {
 public:
  /// `nodes` hosts wired alike under `network`, of which `part` is laid out. ConfigError naming every problem: no GPU,
  /// a link without rate or to nothing, several hosts without NICs or tiers, more hosts than the tiers hold, tiers that
  /// do not nest, a GPU that nothing reaches.
  FabricGraph(NodeWiring wiring, std::int64_t nodes, NetworkTiers network, FabricPart part = FabricPart::whole);

  [[nodiscard]] const NodeWiring& wiring() const noexcept { return wiring_; }
  [[nodiscard]] const NetworkTiers& network() const noexcept { return network_; }
  /// Of the whole fabric, however much of it is laid out.
  [[nodiscard]] std::int64_t nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::int64_t gpus() const noexcept { return nodes_ * wiring_.gpus; }
  /// Of the part that is laid out.
  [[nodiscard]] std::span<const FabricElement> elements() const noexcept { return elements_; }
  [[nodiscard]] std::span<const FabricLink> links() const noexcept { return links_; }
  /// The vertex of a GPU, counted over the hosts.
  [[nodiscard]] std::int32_t gpu(std::int64_t rank) const noexcept;

  /// GPUs of one scale-up domain: those below the same NVSwitch planes, else those of a host.
  [[nodiscard]] std::int64_t domain_gpus() const noexcept { return domain_; }
  /// The NICs of a host that a GPU sends through: the nearest, dealt evenly among the GPUs that share them.
  [[nodiscard]] std::span<const std::int32_t> nics_of(std::int64_t local_gpu) const noexcept;
  /// The rail of a GPU: the first of its NICs. 0 where leaves are not rails.
  [[nodiscard]] std::int32_t rail_of(std::int64_t local_gpu) const noexcept;

  /// Whether NICs and switches join the hosts (not so for one host, or hosts of one scale-up domain).
  [[nodiscard]] bool networked() const noexcept { return family_.size > family_.network; }
  /// What the links up out of one block of hosts below a switch of `tier` (from 1) carry together, in one direction;
  /// 0 for the last tier.
  [[nodiscard]] BytesPerSecond uplink(std::int64_t tier) const noexcept;
  /// NIC i of every host below a leaf goes to leaf i: the number of rails; 1 where it does not.
  [[nodiscard]] std::int64_t rails() const noexcept { return rails_; }

  /// The links that traffic from one GPU to another crosses, each with its share: NVLink or a direct link; over a GPU
  /// that both are linked to (NCCL's NVB); PCIe, through host memory where peer access is missing; or the nearest NICs
  /// and the lowest switch that both reach, on a rail-optimised fabric first over NVLink to the GPU of the other's rail
  /// (NCCL's PXN). Parallel planes and NICs share evenly. Both GPUs must be laid out.
  [[nodiscard]] std::vector<RouteStep> route(std::int64_t from, std::int64_t to) const;

  /// Bytes per second that the first half of the hosts can send to the second, or of a single host's GPUs its first
  /// half to its second: a maximum flow (Boykov and Kolmogorov 2004). Of a graph that is laid out whole.
  [[nodiscard]] BytesPerSecond bisection() const;

 private:
  friend class FabricRouter;
  struct Builder;

  NodeWiring wiring_;
  NetworkTiers network_;
  std::int64_t nodes_ = 1;
  std::int64_t laid_out_ = 1;  ///< hosts
  std::int64_t domain_ = 1;
  std::int64_t rails_ = 1;
  std::vector<FabricElement> elements_;
  std::vector<FabricLink> links_;
  std::vector<std::vector<std::int32_t>> nics_of_;

  /// Links are numbered by host, then by family, two numbers for the two directions: the first number of each family
  /// within a host, and of a host's links in all.
  struct Families {
    std::int32_t pairs = 0;     ///< by wiring pair; even: a to b
    std::int32_t planes = 0;    ///< by GPU, then plane; even: into the plane
    std::int32_t gpu_pcie = 0;  ///< by GPU; even: away from it
    std::int32_t switches = 0;  ///< by PCIe switch; even: to its socket
    std::int32_t sockets = 0;   ///< by socket; even: to the next
    std::int32_t nics = 0;      ///< by NIC; even: out of the host
    std::int32_t network = 0;   ///< by NIC; even: out of the host; none where there is one host
    std::int32_t size = 0;
  } family_;
  std::vector<std::int32_t> tier_links_;  ///< by tier from the second: first number of the links up into it
};

}  // namespace headroom
