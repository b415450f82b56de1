// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/pools/cluster_plan.hpp>
#include <headroom/scenarios/pools/fair_moment.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace headroom::pools {

std::vector<double> max_min_shares(double capacity,
                                   const std::vector<double>& asked,
                                   const std::vector<double>& weights) {
  std::vector<std::size_t> order(asked.size());
  double weight = 0.0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    order[i] = i;
    weight += weights[i];
  }
  // Whoever asks for least of its weight is filled first.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return asked[a] * weights[b] < asked[b] * weights[a]; });
  std::vector<double> shares(asked.size(), 0.0);
  for (const std::size_t i : order) {
    shares[i] = std::min(asked[i], capacity * weights[i] / weight);
    capacity -= shares[i];
    weight -= weights[i];
  }
  return shares;
}

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
  const std::vector<double> fair = max_min_shares(capacity, asked, weights);
  for (std::size_t t = 0; t < tenants; ++t) {
    plan.shares[t].fair = fair[t];
  }
}

}  // namespace headroom::pools
