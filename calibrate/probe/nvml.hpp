// SPDX-License-Identifier: Apache-2.0
// What the driver says of a device while it is measured: clocks, power, temperature, why it throttles. NVML is opened
// at run time; whatever it does not tell stays empty.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// One moment of a device.
struct DeviceReading {
  std::optional<Hertz> sm_clock, memory_clock;
  std::optional<Watts> power;
  std::optional<std::int64_t> temperature_celsius;
  std::optional<std::uint64_t> throttle;  ///< bits of nvmlClocksEventReasons
  std::optional<std::int64_t> busy_percent;
  std::optional<std::int64_t> pcie_generation, pcie_width;  ///< of the link as it runs now
};

/// A process that holds memory of a device.
struct DeviceProcess {
  std::int64_t id = 0;
  std::string name;  ///< empty: not told
  std::optional<Bytes> memory;
};

/// What holds for a whole run.
struct DeviceSettings {
  std::string driver;  ///< "580.82.07"; empty: not told
  std::string board;   ///< part number
  std::string vbios;
  std::string mark;  ///< 8 digits made from the UUID, which they do not give away: tells two boards of a kind apart
  std::optional<Hertz> sm_clock_max, memory_clock_max;
  std::optional<Watts> power_limit, power_limit_default;
  std::optional<bool> ecc, mig;
};

/// "sw_power_cap", "hw_thermal_slowdown"; a bit without a name is "0x...".
[[nodiscard]] std::vector<std::string> throttle_names(std::uint64_t reasons);

/// The reasons that lower clocks below what the device could run at: all but gpu_idle.
[[nodiscard]] std::uint64_t slowing(std::uint64_t reasons) noexcept;

/// Who watches a device: NVML, or a simulated device itself.
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
  /// Who else computes on the device; empty also where the driver does not tell.
  [[nodiscard]] virtual std::vector<DeviceProcess> others() const = 0;
};

class Nvml final : public DeviceMonitor {
 public:
  /// nullptr when there is no library, no driver or no such device; `why` says which.
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
