// SPDX-License-Identifier: Apache-2.0
// How far a job is: stretches of running, what a stop keeps, what a ledger is charged.
#pragma once

#include <headroom/model/scheduler/cluster_jobs.hpp>
#include <headroom/model/scheduler/node_room.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::scheduler {

enum class Stage : std::uint8_t { ahead, waiting, running, over };

/// A job's state between its stretches and in one.
struct JobProgress {
  Stage stage = Stage::ahead;
  std::size_t unmet = 0;         ///< jobs that it waits for
  std::vector<bool> allowed;     ///< by choice: within its tenant's quota and balance
  double kept = 0.0;             ///< share of its work that a stop does not lose
  Seconds ran{};                 ///< in all stretches that are over, restarts included
  double reserved = 0.0;         ///< by the ledger
  double used = 0.0;             ///< of that, by stretches that are over
  std::uint32_t stretches = 0;   ///< begun
  bool crashes = false;          ///< in this stretch
  Seconds from{}, begin{};       ///< of this stretch: GPUs held; running
  Seconds planned_end{}, end{};  ///< of this stretch, as the scheduler expects it, and where nothing stops it
  Seconds restart{};             ///< time of this stretch before work goes on
  std::vector<GpuMap::Run> runs;
  std::vector<NodePart> parts;
};

/// From asking for the GPUs to the end of the work that is left.
[[nodiscard]] Seconds stretch_time(const Job& job, const JobProgress& progress, const Choice& choice, const Pool& pool);

/// Begins a stretch at `now`, whose GPUs are in place already.
void begin_stretch(const Job& job, JobProgress& progress, const Choice& choice, const Pool& pool, Seconds now);

/// Ends it at `now`, before its end, and keeps the work up to the last checkpoint. Returns what is lost: work that has
/// to be done again, and the restart.
[[nodiscard]] Seconds stop_stretch(
    const Job& job, JobProgress& progress, const Choice& choice, const Pool& pool, Seconds now);

/// Ends it at its end. Returns what is lost, the restart.
[[nodiscard]] Seconds end_stretch(JobProgress& progress, const Choice& choice, const Pool& pool);

}  // namespace headroom::scheduler
