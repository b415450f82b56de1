// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/scheduler/fair_shares.hpp>
#include <headroom/scenarios/pools/cluster_plan.hpp>
#include <headroom/scenarios/pools/fair_moment.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace headroom::pools {

void add_fair_shares(ClusterPlan& plan) {
  struct Event {
    double at;
    std::int64_t gpus;
  };
  std::vector<Event> events;
  const auto asks = [&](std::size_t i) { return plan.jobs[i].choices[plan.schedule.runs[i].choice].gpus; };
  const auto ran = [&](std::size_t i) { return plan.schedule.runs[i].outcome != scheduler::Outcome::refused; };
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    if (ran(i)) {
      events.push_back({plan.schedule.runs[i].ready.raw(), asks(i)});
      events.push_back({plan.schedule.runs[i].end.raw(), -asks(i)});
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.at < b.at || (a.at == b.at && a.gpus < b.gpus); });
  std::int64_t now = 0, most = 0;
  double fullest = 0.0;
  for (const Event& event : events) {
    now += event.gpus;
    if (now > most) {
      most = now;
      fullest = event.at;
    }
  }
  const std::size_t tenants = plan.question.tenants.size();
  plan.fullest = Seconds{fullest};
  plan.shares.assign(tenants, {});
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const scheduler::JobRun& run = plan.schedule.runs[i];
    if (ran(i) && run.ready.raw() <= fullest && fullest < run.end.raw()) {
      plan.shares[plan.jobs[i].tenant].asked += asks(i);
    }
  }
  for (const scheduler::Hold& hold : plan.schedule.holds) {
    if (hold.from.raw() <= fullest && fullest < hold.to.raw()) {
      plan.shares[plan.jobs[hold.job].tenant].got += hold.gpus;
    }
  }
  double capacity = 0.0;
  for (const AskedPool& pool : plan.question.pools) {
    capacity += pool.pool.rented ? 0.0 : real(pool.pool.gpus());
  }
  std::vector<double> asked, weights;
  for (std::size_t t = 0; t < tenants; ++t) {
    asked.push_back(real(plan.shares[t].asked));
    weights.push_back(plan.question.tenants[t].weight);
  }
  const std::vector<double> fair = scheduler::fair_shares(asked, weights, capacity);
  std::vector<double> reached;
  for (std::size_t t = 0; t < tenants; ++t) {
    plan.shares[t].fair = fair[t];
    if (fair[t] > 0.0) {
      reached.push_back(real(plan.shares[t].got) / fair[t]);
    }
  }
  plan.jain = scheduler::jain_index(reached);
}

}  // namespace headroom::pools
