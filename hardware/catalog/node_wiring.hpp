// SPDX-License-Identifier: Apache-2.0
// Builds the wiring of a host from its node file and its SKU.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/catalog/wiring.hpp>

#include <optional>

namespace headroom {

/// Line rate of a PCIe link in one direction after line coding, before packet headers. With 16 lanes, generations 1 to
/// 6 give 4, 8, 15.75, 31.5, 63 and 121 GB/s (PCI Express base specifications: 8b/10b, 128b/130b, flits of 256 bytes).
/// nullopt for another generation or a number of lanes that no slot has.
[[nodiscard]] std::optional<BytesPerSecond> pcie_rate(std::int64_t generation, std::int64_t lanes = 16) noexcept;

/// The kind of link of a SKU's scale-up domain, from its name in the catalog ("NVLink4", "xGMI", "RoCE 100GbE").
[[nodiscard]] std::optional<LinkKind> scale_up_kind(const Device& device) noexcept;

/// Checks that the links and the PCIe tree of a node file are consistent: GPUs exist, each pair appears once, counts
/// divide. Every contradiction is added to `diagnostics` with its place and the way out.
void check_wiring(const Node& node, Diagnostics& diagnostics);

/// The wiring of a node with a SKU that it is sold with. Rates come from the node file, else from the SKU, else from
/// the PCIe generation; ConfigError lists every missing rate. What the file leaves open is assumed and recorded in
/// `assumed`: one switch plane; one socket; GPUs in equal consecutive blocks below the PCIe switches, else at the
/// sockets; NICs spread evenly over the PCIe switches, else over the sockets.
[[nodiscard]] NodeWiring wire(const Node& node, const Device& device);

}  // namespace headroom
