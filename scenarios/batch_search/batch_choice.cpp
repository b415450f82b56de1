// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/batch_search/batch_choice.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace headroom {
namespace {

struct Tried {
  BatchChoice choice;
  std::optional<BatchPlan> plan;
};

[[nodiscard]] Tried tried(BatchCandidate candidate) {
  Tried one;
  one.choice = {
      candidate.gpu, candidate.engine, candidate.precision, candidate.instances, 0, false, candidate.why, {}, {}, 0.0};
  if (!candidate.scenario) {
    return one;
  }
  one.plan = make_batch_plan(*std::move(candidate.scenario));
  const BatchPlan& plan = *one.plan;
  one.choice.holds = plan.feasible();
  if (plan.book.points.empty() || !plan.book.points.front().fits) {
    one.choice.why = "one sample needs " + format(plan.book.points.front().memory) + " of " +
                     format(plan.scenario.device.visible_capacity().value);
  } else if (plan.job) {
    one.choice.gpus = plan.job->gpus;
    one.choice.why = plan.job->why;
    one.choice.per_million = plan.job->per_million;
  } else if (plan.online) {
    one.choice.gpus = plan.online->gpus;
    one.choice.why = plan.online->why;
    one.choice.per_million = plan.online->per_million;
  } else if (plan.closed) {
    one.choice.gpus = 1;
    if (plan.scenario.money.price) {
      one.choice.per_million = cost_per_million(*plan.scenario.money.price, Hertz{plan.closed->loop.rate});
    }
  }
  for (const CallPoint& point : plan.book.points) {
    if (point.fits && point.roof) {
      one.choice.roof = std::max(one.choice.roof, real(point.batch) / point.roof->raw());
    }
  }
  if (one.choice.per_million) {
    one.choice.per_dollar = 1e6 / one.choice.per_million->raw();
  }
  return one;
}

}  // namespace

BatchPlan choose_plan(std::vector<BatchCandidate> candidates) {
  std::vector<Tried> all;
  all.reserve(candidates.size());
  for (BatchCandidate& candidate : candidates) {
    all.push_back(tried(std::move(candidate)));
  }
  // What holds first, then what has a price, then the least of it, then the fewest GPUs, then as they are listed.
  std::stable_sort(all.begin(), all.end(), [](const Tried& a, const Tried& b) {
    const auto order = [](const Tried& t) {
      const auto dollars = t.choice.per_million ? t.choice.per_million->raw() : 0.0;
      return std::tuple{!t.plan, !t.choice.holds, !t.choice.per_million, dollars, t.choice.gpus};
    };
    return order(a) < order(b);
  });
  if (all.empty() || !all.front().plan) {
    throw ConfigError{all.empty() ? std::string{"[search] lists nothing to choose from"}
                                  : "none of what [search] lists can be asked about; of " + all.front().choice.gpu +
                                        ": " + all.front().choice.why};
  }
  BatchPlan taken = *std::move(all.front().plan);
  for (Tried& each : all) {
    taken.choices.push_back(std::move(each.choice));
  }
  return taken;
}

}  // namespace headroom
