// SPDX-License-Identifier: Apache-2.0
// Measures a plan while reading the device's clocks, power and throttling.
#pragma once

#include <headroom/calibrate/probe/nvml.hpp>
#include <headroom/calibrate/samples/probe_plan.hpp>

#include <functional>
#include <vector>

namespace headroom {

struct ProbeRun {
  std::vector<Sample> samples;
  std::vector<Skipped> skipped;  ///< probes skipped by the plan or refused by the device
  DeviceReading before, after;
  std::uint64_t sustained_throttle = 0;  ///< all throttle reasons seen during sustained runs
  Seconds lasted{};
};

/// Measures one probe and reads the device's clock right after it, or ten times a second during a sustained run;
/// reasons that slowed such a run are added to `throttle`. `nvml` may be nullptr.
[[nodiscard]] Measurement measure_watched(
    Prober& prober, const DeviceMonitor* nvml, const Probe& probe, const ProbeEffort& effort, std::uint64_t& throttle);

/// Called before each probe with the number done, the total, and the next probe.
using ProbeProgress = std::function<void(std::size_t done, std::size_t all, const Probe& next)>;

/// Measures the plan's probes in order. With a null `nvml` clocks and power stay empty. Throws DeviceError when the
/// device cannot continue.
[[nodiscard]] ProbeRun run_probes(Prober& prober,
                                  const DeviceMonitor* nvml,
                                  const ProbePlan& plan,
                                  const ProbeProgress& progress);

}  // namespace headroom
