// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/scheduler/cluster_jobs.hpp>
#include <headroom/model/scheduler/cluster_run.hpp>
#include <headroom/model/scheduler/job_ranks.hpp>
#include <headroom/model/scheduler/makespan_bound.hpp>
#include <headroom/model/scheduler/makespan_search.hpp>

#include <algorithm>
#include <cstddef>

namespace headroom::scheduler {

Schedule schedule(const std::vector<Pool>& pools,
                  const std::vector<Tenant>& tenants,
                  const std::vector<Job>& jobs,
                  const Policy& policy) {
  const ClusterQuestion question{pools, tenants, jobs};
  Schedule made = policy.order == Order::shortest ? search_makespan(question, policy)
                                                  : run_cluster(question, policy, {ranks_of(question, policy), {}});
  std::vector<bool> counts;
  for (const JobRun& run : made.runs) {
    counts.push_back(run.outcome != Outcome::refused);
  }
  // Sums of many areas round: a schedule without a gap is its bound.
  const Seconds bound = makespan_bound(question, counts);
  made.proven = made.proven || made.makespan <= bound * (1.0 + 1e-12);
  made.bound = std::min(bound, made.makespan);
  return made;
}

}  // namespace headroom::scheduler
