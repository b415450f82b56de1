// SPDX-License-Identifier: Apache-2.0
// Reads the matrix that `nvidia-smi topo -m` prints.
#pragma once

#include <headroom/hardware/import/found_host.hpp>

#include <string_view>

namespace headroom {

/// The words of a cell from near to far; cells of NVLinks read NV#. SOC is the older word for SYS.
inline constexpr std::array<std::string_view, 7> topo_words{"X", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC"};

/// Reads the whole output including the legend. GPUs and NICs joined by PIX or PXB share a PCIe switch; NVLinks that
/// sum to more than the SKU has go through switches. Throws ConfigError with every problem at its line and column: no
/// matrix, rows cut short or missing, unknown words, cells that contradict their mirror image, missing rates.
[[nodiscard]] NodeWiring import_topo(std::string_view text,
                                     const std::string& file,
                                     const Device& device,
                                     const HostFacts& facts);

}  // namespace headroom
