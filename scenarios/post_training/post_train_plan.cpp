// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/post_training/post_train_plan.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace headroom {
namespace {

/// GPUs of a rollout pool that are tried: eighths of all in whole hosts, or in whole GPUs where there are few.
std::vector<std::int64_t> rollout_pools(const PostTrainQuestion& q) {
  if (q.rollout_device) {
    return {q.rollout_device_gpus};
  }
  if (q.rollout_gpus > 0) {
    return {q.rollout_gpus};
  }
  const std::int64_t host = std::min<std::int64_t>(q.per_node, 8);
  const std::int64_t unit = q.gpus >= 4 * host ? host : std::max<std::int64_t>(1, q.gpus / 8);
  const std::int64_t step = std::max(unit, q.gpus / 8 / unit * unit);
  std::vector<std::int64_t> all;
  for (std::int64_t gpus = step; gpus < q.gpus; gpus += step) {
    all.push_back(gpus);
  }
  return all;
}

std::vector<PostTrainFlow> flows_of(const PostTrainQuestion& q) {
  std::vector<PostTrainFlow> all;
  const auto add = [&](PostTrainPlacement placement, PostTrainOrder order, double staleness, bool partial) {
    if ((!q.placement || *q.placement == placement) && (!q.order || *q.order == order)) {
      all.push_back({placement, order, staleness, partial, q.parts, {}});
    }
  };
  const bool unlike = q.rollout_device.has_value();
  if (!unlike) {
    add(PostTrainPlacement::colocated, PostTrainOrder::synchronous, 0.0, false);
  }
  if (form_of(q.algorithm).samples) {
    add(PostTrainPlacement::split, PostTrainOrder::synchronous, 0.0, false);
    add(PostTrainPlacement::split, PostTrainOrder::one_step_off, 1.0, false);
    add(PostTrainPlacement::split, PostTrainOrder::asynchronous, q.staleness > 0.0 ? q.staleness : 1.0, q.partial);
  }
  if (q.placement == PostTrainPlacement::hybrid) {
    add(PostTrainPlacement::hybrid, PostTrainOrder::synchronous, 0.0, false);
  }
  return all;
}

/// Fastest first, impossible ones last.
bool before(const PostTrainWay& a, const PostTrainWay& b) noexcept {
  return a.possible != b.possible ? a.possible : a.step.step < b.step.step;
}

/// What a split loses its time to.
std::string loss_of(const PostTrainWay& way) {
  return way.step.age_binds       ? "the bound on age binds"
         : way.step.rollout_binds ? "the rollout binds, and trainers wait " + percent(way.step.train_idle) + " of it"
                                  : "training binds, and engines wait " + percent(way.step.rollout_idle) + " of it";
}

void explain_losers(PostTrainPlan& plan) {
  const PostTrainWay& best = plan.ways[*plan.taken];
  for (PostTrainWay& way : plan.ways) {
    if (&way == &best || !way.possible) {
      continue;
    }
    const std::string ratio = format_number(way.step.step / best.step.step) + " times the step: ";
    if (way.flow.placement != PostTrainPlacement::split) {
      way.why_not = ratio + "rollout and training take turns, and " +
                    format(way.phases[Phase::swap] + way.phases[Phase::sync]) + " of each step go to the change";
    } else {
      way.why_not = ratio + loss_of(way);
    }
  }
}

/// Mean draw: engines read memory while they decode, trainers multiply, and what waits waits.
void set_power(PostTrainPlan& plan) {
  const PostTrainQuestion& q = plan.question;
  const PostTrainWay& way = plan.ways[*plan.taken];
  const PowerForm& form = power_form(q.sources->data);
  const std::optional<GpuPower> power = gpu_power(q.device, nullptr, q.power_cap, form);
  if (q.rollout_device) {
    plan.notes.emplace_back("energy is not told of pools of two SKUs");
    return;
  }
  if (!power) {
    return;
  }
  const double all = static_cast<double>(way.gpus) * way.step.step.raw();
  const double decodes = static_cast<double>(way.rollout_gpus) * way.step.rollout_busy.raw() / all;
  const double trains =
      static_cast<double>(way.train_gpus) *
      (way.phases[Phase::train] + way.phases[Phase::logprob] + way.phases[Phase::reference] + way.phases[Phase::critic])
          .raw() /
      all;
  EnergyWork work;
  work.gpus = static_cast<double>(way.gpus);
  work.gpus_per_node = static_cast<double>(q.per_node);
  work.shares[static_cast<std::size_t>(Draw::memory)] = std::min(1.0, decodes);
  work.shares[static_cast<std::size_t>(Draw::matrix)] = std::min(1.0 - std::min(1.0, decodes), trains);
  work.shares[static_cast<std::size_t>(Draw::waiting)] =
      std::max(0.0, 1.0 - work.shares[static_cast<std::size_t>(Draw::memory)] -
                        work.shares[static_cast<std::size_t>(Draw::matrix)]);
  work.step = way.step.step;
  work.run = plan.run.value_or(Seconds{});
  work.items = plan.run ? q.steps * plan.samples_per_s * way.step.step.raw() : 0.0;
  work.rate = Hertz{plan.samples_per_s};
  work.width = q.software.width(PostTrainFigure::step);
  plan.power = energy_of(*power, 1.0, q.energy, work);
}

void set_money(PostTrainPlan& plan) {
  const PostTrainQuestion& q = plan.question;
  const PostTrainWay& way = plan.ways[*plan.taken];
  if (!q.money.price) {
    return;
  }
  plan.price = static_cast<double>(way.gpus) * *q.money.price;
  if (q.rollout_device && q.rollout_price) {
    plan.price =
        static_cast<double>(q.gpus) * *q.money.price + static_cast<double>(q.rollout_device_gpus) * *q.rollout_price;
  }
  plan.step_cost = *plan.price * way.step.step;
  plan.samples_per_dollar = static_cast<double>(q.answers()) / plan.step_cost->raw();
  plan.tokens_per_dollar = plan.tokens_per_s * way.step.step.raw() / plan.step_cost->raw();
  if (plan.run) {
    plan.run_cost = *plan.price * *plan.run;
  }
}

/// What bounds on age leave of the step of the best split: from none to what no longer helps.
void set_staleness(PostTrainPlan& plan, PoolPrices& prices) {
  const auto split = std::find_if(plan.ways.begin(), plan.ways.end(), [](const PostTrainWay& way) {
    return way.possible && way.flow.placement != PostTrainPlacement::colocated &&
           way.flow.order == PostTrainOrder::asynchronous;
  });
  if (split == plan.ways.end()) {
    return;
  }
  PostTrainQuestion& q = plan.question;
  const double asked = q.staleness;
  for (const double bound : {0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0}) {
    q.staleness = bound;
    PostTrainFlow flow = split->flow;
    flow.staleness = bound;
    flow.partial = false;
    const PostTrainWay way = price_way(q, prices, flow, split->rollout_gpus);
    plan.staleness.push_back({bound, way.step.step,
                              way.step.age_binds       ? PostTrainBinds::age
                              : way.step.rollout_binds ? PostTrainBinds::rollout
                                                       : PostTrainBinds::train});
  }
  q.staleness = asked;
  // What answers that outlast new weights save of a synchronous batch on the same pools.
  PostTrainFlow flow = split->flow;
  flow.partial = true;
  plan.partial_saves =
      std::max(Seconds{}, plan.staleness.front().step - price_way(q, prices, flow, split->rollout_gpus).step.step);
}

/// A step more and a step less of what the taken way chose.
void set_neighbours(PostTrainPlan& plan, PoolPrices& prices) {
  PostTrainQuestion& q = plan.question;
  const PostTrainWay& best = plan.ways[*plan.taken];
  const auto add = [&](const std::string& change, const PostTrainWay& way) {
    PostTrainNeighbour near{change, way.possible, way.step.step, way.why_not};
    if (way.possible) {
      const double ratio = way.step.step / best.step.step;
      near.why_not = format_number(ratio) + " times the step: " +
                     (way.flow.placement == PostTrainPlacement::split
                          ? loss_of(way)
                          : format(way.phases[Phase::rollout]) + " sample and " +
                                format(way.step.step - way.phases[Phase::rollout]) + " do the rest");
    }
    plan.neighbours.push_back(std::move(near));
  };
  if (best.flow.placement == PostTrainPlacement::split && !q.rollout_device) {
    const std::vector<std::int64_t> pools = rollout_pools(q);
    const auto at = std::find(pools.begin(), pools.end(), best.rollout_gpus);
    for (const int step : {-1, 1}) {
      if (at == pools.end() || (step < 0 && at == pools.begin()) || (step > 0 && at + 1 == pools.end())) {
        continue;
      }
      const std::int64_t pool = *(at + step);
      add("rollout_gpus " + std::to_string(pool), price_way(q, prices, best.flow, pool));
    }
  }
  if (best.engine_tp > 0 && q.rollout_tp == 0) {
    for (const std::int64_t tp : {best.engine_tp / 2, best.engine_tp * 2}) {
      if (tp >= 1 && tp <= best.rollout_gpus) {
        q.rollout_tp = tp;
        add("rollout_tp " + std::to_string(tp), price_way(q, prices, best.flow, best.rollout_gpus));
        q.rollout_tp = 0;
      }
    }
  }
}

PostTrainPlan balanced_plan(PostTrainQuestion question) {
  PostTrainPlan plan;
  double flow = 0.0;
  for (const BalancedStage& stage : question.stages) {
    flow = std::max(flow, stage.demand / stage.units);
  }
  plan.balance = flow > 0.0 && question.gpus == 0 ? std::optional{stages_for(question.stages, flow)}
                                                  : balance_stages(question.stages, question.gpus);
  if (plan.balance && question.stage_demand > 0.0) {
    plan.stage_time = Seconds{question.stage_demand / plan.balance->flow};
  }
  plan.question = std::move(question);
  plan.notes = plan.question.assumptions;
  if (flow > 0.0 && plan.question.gpus > 0) {
    std::int64_t needed = 0;
    for (const StageShare& share : stages_for(plan.question.stages, flow).stages) {
      needed += share.gpus;
    }
    plan.notes.push_back("what the stages have to reach asks for " + counted(needed, "GPU") + ", and " +
                         counted(plan.question.gpus, "GPU") + (plan.question.gpus == 1 ? " is" : " are") + " stated");
  }
  return plan;
}

}  // namespace

std::string way_words(const PostTrainWay& way) {
  std::string text{name_of(way.flow.placement)};
  if (way.flow.placement != PostTrainPlacement::colocated) {
    text += ", " + std::string{name_of(way.flow.order)} + ", " + std::to_string(way.rollout_gpus) +
            " GPUs sample and " + std::to_string(way.train_gpus) + " train";
  }
  return text;
}

PostTrainPlan make_post_train_plan(PostTrainQuestion question) {
  if (!question.stages.empty()) {
    return balanced_plan(std::move(question));
  }
  PostTrainPlan plan;
  plan.question = std::move(question);
  PostTrainQuestion& q = plan.question;
  PoolPrices prices{q};
  for (const PostTrainFlow& flow : flows_of(q)) {
    if (flow.placement == PostTrainPlacement::colocated) {
      plan.ways.push_back(price_way(q, prices, flow, q.gpus));
      continue;
    }
    std::optional<PostTrainWay> best;
    for (const std::int64_t pool : rollout_pools(q)) {
      PostTrainWay way = price_way(q, prices, flow, pool);
      if (!best || before(way, *best)) {
        best = std::move(way);
      }
    }
    if (best) {
      plan.ways.push_back(*std::move(best));
    }
  }
  std::stable_sort(plan.ways.begin(), plan.ways.end(), before);
  plan.notes = q.assumptions;
  if (plan.ways.empty() || !plan.ways.front().possible) {
    plan.priced = prices.priced();
    return plan;
  }
  plan.taken = 0;
  const PostTrainWay& way = plan.ways.front();
  plan.samples_per_s = static_cast<double>(q.answers()) / way.step.step.raw();
  plan.tokens_per_s = plan.samples_per_s * (q.prompt_tokens + q.lengths.mean);
  plan.low = 1.0 / (1.0 + q.software.width(PostTrainFigure::step));
  plan.high = 1.0 + q.software.width(PostTrainFigure::step);
  plan.cut = cut_share(q.lengths);
  plan.tail = q.software.numbers.rollout * (way.rollout.times.whole - way.rollout.times.most);
  if (q.steps > 0.0) {
    plan.run = q.steps * way.step.step;
  }
  explain_losers(plan);
  set_money(plan);
  set_power(plan);
  set_staleness(plan, prices);
  set_neighbours(plan, prices);
  plan.priced = prices.priced();
  plan.notes.push_back("numbers of " + q.software.name + ": " + q.software.fitted);
  plan.notes.push_back(way_words(way) + " is the fastest of " +
                       counted(static_cast<std::int64_t>(plan.ways.size()), "way") + " and " +
                       counted(plan.priced, "layout") + " of trainers and engines");
  return plan;
}

}  // namespace headroom
