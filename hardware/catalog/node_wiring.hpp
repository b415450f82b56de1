// SPDX-License-Identifier: Apache-2.0
// From a node's file and its SKU to the wiring of the host.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/catalog/wiring.hpp>

#include <optional>

namespace headroom {

/// Line rate of a PCIe link in one direction after its coding, before packet headers: of generations 1 to 6 with 16
/// lanes 4, 8, 15.75, 31.5, 63 and 121 GB/s (PCI Express base specifications: 8b/10b, 128b/130b, flits of 256 bytes).
/// nullopt for any other generation or a number of lanes that no slot has.
[[nodiscard]] std::optional<BytesPerSecond> pcie_rate(std::int64_t generation, std::int64_t lanes = 16) noexcept;

/// What joins the GPUs of a scale-up domain, by the SKU's own word ("NVLink4", "xGMI", "RoCE 100GbE").
[[nodiscard]] std::optional<LinkKind> scale_up_kind(const Device& device) noexcept;

/// What a node's file says of its links and its PCIe tree must agree with itself: GPUs that exist, pairs that stand
/// once, counts that divide. Every contradiction goes to `diagnostics` with its place and the way out.
void check_wiring(const Node& node, Diagnostics& diagnostics);

/// The wiring of a node with a SKU that it is sold with. Rates come from the file, else the SKU, else the PCIe
/// generation; ConfigError with every missing one. What the file leaves open is taken as follows and told in
/// `assumed`: switches are one plane; there is one socket; GPUs stand in equal blocks, in order, below the PCIe
/// switches, else at the sockets; NICs are spread evenly over the PCIe switches, else over the sockets.
[[nodiscard]] NodeWiring wire(const Node& node, const Device& device);

}  // namespace headroom
