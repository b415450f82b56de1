// SPDX-License-Identifier: Apache-2.0
// A makespan that no schedule beats.
#pragma once

#include <headroom/model/scheduler/cluster_state.hpp>

#include <vector>

namespace headroom::scheduler {

/// The largest of:
/// - the longest chain of jobs that wait for each other, each on its shortest choice, from the first's arrival;
/// - the area of all jobs over the cluster, and of all that cannot start before a moment, after that moment. Over
/// unlike
///   pools it is the relaxed problem in which a job may be split among its choices (Lenstra, Shmoys and Tardos 1990,
///   section 2), bounded by its dual: any weights of the resources that sum to 1 give one, and the best are approached
///   by multiplicative steps (Plotkin, Shmoys and Tardos 1995). Resources of a pool are its GPUs; its nodes, of which a
///   gang uses one for each part of more than half a node and half a one for each half; and the pool as a whole in the
///   same way, since no two gangs of more than half of it run at once (dual feasible functions: Lueker 1983).
///
/// `counts`: by job, whether it runs at all; one that crashes is counted up to its crash.
[[nodiscard]] Seconds makespan_bound(const ClusterQuestion& question, const std::vector<bool>& counts);

}  // namespace headroom::scheduler
