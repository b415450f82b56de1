// SPDX-License-Identifier: Apache-2.0
// The host of a device: its cores, its memory bandwidth, and the PCIe link as the driver reports it.
#pragma once

#include <headroom/calibrate/probe/nvml.hpp>
#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <optional>

namespace headroom {

struct HostReading {
  std::int64_t cores = 0;                ///< hardware threads that this process may run on
  std::optional<BytesPerSecond> memory;  ///< best of several triads on all cores; absent: not measured
  /// The faster of the link's readings before and after the measurements, because an idle link slows down to save
  /// power.
  std::optional<std::int64_t> pcie_generation, pcie_width;
};

/// Hardware threads that this process may run on, at least 1.
[[nodiscard]] std::int64_t usable_cores() noexcept;

/// Bandwidth of a = b + 3 c in fp64 over three arrays of `bytes` each, split among `threads` (McCalpin 1995, STREAM):
/// 24 bytes per element over the fastest of `passes` passes. Every thread first touches its own part, so that the part
/// lies in nearby memory. Throws std::bad_alloc when memory is short.
[[nodiscard]] BytesPerSecond host_triad(std::int64_t threads, std::int64_t bytes, int passes);

/// Cores and memory bandwidth of this host, in about 0.2 s; see_link() adds the link.
[[nodiscard]] HostReading read_host();

/// Sets the host's link from two readings of the device.
void see_link(HostReading& host, const DeviceReading& before, const DeviceReading& after) noexcept;

}  // namespace headroom
