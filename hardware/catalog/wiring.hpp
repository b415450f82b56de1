// SPDX-License-Identifier: Apache-2.0
// How one host is wired: direct GPU links, NVSwitch planes, PCIe switches, sockets, NICs. The catalog's node TOML,
// `nvidia-smi topo -m` and NCCL's topology XML all end here; the fabric graph starts here.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What joins two elements of the fabric.
enum class LinkKind : std::uint8_t { nvlink, xgmi, ethernet, c2c, pcie, socket, network };
inline constexpr std::array<std::string_view, 7> link_kind_names{"nvlink", "xgmi",   "ethernet", "c2c",
                                                                 "pcie",   "socket", "network"};
[[nodiscard]] constexpr std::string_view name_of(LinkKind kind) {
  return link_kind_names[static_cast<std::size_t>(kind)];
}

/// One host. Rates are of one direction, indices count from 0 within the host.
struct NodeWiring {
  std::string name;
  std::int64_t gpus = 0;

  /// GPUs joined without a switch between them; a pair appears once, `a` < `b`, with the sum of its parallel links.
  struct Pair {
    std::int64_t a = 0, b = 0;
    LinkKind kind = LinkKind::nvlink;
    std::int64_t links = 1;
    BytesPerSecond rate{};
    [[nodiscard]] bool operator==(const Pair&) const = default;
  };
  std::vector<Pair> pairs;

  /// NVSwitch planes: each GPU sends `rate` into each of them, so that `planes` x `rate` is its injection rate.
  struct Planes {
    std::int64_t planes = 0;
    LinkKind kind = LinkKind::nvlink;
    BytesPerSecond rate{};
    std::int64_t domain = 0;  ///< GPUs that the same planes join: more than `gpus` in a rack-scale domain
    [[nodiscard]] bool operator==(const Planes&) const = default;
  } planes;

  /// The PCIe tree: `gpu_switch[i]` is the switch of GPU i, or -1 where it hangs off its socket's root complex.
  std::int64_t sockets = 1;
  std::vector<std::int64_t> switch_socket;  ///< by PCIe switch
  std::vector<std::int64_t> gpu_switch;
  std::vector<std::int64_t> gpu_socket;
  LinkKind host_link = LinkKind::pcie;  ///< of a GPU to its switch or root complex: c2c where the CPU is on the module
  BytesPerSecond gpu_pcie{};            ///< GPU to its switch or root complex
  BytesPerSecond switch_pcie{};         ///< PCIe switch to its socket
  BytesPerSecond socket_link{};  ///< between neighbouring sockets (QPI, UPI, Infinity Fabric); 0 where there is one
  bool peer_access = true;       ///< GPUs may write each other's memory over PCIe; else copies are staged in the host

  /// A network port that collectives use.
  struct Nic {
    std::string name;
    std::int64_t pcie_switch = -1;  ///< -1: at the root complex of `socket`
    std::int64_t socket = 0;
    std::int64_t gpu = -1;  ///< the ports of an accelerator of its own (Gaudi), which cross no PCIe; else -1
    BytesPerSecond rate{};
    [[nodiscard]] bool operator==(const Nic&) const = default;
  };
  std::vector<Nic> nics;

  /// What the description left open and was taken for granted, in words.
  std::vector<std::string> assumed;

  /// Same elements and links, however switches, sockets and NICs are numbered; names and what was assumed apart. Rates
  /// agree within 1e-6.
  [[nodiscard]] bool same_as(const NodeWiring& other) const;
};

}  // namespace headroom
