// SPDX-License-Identifier: Apache-2.0
// A simulated device: times follow the model's equations with constants from a file, with noise, outliers, drift,
// throttling and faults. For rehearsals and tests.
#pragma once

#include <headroom/calibrate/measure/simulated_node.hpp>
#include <headroom/calibrate/probe/nvml.hpp>
#include <headroom/calibrate/probe/probe.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/kernels/memory_ops.hpp>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Contents of the file; docs/calibrate.md describes its keys.
struct SimulatedDevice {
  struct Throttle {
    Seconds from{}, until{};
    double slower = 0.0;  ///< share by which everything is slower in that time
  };
  struct Refusal {
    std::string probe;  ///< prefix of the names of refused probes
    std::string why;
  };

  Device datasheet;
  ProbeDevice facts;
  std::string driver, date, mark;
  std::uint64_t seed = 1;
  GemmCurve gemm{};  ///< curve for every type
  MemoryCurve copy{};
  Seconds stream{}, host{}, graph{}, node{};  ///< a launch, its host part, a graph's replay, each kernel in it
  BytesPerSecond pinned{}, pageable{};        ///< rates of the host link; zero: no transfers are simulated
  Seconds transfer{};                         ///< time of a transfer besides its bytes
  /// Of [unit]: a load from memory, a sync of one CTA, what each further CTA adds to it, an atomic add behind another
  /// at its address, and the rate of all atomic adds; zero: what needs it is not simulated.
  Seconds load{}, sync{}, arrival{}, update{};
  Hertz updates{};
  SimulatedNode others;         ///< other GPUs of the node, for collectives
  double noise = 0.0;           ///< standard deviation of a span's logarithm
  double outliers = 0.0;        ///< share of the spans that are outliers, 0 to 1
  double outlier_factor = 1.0;  ///< time of the slowest outlier over an ordinary span
  double drift = 0.0;           ///< share by which the device finally becomes slower
  Seconds drift_time{1.0};      ///< time constant of the drift: 63 % of it has happened by then
  std::vector<Throttle> throttles;
  Bytes most_memory{};          ///< most memory of a probe; zero: the free memory
  std::int64_t lost_after = 0;  ///< measurements of one process before the device is lost; zero: never
  std::string hangs_at;         ///< name of the probe at which the device hangs
  bool unsynchronised = false;  ///< whether the timer fails to wait for the device
  std::vector<Refusal> refusals;
  std::vector<DeviceProcess> processes;
  bool mig = false;
  Seconds pace{};  ///< real time that each measurement sleeps
};

/// Seconds of one launch of the probes in probe_kinds.hpp on an idle device, by the equations of model/kernels:
/// attention and decode with their curves' priors, passes with the curve of copies. nullopt when it is not simulated.
[[nodiscard]] std::optional<double> simulated_time(const SimulatedDevice& device, const AttentionProbe& probe);
[[nodiscard]] std::optional<double> simulated_time(const SimulatedDevice& device, const DecodeProbe& probe);
[[nodiscard]] std::optional<double> simulated_time(const SimulatedDevice& device, const PassProbe& probe);
[[nodiscard]] std::optional<double> simulated_time(const SimulatedDevice& device, const TransferProbe& probe);
/// By the closed forms of unit_laws.hpp, on the datasheet's clock and fp32 rate.
[[nodiscard]] std::optional<double> simulated_time(const SimulatedDevice& device, const UnitProbe& probe);

/// Reads the file. Throws ConfigError with every problem.
[[nodiscard]] SimulatedDevice read_simulated_device(const ConfigValue& document,
                                                    const std::string& file,
                                                    const Catalog& catalog);

/// Prober and monitor of a simulated device. A measurement's result depends only on probe, round and clock.
class SimulatedProber final : public Prober, public DeviceMonitor {
 public:
  /// `begun`: initial clock, the time that a resumed calibration had spent.
  SimulatedProber(SimulatedDevice device, Seconds begun);

  [[nodiscard]] const ProbeDevice& device() const noexcept override { return device_.facts; }
  Measurement measure(const Probe& probe, const ProbeEffort& effort) override;
  [[nodiscard]] Seconds clock() const override { return Seconds{now_.load()}; }

  [[nodiscard]] DeviceReading read() const override;
  [[nodiscard]] DeviceSettings settings() const override;
  [[nodiscard]] std::vector<DeviceProcess> others() const override { return device_.processes; }

 private:
  [[nodiscard]] double slowness(double at) const noexcept;

  SimulatedDevice device_;
  std::atomic<double> now_;
  std::int64_t measured_ = 0;
};

}  // namespace headroom
