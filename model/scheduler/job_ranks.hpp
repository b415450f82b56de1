// SPDX-License-Identifier: Apache-2.0
// Which of two jobs goes first.
#pragma once

#include <headroom/model/scheduler/cluster_state.hpp>

#include <cstddef>
#include <vector>

namespace headroom::scheduler {

/// The order of jobs' rights under a policy, by job: the lower goes first among jobs of tenants with equal shares.
[[nodiscard]] std::vector<std::size_t> ranks_of(const ClusterQuestion& question, const Policy& policy);

}  // namespace headroom::scheduler
