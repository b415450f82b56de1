// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/scheduler/cluster_jobs.hpp>
#include <headroom/model/scheduler/cluster_run.hpp>
#include <headroom/model/scheduler/dispatcher.hpp>

namespace headroom::scheduler {

Schedule schedule(const std::vector<Pool>& pools,
                  const std::vector<Tenant>& tenants,
                  const std::vector<Job>& jobs,
                  const Policy& policy) {
  const ClusterQuestion question{pools, tenants, jobs};
  return run_cluster(question, policy, ranks_of(question, policy));
}

}  // namespace headroom::scheduler
