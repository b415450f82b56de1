// SPDX-License-Identifier: Apache-2.0
// What both importers find of a running host, and its conversion to a wiring.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/hardware/catalog/wiring.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// What the output of a tool does not state about a host. An unset value that the host needs is an error.
struct HostFacts {
  /// Number of sockets, over which NUMA nodes are divided; unset: one socket per NUMA node.
  std::optional<std::int64_t> sockets;
  std::optional<std::int64_t> planes;  ///< number of NVSwitch planes; unset: one, which carries the sum
  std::optional<std::int64_t> domain;  ///< GPUs of the switched domain; unset: the host's
  std::optional<BytesPerSecond> nic_rate;
  std::optional<BytesPerSecond> socket_link;
  std::optional<BytesPerSecond> gpu_pcie;     ///< rate from a GPU to its PCIe switch; unset: the SKU's
  std::optional<BytesPerSecond> switch_pcie;  ///< rate from a PCIe switch to its socket; unset: the SKU's
  std::optional<BytesPerSecond> c2c;          ///< rate between GPU and CPU of a module, instead of gpu_pcie
  std::optional<bool> peer_access;            ///< peer access over PCIe; unset: true
  std::vector<std::string> nics;              ///< names of the NICs that collectives use; empty: all
};
/// The facts of a node type that the host resembles.
[[nodiscard]] HostFacts facts_of(const NodeWiring& like);

/// A host as a tool describes it, before NUMA nodes are mapped to sockets and links to rates.
struct FoundHost {
  struct Gpu {
    std::string name;
    Position at;
    std::int64_t numa = 0;
    std::int64_t pcie_switch = -1;
    std::int64_t switch_links = 0;  ///< number of links to NVSwitches
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
    std::int64_t a = 0, b = 0;  ///< indices of the two GPUs
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
  std::int64_t planes = 0;  ///< number of distinct NVSwitches; 0: unknown
  std::optional<BytesPerSecond> socket_link;
};

/// Numbers what was found and gives the links their rates. Problems are added to `diagnostics`; the wiring is valid
/// only if there are none.
[[nodiscard]] NodeWiring wire(const FoundHost& found,
                              const Device& device,
                              const HostFacts& facts,
                              Diagnostics& diagnostics);

}  // namespace headroom
