// SPDX-License-Identifier: Apache-2.0
// The topology that NCCL writes to NCCL_TOPO_DUMP_FILE, as the wiring of a host.
#pragma once

#include <headroom/hardware/import/found_host.hpp>

#include <string_view>

namespace headroom {

/// Reads NCCL's topology XML, version 1, and RCCL's, version 2. The outermost PCIe switch above a device is its switch;
/// NVLinks to class 0x0680 go through NVSwitches. PCIe rates, NIC rates and, by NCCL's table of CPUs, the rate between
/// sockets come from the file, NVLink rates from the SKU; `facts` override the last and fill gaps. Throws ConfigError
/// with every problem at its line and column (a broken document: the first, where its parser stops).
[[nodiscard]] NodeWiring import_nccl_xml(std::string_view text,
                                         const std::string& file,
                                         const Device& device,
                                         const HostFacts& facts);

}  // namespace headroom
