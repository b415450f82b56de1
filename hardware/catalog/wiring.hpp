// SPDX-License-Identifier: Apache-2.0
// How one host is wired: direct GPU links, NVSwitch planes, PCIe switches, sockets, NICs. The catalog's node TOML,
// `nvidia-smi topo -m` and NCCL's topology XML are all read into this form; the fabric graph is built from it.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The kind of a link between two elements of the fabric.
enum class LinkKind : std::uint8_t { nvlink, xgmi, ethernet, c2c, pcie, socket, network };
inline constexpr std::array<std::string_view, 7> link_kind_names{"nvlink", "xgmi",   "ethernet", "c2c",
                                                                 "pcie",   "socket", "network"};
[[nodiscard]] constexpr std::string_view name_of(LinkKind kind) {
  return link_kind_names[static_cast<std::size_t>(kind)];
}

/// One host. Rates are of one direction; indices count from 0 within the host.
struct NodeWiring {
  std::string name;
  std::int64_t gpus = 0;

  /// Two GPUs joined without a switch. A pair appears once, with `a` < `b` and the summed rate of its parallel links.
  struct Pair {
    std::int64_t a = 0, b = 0;
    LinkKind kind = LinkKind::nvlink;
    std::int64_t links = 1;
    BytesPerSecond rate{};
    [[nodiscard]] bool operator==(const Pair&) const = default;
  };
  std::vector<Pair> pairs;

  /// NVSwitch planes. Each GPU sends at `rate` into each plane, so that `planes` x `rate` is its injection rate.
  struct Planes {
    std::int64_t planes = 0;
    LinkKind kind = LinkKind::nvlink;
    BytesPerSecond rate{};
    std::int64_t domain = 0;  ///< GPUs that the planes join; larger than `gpus` in a rack-scale domain
    [[nodiscard]] bool operator==(const Planes&) const = default;
  } planes;

  /// The PCIe tree: number of sockets.
  std::int64_t sockets = 1;
  std::vector<std::int64_t> switch_socket;  ///< socket of each PCIe switch
  /// PCIe switch of each GPU; -1: directly at the root complex of its socket.
  std::vector<std::int64_t> gpu_switch;
  std::vector<std::int64_t> gpu_socket;
  /// Kind of the link from a GPU to its PCIe switch or root complex; c2c if the CPU is on its module.
  LinkKind host_link = LinkKind::pcie;
  BytesPerSecond gpu_pcie{};     ///< rate from a GPU to its PCIe switch or root complex
  BytesPerSecond switch_pcie{};  ///< rate from a PCIe switch to its socket
  BytesPerSecond socket_link{};  ///< rate between neighbouring sockets (QPI, UPI, Infinity Fabric); 0 with one socket
  bool peer_access = true;  ///< GPUs may write each other's memory over PCIe; otherwise copies go through host memory

  /// A network port that collectives use.
  struct Nic {
    std::string name;
    std::int64_t pcie_switch = -1;  ///< PCIe switch of the NIC; -1: directly at the root complex of `socket`
    std::int64_t socket = 0;
    std::int64_t gpu = -1;  ///< GPU whose own port this is (Gaudi), which crosses no PCIe; -1: none
    BytesPerSecond rate{};
    [[nodiscard]] bool operator==(const Nic&) const = default;
  };
  std::vector<Nic> nics;

  /// Sentences on what the description left open and was assumed.
  std::vector<std::string> assumed;

  /// Whether both hosts have the same elements and links, however switches, sockets and NICs are numbered. Rates agree
  /// within 1e-6 (relative); names and `assumed` are ignored.
  [[nodiscard]] bool same_as(const NodeWiring& other) const;
};

}  // namespace headroom
