// SPDX-License-Identifier: Apache-2.0
// What the driver reports of a device during a measurement: clocks, power, temperature, reasons for throttling. NVML is
// opened at run time; anything it does not report stays empty.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Reading of a device at one moment.
struct DeviceReading {
  std::optional<Hertz> sm_clock, memory_clock;
  std::optional<Watts> power;
  std::optional<std::int64_t> temperature_celsius;
  std::optional<std::uint64_t> throttle;  ///< bits of nvmlClocksEventReasons
  std::optional<std::int64_t> busy_percent;
  std::optional<std::int64_t> pcie_generation, pcie_width;  ///< PCIe link as it runs at that moment
};

/// A process that holds memory of a device.
struct DeviceProcess {
  std::int64_t id = 0;
  std::string name;  ///< empty: not reported
  std::optional<Bytes> memory;
};

/// Properties of a device that do not change during a run.
struct DeviceSettings {
  std::string driver;  ///< "580.82.07"; empty: not reported
  std::string board;   ///< part number
  std::string vbios;
  std::string mark;  ///< 8 digits derived from the UUID, which they do not reveal; distinguishes boards of one kind
  std::optional<Hertz> sm_clock_max, memory_clock_max;
  std::optional<Watts> power_limit, power_limit_default;
  std::optional<bool> ecc, mig;
};

/// Names of the bits, e.g. "sw_power_cap"; "0x..." for unknown bits.
[[nodiscard]] std::vector<std::string> throttle_names(std::uint64_t reasons);

/// The bits that mean reduced clocks: all but gpu_idle.
[[nodiscard]] std::uint64_t slowing(std::uint64_t reasons) noexcept;

/// Source of a device's readings: NVML, or a simulated device.
class DeviceMonitor {
 public:
  DeviceMonitor() = default;
  DeviceMonitor(const DeviceMonitor&) = delete;
  DeviceMonitor& operator=(const DeviceMonitor&) = delete;
  DeviceMonitor(DeviceMonitor&&) = delete;
  DeviceMonitor& operator=(DeviceMonitor&&) = delete;
  virtual ~DeviceMonitor() = default;

  /// Safe to call from several threads.
  [[nodiscard]] virtual DeviceReading read() const = 0;
  [[nodiscard]] virtual DeviceSettings settings() const = 0;
  /// Other processes that compute on the device; also empty when the driver does not report them.
  [[nodiscard]] virtual std::vector<DeviceProcess> others() const = 0;
};

class Nvml final : public DeviceMonitor {
 public:
  /// nullptr without library, driver or such a device, with the reason in `why`.
  [[nodiscard]] static std::unique_ptr<Nvml> open(const std::string& pci_bus_id,
                                                  std::string& why,
                                                  const std::string& library = "libnvidia-ml.so.1");
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  Nvml(Nvml&&) = delete;
  Nvml& operator=(Nvml&&) = delete;
  ~Nvml() override;

  [[nodiscard]] DeviceReading read() const override;
  [[nodiscard]] DeviceSettings settings() const override;
  [[nodiscard]] std::vector<DeviceProcess> others() const override;

 private:
  struct Calls;
  explicit Nvml(std::unique_ptr<Calls> calls);
  std::unique_ptr<Calls> calls_;
};

}  // namespace headroom
