// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/pools/cluster_plan.hpp>
#include <headroom/scenarios/pools/rollout_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace headroom::pools {
namespace {

/// The first run of a job of the document; nullopt where none runs at `at`.
std::optional<std::size_t> run_at(const ClusterPlan& plan, std::size_t job, Seconds at) {
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const scheduler::JobRun& run = plan.schedule.runs[i];
    if (plan.job_of[i] == job && run.outcome != scheduler::Outcome::refused && run.start <= at && at < run.end) {
      return i;
    }
  }
  return std::nullopt;
}

std::int64_t free_gpus(const ClusterPlan& plan, std::size_t pool, Seconds at) {
  std::int64_t gpus = plan.question.pools[pool].pool.gpus();
  for (const scheduler::Hold& hold : plan.schedule.holds) {
    gpus -= hold.pool == pool && hold.from <= at && at < hold.to ? hold.gpus : 0;
  }
  return gpus;
}

std::string when_text(Seconds at) {
  return at == Seconds{} ? "at the start" : "at " + format(at);
}

double share_of(const ReplicaCount& count, std::int64_t replicas) {
  return count.number ? std::min(1.0, real(*count.number) / real(replicas)) : count.share;
}

RolloutOutcome outcome_of(const ClusterPlan& plan, std::size_t place) {
  const AskedRollout& asked = plan.question.rollouts[place];
  const std::string& name = plan.question.jobs[asked.job].name;
  RolloutOutcome out;
  out.rollout = place;
  const std::optional<std::size_t> run = run_at(plan, asked.job, asked.at);
  if (!run) {
    out.why = "service " + name + " does not run " + when_text(asked.at);
    return out;
  }
  const scheduler::Choice& choice = plan.jobs[*run].choices[plan.schedule.runs[*run].choice];
  out.replicas = asked.replicas.value_or(choice.gpus);
  if (choice.gpus % out.replicas != 0) {
    out.why = counted(choice.gpus, "GPU") + " of service " + name + " are no whole number of " +
              counted(out.replicas, "replica") + "; state rollout.replicas";
    return out;
  }
  out.gpus_per_replica = choice.gpus / out.replicas;
  out.spare_gpus = free_gpus(plan, choice.pool, asked.at);
  scheduler::RolloutPlan rollout;
  rollout.replicas = out.replicas;
  rollout.gpus_each = out.gpus_per_replica;
  rollout.surge = share_of(asked.surge, out.replicas);
  rollout.unavailable = share_of(asked.unavailable, out.replicas);
  rollout.drain = asked.drain;
  rollout.start = asked.start;
  rollout.spare_gpus = out.spare_gpus;
  out.way = scheduler::rollout(rollout);
  if (out.way.stuck) {
    out.why = "a surge of " + counted(out.way.surge, "replica") + " needs " +
              counted(out.way.spare_gpus_wanted, "spare GPU") + ", pool " + plan.question.pools[choice.pool].pool.name +
              " has " + std::to_string(out.spare_gpus) + " free " + when_text(asked.at) +
              ", and no replica may be missing; add a node, or state 'unavailable': capacity then drops to " +
              percent(out.way.lowest);
  }
  return out;
}

}  // namespace

void add_rollouts(ClusterPlan& plan) {
  for (std::size_t i = 0; i < plan.question.rollouts.size(); ++i) {
    plan.rollouts.push_back(outcome_of(plan, i));
  }
}

}  // namespace headroom::pools
