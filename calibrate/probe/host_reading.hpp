// SPDX-License-Identifier: Apache-2.0
// The host beside a device: its cores, what its memory gives, the PCIe link that the driver sees.
#pragma once

#include <headroom/calibrate/probe/nvml.hpp>
#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <optional>

namespace headroom {

struct HostReading {
  std::int64_t cores = 0;                ///< hardware threads that this process may run on
  std::optional<BytesPerSecond> memory;  ///< best of several triads on all of them; none: not measured
  /// The faster of the two readings around the measurements: an idle link runs slower to save power.
  std::optional<std::int64_t> pcie_generation, pcie_width;
};

/// Hardware threads that this process may run on, at least 1.
[[nodiscard]] std::int64_t usable_cores() noexcept;

/// a = b + 3 c in fp64 over three arrays of `bytes` each, a part to each of `threads` (McCalpin 1995, STREAM): 24 bytes
/// an element, as STREAM counts them, over the fastest of `passes` passes. Every thread touches its part first, so that
/// it lies in memory near to it. Throws std::bad_alloc without that much memory.
[[nodiscard]] BytesPerSecond host_triad(std::int64_t threads, std::int64_t bytes, int passes);

/// Cores and memory bandwidth of this host, in some 0.2 s; the link is filled in by see_link().
[[nodiscard]] HostReading read_host();

/// The link as two readings of a device saw it.
void see_link(HostReading& host, const DeviceReading& before, const DeviceReading& after) noexcept;

}  // namespace headroom
