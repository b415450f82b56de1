// SPDX-License-Identifier: Apache-2.0
// A device that does not exist: times follow the project's own equations with constants that a file states, under
// noise, outliers, drift, throttling and faults. For rehearsals, and for the tests of everything behind a probe.
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

/// What the file states; keys are in docs/calibrate.md.
struct SimulatedDevice {
  struct Throttle {
    Seconds from{}, until{};
    double slower = 0.0;  ///< share by which everything is slower meanwhile
  };
  struct Refusal {
    std::string probe;  ///< begin of the names it refuses
    std::string why;
  };

  Device datasheet;
  ProbeDevice facts;
  std::string driver, date, mark;
  std::uint64_t seed = 1;
  GemmCurve gemm{};  ///< of every type
  MemoryCurve copy{};
  Seconds stream{}, host{}, graph{}, node{};  ///< a launch, the host's part of it, a replay, each kernel of one
  BytesPerSecond pinned{}, pageable{};        ///< of the host link; zero: no transfers are simulated
  Seconds transfer{};                         ///< what each transfer takes beside its bytes
  SimulatedNode others;                       ///< GPUs beside it, for collectives
  double noise = 0.0;                         ///< standard deviation of a span's logarithm
  double outliers = 0.0;                      ///< share of spans
  double outlier_factor = 1.0;                ///< the slowest of them, over an ordinary one
  double drift = 0.0;                         ///< share by which the device is slower in the end
  Seconds drift_time{1.0};                    ///< after which 63 % of it has come
  std::vector<Throttle> throttles;
  Bytes most_memory{};          ///< what a probe may take; zero: what is free
  std::int64_t lost_after = 0;  ///< measurements of one process; zero: never
  std::string hangs_at;         ///< name of a probe
  bool unsynchronised = false;  ///< its timer does not wait
  std::vector<Refusal> refusals;
  std::vector<DeviceProcess> processes;
  bool mig = false;
  Seconds pace{};  ///< of a real clock, slept in every measurement
};

/// Seconds of one launch of the kinds of probe_kinds.hpp on a rested device, by the equations of model/kernels:
/// attention and decode with the priors of their curves, passes with the curve of copies. nullopt: it is not simulated.
[[nodiscard]] std::optional<double> simulated_time(const SimulatedDevice& device, const AttentionProbe& probe);
[[nodiscard]] std::optional<double> simulated_time(const SimulatedDevice& device, const DecodeProbe& probe);
[[nodiscard]] std::optional<double> simulated_time(const SimulatedDevice& device, const PassProbe& probe);
[[nodiscard]] std::optional<double> simulated_time(const SimulatedDevice& device, const TransferProbe& probe);

/// Reads the form; every problem at once as a ConfigError.
[[nodiscard]] SimulatedDevice read_simulated_device(const ConfigValue& document,
                                                    const std::string& file,
                                                    const Catalog& catalog);

/// Both sides of a simulated device. What a measurement gives follows from the probe, its round and the clock alone.
class SimulatedProber final : public Prober, public DeviceMonitor {
 public:
  /// `begun` is where its clock starts: the time that a calibration resumed had spent.
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
