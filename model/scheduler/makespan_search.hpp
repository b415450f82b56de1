// SPDX-License-Identifier: Apache-2.0
// A short makespan, whatever order of the jobs it takes.
#pragma once

#include <headroom/model/scheduler/cluster_jobs.hpp>
#include <headroom/model/scheduler/cluster_state.hpp>

namespace headroom::scheduler {

/// The schedule of the shortest makespan found, of those that refuse the fewest jobs, and whether branch and bound
/// proved that none is shorter (`proven`). Tried are the schedules of Order::backfill and Order::fair; list schedules
/// with the longest, the largest area and the largest gang first; what branch and bound finds, where exact_applies();
/// without its proof lists in which the job that ended last, or any, stands elsewhere or is held to another choice,
/// each kept where it is no longer than the last. Policy::search_steps counts nodes that are held, so that the answer
/// is the same on any machine.
[[nodiscard]] Schedule search_makespan(const ClusterQuestion& question, const Policy& policy);

}  // namespace headroom::scheduler
