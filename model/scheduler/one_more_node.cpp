// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/scheduler/one_more_node.hpp>

#include <cstddef>

namespace headroom::scheduler {

std::vector<OneMoreNode> value_of_one_more_node(const std::vector<Pool>& pools,
                                                const std::vector<Tenant>& tenants,
                                                const std::vector<Job>& jobs,
                                                const Policy& policy,
                                                const Schedule& base) {
  std::vector<OneMoreNode> values;
  for (std::size_t p = 0; p < pools.size(); ++p) {
    std::vector<Pool> grown = pools;
    ++grown[p].nodes;
    const Schedule with = schedule(grown, tenants, jobs, policy);
    values.push_back({with.makespan - base.makespan, with.mean_wait - base.mean_wait, with.p95_wait - base.p95_wait,
                      with.cost - base.cost});
  }
  return values;
}

}  // namespace headroom::scheduler
