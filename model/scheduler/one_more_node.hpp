// SPDX-License-Identifier: Apache-2.0
// What another node of each pool would bring.
#pragma once

#include <headroom/model/scheduler/cluster_jobs.hpp>

#include <vector>

namespace headroom::scheduler {

/// The schedule with one node more of a pool, less the schedule without: below 0 is sooner, or cheaper. A longer
/// makespan is no error: a list schedule can grow with its machines (Graham 1969, section 2).
struct OneMoreNode {
  Seconds makespan{}, mean_wait{}, p95_wait{};
  Dollars cost{};
};

/// By pool. `base`: the schedule of the same question, so that it is not made again.
[[nodiscard]] std::vector<OneMoreNode> value_of_one_more_node(const std::vector<Pool>& pools,
                                                              const std::vector<Tenant>& tenants,
                                                              const std::vector<Job>& jobs,
                                                              const Policy& policy,
                                                              const Schedule& base);

}  // namespace headroom::scheduler
