// SPDX-License-Identifier: Apache-2.0
// Whether a device is fit to be measured as a SKU.
#pragma once

#include <headroom/calibrate/probe/nvml.hpp>
#include <headroom/calibrate/probe/probe.hpp>

namespace headroom {

/// Throws DeviceError, with the way out: a driver older than the CUDA that the probes were built with, a MIG slice, a
/// device that other processes compute on or that is busy (`shared`: allowed). `monitor` may be nullptr.
void check_device(const ProbeDevice& device, const DeviceMonitor* monitor, bool shared);

}  // namespace headroom
