// SPDX-License-Identifier: Apache-2.0
// Causes that the graphs of a run show, each with the time of a step without it, by running the graphs again.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/calibrate/diagnosis/run_replay.hpp>
#include <headroom/calibrate/diagnosis/trace_reading.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

/// What the finders of causes share.
struct TracedRun {
  std::span<const TracedRank> ranks;
  const RunReplay& replay;
  Seconds step{};  ///< mean
  RunReading& reading;

  [[nodiscard]] const RankGraph& graph(std::size_t rank) const { return replay.graph(rank); }
  [[nodiscard]] std::string who(std::size_t rank) const;
  /// Adds a cause whose cure leaves `ratio` of the time; nothing where that is no more than steps differ by. `lost`:
  /// share of the time that it explains where others explain a part of what its cure saves; negative: all that.
  void add(CauseKind kind,
           double ratio,
           std::string says,
           std::string cure,
           double lost = -1.0,
           std::vector<std::string> evidence = {});
};

/// Below this share of a step a cause is not named: steps of one run differ by as much.
inline constexpr double least_share = 0.03;

void add_host_causes(TracedRun& run);     ///< samples, waits, launches, program, stops, memory
void add_traffic_causes(TracedRun& run);  ///< messages and copies
void add_rank_causes(TracedRun& run);     ///< ranks and steps that are slower than others; who waits for whom
void add_kernel_causes(TracedRun& run);   ///< what kernels are and how they fill the GPU
/// A run that hung: a rank that stopped, or sent something else than the others.
void add_hangs(TracedRun& run);

}  // namespace headroom
