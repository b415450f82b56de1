// SPDX-License-Identifier: Apache-2.0
// Traces of a profiler, one of each rank, as a reading of the run.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/calibrate/diagnosis/rank_graph.hpp>
#include <headroom/calibrate/traces/device_time.hpp>
#include <headroom/calibrate/traces/timeline.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// What a GPU can do at most, of the catalog.
struct GpuAbility {
  FlopsPerSecond tensor{};  ///< of the tensor cores in bf16, dense
  FlopsPerSecond plain{};   ///< of the ordinary units in fp32
};

/// A rank's GPU over the steps that its trace holds whole.
struct TracedRank {
  std::string file;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world;  ///< ranks of the job; unset: the trace does not say
  std::int32_t device = 0;
  std::string gpu;                         ///< as the driver calls it; empty: the trace does not say
  std::int64_t units = 0;                  ///< SMs or compute units; 0: not stated
  std::optional<GpuAbility> ability = {};  ///< where the catalog knows the GPU
  std::vector<DeviceTime> steps;           ///< the window alone where the trace names no steps
  bool named_steps = false;
  RankGraph graph;         ///< of the same windows
  double sm_active = 0.0;  ///< share of the SMs with a block, over all time, from the grids; 0: grids not stated
  std::vector<KernelTotal> names;  ///< over the whole trace

  /// Mean over the steps.
  [[nodiscard]] Seconds step() const noexcept;
  [[nodiscard]] Seconds mean(Seconds DeviceTime::*part) const noexcept;
  [[nodiscard]] Seconds mean_idle(IdleCause cause) const noexcept;
};

/// The GPU with the most work. Ranges "ProfilerStep#N" are its steps, each from the end of the one before to its own,
/// so that the wait before its first kernel belongs to it; the first is left out, because the profiler starts in it.
/// ConfigError for a trace without work of a GPU.
[[nodiscard]] TracedRank traced_rank(const Timeline& timeline);
/// The same of a timeline that nobody else needs, in less memory.
[[nodiscard]] TracedRank traced_rank(Timeline&& timeline);

/// Parts, utilisation and causes, each with the time of a step without it. Precondition: there is a rank. ConfigError
/// for ranks that have no step in common.
[[nodiscard]] RunReading reading_of(std::span<const TracedRank> ranks);

}  // namespace headroom
