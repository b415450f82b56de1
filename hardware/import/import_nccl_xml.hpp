// SPDX-License-Identifier: Apache-2.0
// Reads the topology that NCCL writes to NCCL_TOPO_DUMP_FILE.
#pragma once

#include <headroom/hardware/import/found_host.hpp>

#include <string_view>

namespace headroom {

/// Reads NCCL's topology XML (version 1) or RCCL's (version 2). A device's switch is the outermost PCIe switch above
/// it; NVLinks to PCI class 0x0680 go through NVSwitches. PCIe and NIC rates come from the file, the rate between
/// sockets from NCCL's table of CPUs, NVLink rates from the SKU; `facts` override the last two and fill gaps. Throws
/// ConfigError with every problem at its line and column; for broken XML only the first.
[[nodiscard]] NodeWiring import_nccl_xml(std::string_view text,
                                         const std::string& file,
                                         const Device& device,
                                         const HostFacts& facts);

}  // namespace headroom
