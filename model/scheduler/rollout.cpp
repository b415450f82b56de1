// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/scheduler/rollout.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace headroom::scheduler {
namespace {

/// A share of the replicas as a count. Decimals such as 0.29 of 100 lie a rounding beside the whole number that is
/// meant.
std::int64_t count_of(double share, std::int64_t replicas, bool up) {
  const double count = share * real(replicas);
  const double near = std::round(count);
  if (std::abs(count - near) <= 1e-9 * std::max(1.0, near)) {
    return static_cast<std::int64_t>(near);
  }
  return static_cast<std::int64_t>(up ? std::ceil(count) : std::floor(count));
}

struct Replacement {
  Seconds time{};
  std::int64_t least_serving = 0;
};

/// `wrong` of the replicas are replaced: GPUs for `surge` replicas more, `missing` replicas may not serve. Whatever may
/// begin does at once; replicas drain and start in the plan's times.
Replacement replace(const RolloutPlan& plan, std::int64_t wrong, std::int64_t surge, std::int64_t missing) {
  using Event = std::pair<Seconds, bool>;  // whether a replica has started, else one has drained
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::int64_t old = wrong, serving = plan.replicas, slots = surge, to_start = wrong;
  Replacement outcome{{}, serving};
  Seconds now{};
  while (true) {
    for (; slots > 0 && to_start > 0; --slots, --to_start) {
      events.emplace(now + plan.start, true);
    }
    for (; old > 0 && serving > plan.replicas - missing; --old, --serving) {
      events.emplace(now + plan.drain, false);
    }
    outcome.least_serving = std::min(outcome.least_serving, serving);
    if (events.empty()) {
      break;
    }
    now = events.top().first;
    while (!events.empty() && events.top().first == now) {
      (events.top().second ? serving : slots) += 1;
      events.pop();
    }
  }
  outcome.time = now;
  return outcome;
}

}  // namespace

Rollout rollout(const RolloutPlan& plan) {
  Rollout out;
  out.surge = count_of(plan.surge, plan.replicas, true);
  out.unavailable = count_of(plan.unavailable, plan.replicas, false);
  if (out.surge == 0 && out.unavailable == 0) {
    out.unavailable = 1;
  }
  out.spare_gpus_wanted = out.surge * plan.gpus_each;
  out.surge_had = std::min(out.surge, plan.spare_gpus / plan.gpus_each);
  out.stuck = out.surge_had == 0 && out.unavailable == 0;
  const std::int64_t missing = std::min(out.stuck ? out.surge : out.unavailable, plan.replicas);
  out.at_once = std::min(out.surge_had + missing, plan.replicas);
  out.batches = (plan.replicas + out.at_once - 1) / out.at_once;
  const Replacement all = replace(plan, plan.replicas, out.surge_had, missing);
  out.lowest = real(all.least_serving) / real(plan.replicas);
  out.duration = all.time;
  out.rollback = all.time;
  out.rollback_first = replace(plan, out.at_once, out.surge_had, missing).time;
  return out;
}

}  // namespace headroom::scheduler
