// SPDX-License-Identifier: Apache-2.0
// One schedule from its first arrival to its last end, event by event.
#pragma once

#include <headroom/model/scheduler/cluster_jobs.hpp>
#include <headroom/model/scheduler/cluster_state.hpp>

#include <cstddef>
#include <vector>

namespace headroom::scheduler {

/// The schedule of schedule() for every order but `shortest`, whose jobs go by `ranks` instead: by job, each number
/// once, the lower first. At each moment ends come before arrivals, and both before what starts. `bound` and `proven`
/// are left unset.
[[nodiscard]] Schedule run_cluster(const ClusterQuestion& question,
                                   const Policy& policy,
                                   const std::vector<std::size_t>& ranks);

}  // namespace headroom::scheduler
