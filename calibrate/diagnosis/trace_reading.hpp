// SPDX-License-Identifier: Apache-2.0
// Traces of a profiler, one of each rank, as a reading of the run.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/calibrate/traces/device_time.hpp>
#include <headroom/calibrate/traces/timeline.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

/// A rank's GPU over the steps that its trace holds whole.
struct TracedRank {
  std::string file;
  std::optional<std::int64_t> rank;
  std::int32_t device = 0;
  std::string gpu;                ///< as the driver calls it; empty: the trace does not say
  std::int64_t units = 0;         ///< SMs or compute units; 0: not stated
  std::vector<DeviceTime> steps;  ///< the window alone where the trace names no steps
  bool named_steps = false;
  Seconds host_work{};     ///< of a step, in which the thread that launches does anything but wait
  double kernels = 0.0;    ///< of a step
  Seconds kernel{};        ///< mean time of one
  double sm_active = 0.0;  ///< share of the SMs with a block, over all time, from the grids; 0: grids not stated
  std::vector<KernelTotal> names;  ///< over the whole trace
  double collectives = 0.0;        ///< of a step
  Seconds collective{};            ///< mean time of one

  /// Mean over the steps.
  [[nodiscard]] Seconds step() const noexcept;
  [[nodiscard]] Seconds mean(Seconds DeviceTime::*part) const noexcept;
  [[nodiscard]] Seconds mean_idle(IdleCause cause) const noexcept;
};

/// The GPU with the most work; ranges "ProfilerStep#N" are its steps, the first left out where there are more than two,
/// because the profiler starts in it. ConfigError for a trace without work of a GPU.
[[nodiscard]] TracedRank traced_rank(const Timeline& timeline);

/// Parts, utilisation and causes, each with the time of a step without it. Precondition: there is a rank.
[[nodiscard]] RunReading reading_of(std::span<const TracedRank> ranks);

}  // namespace headroom
