// SPDX-License-Identifier: Apache-2.0
// The shortest makespan of a few jobs, by trying what could be shorter.
#pragma once

#include <headroom/model/scheduler/cluster_run.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace headroom::scheduler {

struct ExactMakespan {
  Seconds makespan{};
  bool proven = false;               ///< else the steps ran out first
  std::vector<PlannedStart> starts;  ///< in their order; empty: nothing shorter than `below` was found
};

/// Whether the search applies: 1 to `exact_jobs` jobs of one priority, none of which crashes, without a ledger.
inline constexpr std::size_t exact_jobs = 8;
[[nodiscard]] bool exact_applies(const ClusterQuestion& question);

/// Branch and bound over schedules in which no job is stopped (Land and Doig 1960). Jobs are placed in the order of
/// their starts, each as early as its place allows, on one of its choices; such schedules hold a shortest one, since
/// each job of any schedule, taken in that order, can start as early as the GPUs that it has there allow without
/// delaying those behind it. Given a start, all GPUs that are free by then are alike for whatever starts later, and so
/// are nodes with equal times once earlier ones are lifted to it, so that of alike nodes one is tried.
/// Cut: what cannot end before the best schedule so far, by the jobs' chains and by the area that is left; of alike
/// jobs all orders but one.
///
/// Only schedules with a makespan below `below` are looked for, in at most `steps` placements.
/// Preconditions: as of schedule(); exact_applies(); each job has a choice within its tenant's quota.
[[nodiscard]] ExactMakespan exact_makespan(const ClusterQuestion& question, Seconds below, std::int64_t steps);

}  // namespace headroom::scheduler
