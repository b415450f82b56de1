// SPDX-License-Identifier: Apache-2.0
// Measures a plan, watching the device's clocks, power and throttling meanwhile.
#pragma once

#include <headroom/calibrate/probe/nvml.hpp>
#include <headroom/calibrate/samples/probe_plan.hpp>

#include <functional>
#include <vector>

namespace headroom {

struct ProbeRun {
  std::vector<Sample> samples;
  std::vector<Skipped> skipped;  ///< those of the plan and those the device refused
  DeviceReading before, after;
  std::uint64_t sustained_throttle = 0;  ///< every reason seen during a sustained run
  Seconds lasted{};
};

/// Measures one probe and reads the device's clock right after, or of a sustained run ten times a second meanwhile;
/// every reason that slowed such a run is added to `throttle`. `nvml` may be nullptr.
[[nodiscard]] Measurement measure_watched(
    Prober& prober, const DeviceMonitor* nvml, const Probe& probe, const ProbeEffort& effort, std::uint64_t& throttle);

/// Called before each probe: probes done, probes in all, the one that begins.
using ProbeProgress = std::function<void(std::size_t done, std::size_t all, const Probe& next)>;

/// Measures every probe of the plan in its order. `nvml` may be nullptr: clocks and power stay empty.
/// Throws DeviceError when the device cannot go on.
[[nodiscard]] ProbeRun run_probes(Prober& prober,
                                  const DeviceMonitor* nvml,
                                  const ProbePlan& plan,
                                  const ProbeProgress& progress);

}  // namespace headroom
