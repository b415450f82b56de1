// SPDX-License-Identifier: Apache-2.0
// Checks whether a device can be measured as its SKU.
#pragma once

#include <headroom/calibrate/probe/nvml.hpp>
#include <headroom/calibrate/probe/probe.hpp>

namespace headroom {

/// Throws DeviceError, with the remedy, for a driver older than the probes' CUDA, a MIG slice, or a device that is busy
/// or used by other processes (unless `shared`). `monitor` may be nullptr.
void check_device(const ProbeDevice& device, const DeviceMonitor* monitor, bool shared);

}  // namespace headroom
