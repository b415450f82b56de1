// SPDX-License-Identifier: Apache-2.0
// What both importers of a running host find, and how it becomes a wiring.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/hardware/catalog/wiring.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// What the text of a tool does not say of a host. Unset: the host must not need it, else it is an error.
struct HostFacts {
  std::optional<std::int64_t> sockets;  ///< NUMA nodes are shared out over them; unset: one socket each
  std::optional<std::int64_t> planes;   ///< of NVSwitches; unset: one, which carries the sum
  std::optional<std::int64_t> domain;   ///< GPUs that the switches join; unset: the host's
  std::optional<BytesPerSecond> nic_rate;
  std::optional<BytesPerSecond> socket_link;
  std::optional<BytesPerSecond> gpu_pcie;     ///< unset: what the SKU can do
  std::optional<BytesPerSecond> switch_pcie;  ///< unset: as the SKU's
  std::optional<BytesPerSecond> c2c;          ///< instead of gpu_pcie
  std::optional<bool> peer_access;            ///< over PCIe; unset: there
  std::vector<std::string> nics;              ///< names of those that collectives use; empty: all
};
/// The facts of a node type that the host is like.
[[nodiscard]] HostFacts facts_of(const NodeWiring& like);

/// A host as a tool describes it, before NUMA nodes become sockets and links become rates.
struct FoundHost {
  struct Gpu {
    std::string name;
    Position at;
    std::int64_t numa = 0;
    std::int64_t pcie_switch = -1;
    std::int64_t switch_links = 0;  ///< to NVSwitches
    std::optional<BytesPerSecond> pcie;
    std::optional<BytesPerSecond> c2c;
  };
  struct Nic {
    std::string name;
    Position at;
    std::optional<std::int64_t> numa;  ///< unset: near no GPU
    std::int64_t pcie_switch = -1;
    std::optional<BytesPerSecond> rate;
  };
  struct Link {
    std::int64_t a = 0, b = 0;  ///< GPUs
    LinkKind kind = LinkKind::nvlink;
    std::int64_t links = 0;
    Position at;
  };
  struct Switch {
    std::int64_t numa = 0;
    std::optional<BytesPerSecond> pcie;
  };

  std::string file, name;
  std::vector<Gpu> gpus;
  std::vector<Nic> nics;
  std::vector<Link> links;
  std::vector<Switch> switches;
  std::int64_t planes = 0;  ///< NVSwitches told apart; 0: not told
  std::optional<BytesPerSecond> socket_link;
};

/// Puts the SKU's rates to the links and numbers what was found. Problems go to `diagnostics`; the wiring is of use
/// only when there are none.
[[nodiscard]] NodeWiring wire(const FoundHost& found,
                              const Device& device,
                              const HostFacts& facts,
                              Diagnostics& diagnostics);

}  // namespace headroom
