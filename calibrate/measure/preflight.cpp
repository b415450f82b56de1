// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/measure/preflight.hpp>
#include <headroom/core/quantity_text.hpp>

#include <cstdlib>

namespace headroom {
namespace {

/// Major version: 13 for "13.0"; 0 for other text. Minor versions of one major version are compatible (CUDA
/// Compatibility, minor version compatibility).
int major_of(const std::string& version) {
  return static_cast<int>(std::strtol(version.c_str(), nullptr, 10));
}

std::string names_of(const std::vector<DeviceProcess>& processes) {
  constexpr std::size_t shown = 3;
  std::string text;
  for (std::size_t i = 0; i < processes.size() && i < shown; ++i) {
    const DeviceProcess& p = processes[i];
    text += (i == 0 ? "" : ", ") + (p.name.empty() ? std::string{"process"} : p.name) + " (" + std::to_string(p.id) +
            (p.memory ? ", " + format(*p.memory) : "") + ")";
  }
  return text + (processes.size() > shown ? " and " + std::to_string(processes.size() - shown) + " more" : "");
}

}  // namespace

void check_device(const ProbeDevice& device, const DeviceMonitor* monitor, bool shared) {
  if (major_of(device.cuda_driver) < major_of(device.cuda_runtime)) {
    throw DeviceError{"the driver knows CUDA " + device.cuda_driver + ", the probes were built with CUDA " +
                      device.cuda_runtime + "; update the driver, or build with a toolkit of CUDA " +
                      std::to_string(major_of(device.cuda_driver))};
  }
  const bool slice = device.name.find(" MIG ") != std::string::npos;
  if (slice || (monitor != nullptr && monitor->settings().mig.value_or(false))) {
    throw DeviceError{device.name +
                      " is cut into MIG slices, and a slice is no SKU; calibrate a GPU with MIG off "
                      "(headroom changes no setting of it)"};
  }
  if (shared || monitor == nullptr) {
    return;
  }
  const std::vector<DeviceProcess> others = monitor->others();
  if (!others.empty()) {
    throw DeviceError{device.name + " is in use by " + names_of(others) +
                      "; wait for it, take another with --device, or measure beside it with --share"};
  }
  constexpr std::int64_t idle_percent = 50;  // opening a device may itself show as load for one sampling period
  const std::int64_t busy = monitor->read().busy_percent.value_or(0);
  if (busy > idle_percent) {
    throw DeviceError{device.name + " is " + std::to_string(busy) +
                      " % busy with work of a process that the driver does not name; wait for it, take another with "
                      "--device, or measure beside it with --share"};
  }
}

}  // namespace headroom
