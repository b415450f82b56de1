// SPDX-License-Identifier: Apache-2.0
// The machine as a graph of GPUs, NVSwitch planes, PCIe switches, sockets, NICs and network switches; the rate of every
// link, the route between two GPUs, and the capacity of a cut.
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

/// A vertex. `place` is its host; for an NVSwitch plane its scale-up domain, for a network switch the block of hosts
/// below it. `index` counts within the place; for a leaf switch of a rail-optimised fabric it is the rail.
struct FabricElement {
  ElementKind kind = ElementKind::gpu;
  std::int32_t place = 0;
  std::int32_t index = 0;
  std::int32_t tier = 0;  ///< tier of a network switch, 1 next to the hosts
};

/// A directed link. Links come in pairs of opposite direction, numbered `id` and `id ^ 1`.
struct FabricLink {
  std::int32_t from = 0, to = 0;
  LinkKind kind = LinkKind::nvlink;
  BytesPerSecond rate{};
  Seconds latency{};  ///< latency; 0 if the catalog states none
};

/// One link of a route, and the share (0 to 1) of the flow that it carries.
struct RouteStep {
  std::int32_t link = 0;
  double share = 1.0;
};

/// Switching levels above the hosts, and whether NIC i of every host below a leaf is connected to leaf i.
struct NetworkTiers {
  std::vector<ClusterTier> tiers;
  bool rail_optimised = false;

  /// One switch without oversubscription: assumed where no cluster is named.
  [[nodiscard]] static NetworkTiers non_blocking(std::int64_t nodes);
};

/// How much of a fabric is laid out: all of it, or its first two scale-up domains with the switches above them. Two
/// domains suffice to show any GPU's links because hosts are wired alike.
enum class FabricPart : std::uint8_t { whole, two_domains };

class FabricGraph {
 public:
  /// `nodes` hosts wired alike below `network`, of which `part` is laid out. ConfigError names every problem: no GPU, a
  /// link without rate or end, several hosts without NICs or tiers, more hosts than the tiers hold, tiers that do not
  /// nest, a GPU that nothing reaches.
  FabricGraph(NodeWiring wiring, std::int64_t nodes, NetworkTiers network, FabricPart part = FabricPart::whole);

  [[nodiscard]] const NodeWiring& wiring() const noexcept { return wiring_; }
  [[nodiscard]] const NetworkTiers& network() const noexcept { return network_; }
  /// Hosts and GPUs of the whole fabric, whatever part is laid out.
  [[nodiscard]] std::int64_t nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::int64_t gpus() const noexcept { return nodes_ * wiring_.gpus; }
  /// Vertices and directed links of the part that is laid out.
  [[nodiscard]] std::span<const FabricElement> elements() const noexcept { return elements_; }
  [[nodiscard]] std::span<const FabricLink> links() const noexcept { return links_; }
  /// The vertex of a GPU, numbered over all hosts.
  [[nodiscard]] std::int32_t gpu(std::int64_t rank) const noexcept;

  /// GPUs of one scale-up domain: those below the same NVSwitch planes, else those of a host.
  [[nodiscard]] std::int64_t domain_gpus() const noexcept { return domain_; }
  /// The NICs of a host that a GPU sends through: the nearest, divided evenly among the GPUs that share them.
  [[nodiscard]] std::span<const std::int32_t> nics_of(std::int64_t local_gpu) const noexcept;
  /// The rail of a GPU: the first of its NICs; 0 where leaves are not rails.
  [[nodiscard]] std::int32_t rail_of(std::int64_t local_gpu) const noexcept;

  /// Whether NICs and switches join the hosts; false for one host or the hosts of one scale-up domain.
  [[nodiscard]] bool networked() const noexcept { return family_.size > family_.network; }
  /// Summed rate of the links up from one block of hosts below a switch of `tier` (from 1), one way; 0 for the last
  /// tier.
  [[nodiscard]] BytesPerSecond uplink(std::int64_t tier) const noexcept;
  /// Number of rails, if NIC i of every host below a leaf is connected to leaf i; else 1.
  [[nodiscard]] std::int64_t rails() const noexcept { return rails_; }

  /// The links that traffic between two GPUs crosses, each with its share: NVLink or a direct link; one GPU that both
  /// are linked to (NCCL's NVB); PCIe, through host memory without peer access; or the nearest NICs and the lowest
  /// common switch, on a rail-optimised fabric first over NVLink to the GPU of the destination's rail (NCCL's PXN).
  /// Parallel planes and NICs share evenly. Both GPUs must be laid out.
  [[nodiscard]] std::vector<RouteStep> route(std::int64_t from, std::int64_t to) const;

  /// Rate from the first half of the hosts to the second, or of a single host from its first half of GPUs to the
  /// second: a maximum flow (Boykov and Kolmogorov 2004). The graph must be laid out whole.
  [[nodiscard]] BytesPerSecond bisection() const;

 private:
  friend class FabricRouter;
  struct Builder;

  NodeWiring wiring_;
  NetworkTiers network_;
  std::int64_t nodes_ = 1;
  std::int64_t laid_out_ = 1;  ///< number of hosts that are laid out
  std::int64_t domain_ = 1;
  std::int64_t rails_ = 1;
  std::vector<FabricElement> elements_;
  std::vector<FabricLink> links_;
  std::vector<std::vector<std::int32_t>> nics_of_;

  /// First link number of each family of links within a host, where host h starts at h x size. Within a family each
  /// link takes two numbers, the even one in the direction given here.
  struct Families {
    std::int32_t pairs = 0;     ///< direct links by wiring pair; even: a to b
    std::int32_t planes = 0;    ///< switch links by GPU, then plane; even: into the plane
    std::int32_t gpu_pcie = 0;  ///< PCIe links by GPU; even: away from the GPU
    std::int32_t switches = 0;  ///< links by PCIe switch; even: to its socket
    std::int32_t sockets = 0;   ///< links by socket; even: to the next socket
    std::int32_t nics = 0;      ///< PCIe links by NIC; even: out of the host
    std::int32_t network = 0;   ///< network links by NIC; even: out of the host; none with one host
    std::int32_t size = 0;      ///< number of links of one host
  } family_;
  std::vector<std::int32_t> tier_links_;  ///< first number of the links up into each tier, from the second tier on
};

}  // namespace headroom
