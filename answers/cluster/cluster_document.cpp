// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/cluster/render_cluster.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/keys/words.hpp>
#include <headroom/scenarios/pools/cluster_plan.hpp>

#include <array>
#include <cstddef>

namespace headroom {
namespace {

using pools::ClusterPlan;
using pools::JobOutcome;
using pools::Variant;

/// Holds that the document tells one by one; more stand in the CSV alone.
constexpr std::size_t most_told_holds = 20'000;

constexpr std::array<std::string_view, 5> entry_names{"grant", "reserve", "debit", "refund", "refuse"};

Value hours(double gpu_seconds) {
  return Value{gpu_seconds / hour.raw()};
}
Value dollars(const ClusterPlan& plan, Dollars cost) {
  return when(plan.priced_pools, Value{cost});
}

Value pools_value(const ClusterPlan& plan) {
  Value all = Value::empty_list();
  for (std::size_t i = 0; i < plan.question.pools.size(); ++i) {
    const pools::AskedPool& asked = plan.question.pools[i];
    const scheduler::PoolUse& use = plan.schedule.pools[i];
    Value labels = object();
    for (const auto& [label, value] : asked.labels) {
      labels.add({label, value});
    }
    all.push(object("name"_m = asked.pool.name, "gpu"_m = asked.gpu, "nodes"_m = asked.pool.nodes,
                    "gpus_per_node"_m = asked.pool.gpus_per_node, "gpus"_m = asked.pool.gpus(),
                    "rented"_m = asked.pool.rented, "labels"_m = std::move(labels),
                    "usd_per_s"_m = when(asked.price.price.has_value(), Value{asked.pool.price}),
                    "busy"_m = share(use.busy), "most_gpus"_m = use.most, "stranded_gpu_hours"_m = hours(use.stranded),
                    "fragmented_gpu_hours"_m = hours(use.fragmented),
                    "cost_usd"_m = when(asked.price.price.has_value(), Value{use.cost})));
  }
  return all;
}

Value tenants_value(const ClusterPlan& plan) {
  Value all = Value::empty_list();
  for (std::size_t t = 0; t < plan.question.tenants.size(); ++t) {
    const scheduler::Tenant& tenant = plan.question.tenants[t];
    const scheduler::TenantUse& use = plan.schedule.tenants[t];
    std::optional<double> left = tenant.credit;
    for (const scheduler::Entry& line : plan.schedule.ledger) {
      left = line.tenant == t ? std::optional{line.balance} : left;
    }
    all.push(object("name"_m = tenant.name, "weight"_m = tenant.weight, "jobs_ran"_m = use.ran,
                    "gpu_hours"_m = hours(use.gpu_seconds), "wait_mean_s"_m = use.mean_wait,
                    "asked_gpus"_m = plan.shares[t].asked, "fair_gpus"_m = Value{plan.shares[t].fair},
                    "got_gpus"_m = plan.shares[t].got, "cost_usd"_m = dollars(plan, plan.tenant_cost[t]),
                    "credit_gpu_hours"_m = when(tenant.credit.has_value(), hours(tenant.credit.value_or(0.0))),
                    "credit_left_gpu_hours"_m = when(tenant.credit.has_value(), hours(left.value_or(0.0)))));
  }
  return all;
}

Value jobs_value(const ClusterPlan& plan) {
  Value all = Value::empty_list();
  for (std::size_t i = 0; i < plan.question.jobs.size(); ++i) {
    const pools::AskedJob& asked = plan.question.jobs[i];
    const JobOutcome& out = plan.outcomes[i];
    const bool ran = out.ran() > 0;
    Value choices = Value::empty_list();
    for (const scheduler::Choice& choice : plan.priced[i].choices) {
      choices.push(row("pool"_m = plan.question.pools[choice.pool].pool.name, "gpus"_m = choice.gpus,
                       "time_s"_m = choice.time, "spill"_m = choice.spill));
    }
    Value on = object();
    for (std::size_t p = 0; p < out.by_pool.size(); ++p) {
      if (out.by_pool[p] > 0) {
        on.add({plan.question.pools[p].pool.name, out.by_pool[p]});
      }
    }
    all.push(object("name"_m = asked.name, "tenant"_m = plan.question.tenants[asked.tenant].name,
                    "scenario"_m = when(!asked.scenario.empty(), Value{asked.scenario}), "count"_m = asked.count,
                    "service"_m = asked.service, "choices"_m = std::move(choices), "done"_m = out.done,
                    "late"_m = out.late, "refused"_m = out.refused, "crashed"_m = out.crashed,
                    "why"_m = when(!out.why.empty(), Value{out.why}), "on"_m = when(ran, std::move(on)),
                    "start_s"_m = when(ran, Value{out.first_start}), "end_s"_m = when(ran, Value{out.last_end}),
                    "wait_mean_s"_m = when(ran, Value{out.mean_wait}),
                    "wait_longest_s"_m = when(ran, Value{out.longest_wait}), "stops"_m = out.stops,
                    "lost_s"_m = when(out.stops > 0, Value{out.lost}), "spilled"_m = out.spilled,
                    "gpu_hours"_m = hours(out.gpu_seconds), "cost_usd"_m = dollars(plan, out.cost)));
  }
  return all;
}

Value ledger_value(const ClusterPlan& plan) {
  return list(plan.schedule.ledger, [&](const scheduler::Entry& line) {
    return row("at_s"_m = line.at, "tenant"_m = plan.question.tenants[line.tenant].name,
               "line"_m = entry_names[static_cast<std::size_t>(line.kind)],
               "job"_m = line.job ? Value{plan.jobs[*line.job].name} : Value{}, "gpu_hours"_m = hours(line.amount),
               "left_gpu_hours"_m = hours(line.balance));
  });
}

Value variant_value(const ClusterPlan& plan, const Variant& variant) {
  return row("makespan_s"_m = variant.makespan, "work_end_s"_m = variant.work_end, "wait_mean_s"_m = variant.mean_wait,
             "wait_p95_s"_m = variant.p95_wait, "late"_m = variant.late, "refused"_m = variant.refused,
             "cost_usd"_m = dollars(plan, variant.cost));
}

Value gains_value(const ClusterPlan& plan) {
  return list(plan.gains, [&](const pools::NodeGain& gain) {
    const Variant& with = gain.with;
    return row("pool"_m = plan.question.pools[gain.pool].pool.name, "makespan_s"_m = with.makespan,
               "makespan_saved_s"_m = plan.schedule.makespan - with.makespan, "work_end_s"_m = with.work_end,
               "work_end_saved_s"_m = plan.work_end - with.work_end, "wait_mean_s"_m = with.mean_wait,
               "wait_mean_saved_s"_m = plan.schedule.mean_wait - with.mean_wait, "late"_m = with.late,
               "cost_usd"_m = dollars(plan, with.cost),
               "cost_added_usd"_m = dollars(plan, with.cost - plan.schedule.cost));
  });
}

Value spill_value(const ClusterPlan& plan) {
  const pools::SpillOver& spill = plan.spill;
  return when(spill.rented_jobs + spill.spilled_jobs > 0,
              object("rented_jobs"_m = spill.rented_jobs, "rented_gpu_hours"_m = hours(spill.rented_gpu_seconds),
                     "rented_cost_usd"_m = dollars(plan, spill.rented_cost), "spilled_jobs"_m = spill.spilled_jobs,
                     "spilled_gpu_hours"_m = hours(spill.spilled_gpu_seconds)));
}

Value rollouts_value(const ClusterPlan& plan) {
  return list(plan.rollouts, [&](const pools::RolloutOutcome& out) {
    const pools::AskedRollout& asked = plan.question.rollouts[out.rollout];
    const bool goes = out.why.empty();
    if (out.gpus_per_replica == 0) {
      return object("job"_m = plan.question.jobs[asked.job].name, "at_s"_m = asked.at, "goes"_m = goes,
                    "why"_m = out.why);
    }
    return object(
        "job"_m = plan.question.jobs[asked.job].name, "at_s"_m = asked.at, "goes"_m = goes,
        "why"_m = when(!goes, Value{out.why}), "replicas"_m = out.replicas, "gpus_per_replica"_m = out.gpus_per_replica,
        "surge"_m = out.way.surge, "unavailable"_m = out.way.unavailable, "surge_gpus"_m = out.way.spare_gpus_wanted,
        "spare_gpus"_m = out.spare_gpus, "surged"_m = out.way.surge_had, "at_once"_m = out.way.at_once,
        "batches"_m = out.way.batches, "least_capacity"_m = share(out.way.lowest), "time_s"_m = out.way.duration,
        "rollback_first_s"_m = out.way.rollback_first, "rollback_s"_m = out.way.rollback);
  });
}

/// Empty of more holds than a document tells.
Value holds_value(const ClusterPlan& plan) {
  Value all = Value::empty_list();
  if (plan.schedule.holds.size() > most_told_holds) {
    return all;
  }
  for (const scheduler::Hold& hold : plan.schedule.holds) {
    const scheduler::Job& job = plan.jobs[hold.job];
    all.push(row("job"_m = job.name, "tenant"_m = plan.question.tenants[job.tenant].name,
                 "pool"_m = plan.question.pools[hold.pool].pool.name, "node"_m = hold.node,
                 "first_gpu"_m = hold.first_gpu, "gpus"_m = hold.gpus, "from_s"_m = hold.from, "to_s"_m = hold.to));
  }
  return all;
}

}  // namespace

std::string cluster_verdict(const ClusterPlan& plan) {
  if (plan.feasible()) {
    return "every job runs and keeps its deadline";
  }
  std::vector<std::string> parts;
  if (plan.late > 0) {
    parts.push_back(counted(plan.late, "job") + (plan.late == 1 ? " misses its deadline" : " miss their deadlines"));
  }
  if (plan.refused > 0) {
    parts.push_back(counted(plan.refused, "job") + (plan.refused == 1 ? " does not run" : " do not run"));
  }
  for (const pools::RolloutOutcome& rollout : plan.rollouts) {
    if (!rollout.why.empty()) {
      parts.push_back("the rollout of " + plan.question.jobs[plan.question.rollouts[rollout.rollout].job].name +
                      " does not go through");
    }
  }
  return joined(parts);
}

std::string outcome_text(const JobOutcome& outcome) {
  const std::array<std::pair<std::int64_t, const char*>, 4> parts{
      {{outcome.done, "done"}, {outcome.late, "late"}, {outcome.refused, "refused"}, {outcome.crashed, "crashed"}}};
  std::string text;
  const std::int64_t all = outcome.done + outcome.late + outcome.refused + outcome.crashed;
  for (const auto& [count, word] : parts) {
    if (count > 0) {
      text += (text.empty() ? "" : ", ") + (all > 1 && count < all ? std::to_string(count) + " " : "") + word;
    }
  }
  return text;
}

std::string pools_text(const ClusterPlan& plan, const JobOutcome& outcome) {
  std::string text;
  std::size_t used = 0;
  for (const std::int64_t count : outcome.by_pool) {
    used += count > 0 ? 1 : 0;
  }
  for (std::size_t p = 0; p < outcome.by_pool.size(); ++p) {
    if (outcome.by_pool[p] > 0) {
      text += (text.empty() ? "" : ", ") + plan.question.pools[p].pool.name +
              (used > 1 ? " (" + std::to_string(outcome.by_pool[p]) + ")" : "");
    }
  }
  return text;
}

Value cluster_document(const ClusterPlan& plan) {
  const scheduler::Schedule& schedule = plan.schedule;
  std::int64_t gpus = 0, done = 0;
  for (const pools::AskedPool& pool : plan.question.pools) {
    gpus += pool.pool.gpus();
  }
  for (const JobOutcome& outcome : plan.outcomes) {
    done += outcome.done;
  }
  const std::optional<double> fairness = plan.price_of_fairness();
  const bool all_holds = schedule.holds.size() <= most_told_holds;
  return object("schema"_m = "headroom.cluster/1", "kind"_m = "cluster", "name"_m = plan.question.name,
                "verdict"_m = plan.feasible() ? "feasible" : "infeasible", "verdict_text"_m = cluster_verdict(plan),
                "order"_m = std::string{queue_order_names[static_cast<std::size_t>(plan.question.policy.order)]},
                "gpus"_m = gpus, "makespan_s"_m = schedule.makespan, "work_end_s"_m = plan.work_end,
                "makespan_bound_s"_m = when(schedule.bound > Seconds{}, Value{schedule.bound}),
                "makespan_gap"_m = when(schedule.bound > Seconds{}, share(plan.gap())),
                "makespan_proven"_m = schedule.proven, "done"_m = done, "late"_m = plan.late,
                "refused"_m = plan.refused, "crashed"_m = plan.crashed, "wait_mean_s"_m = schedule.mean_wait,
                "wait_p95_s"_m = schedule.p95_wait, "wait_longest_s"_m = plan.longest_wait,
                "cost_usd"_m = dollars(plan, schedule.cost), "idle_cost_usd"_m = dollars(plan, plan.idle_cost),
                "pools"_m = pools_value(plan), "shares_at_s"_m = plan.fullest, "jain_index"_m = Value{plan.jain},
                "tenants"_m = tenants_value(plan), "jobs"_m = jobs_value(plan), "ledger"_m = ledger_value(plan),
                "fifo"_m = plan.fifo ? variant_value(plan, *plan.fifo) : Value{},
                "without_fairness"_m = plan.unfair ? variant_value(plan, *plan.unfair) : Value{},
                "price_of_fairness"_m = fairness ? change(*fairness) : Value{}, "one_more_node"_m = gains_value(plan),
                "spill_over"_m = spill_value(plan), "rollouts"_m = rollouts_value(plan), "holds"_m = holds_value(plan),
                "holds_left_out"_m = when(!all_holds, Value{static_cast<std::int64_t>(schedule.holds.size())}),
                "notes"_m = plan.notes);
}

std::string cluster_csv(const ClusterPlan& plan) {
  std::string text = "job,tenant,pool,node,first_gpu,gpus,from_s,to_s\n";
  for (const scheduler::Hold& hold : plan.schedule.holds) {
    const scheduler::Job& job = plan.jobs[hold.job];
    text += csv_field(job.name) + "," + csv_field(plan.question.tenants[job.tenant].name) + "," +
            csv_field(plan.question.pools[hold.pool].pool.name) + "," + std::to_string(hold.node) + "," +
            std::to_string(hold.first_gpu) + "," + std::to_string(hold.gpus) + "," + shortest_text(hold.from.raw()) +
            "," + shortest_text(hold.to.raw()) + "\n";
  }
  return text;
}

}  // namespace headroom
