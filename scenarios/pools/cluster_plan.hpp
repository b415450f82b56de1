// SPDX-License-Identifier: Apache-2.0
// The answer to a question of kind cluster: who runs where and when, what that costs, who misses what and why, and what
// another order or one more node would do.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/scheduler/cluster_jobs.hpp>
#include <headroom/model/scheduler/rollout.hpp>
#include <headroom/scenarios/pools/cluster_question.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom::pools {

/// What a job takes on the pools that it runs on, in the order in which it likes them.
struct PricedJob {
  std::vector<scheduler::Choice> choices;  ///< empty: it runs nowhere
  std::vector<std::string> basis;          ///< of each, what its time is; empty where it is stated
  std::vector<std::string> dropped;        ///< "pool t4: it does not fit": pools it was to run on and cannot
  std::string why;                         ///< where there are no choices: why not
};

/// A job of the document, all that it counts together.
struct JobOutcome {
  std::int64_t done = 0, late = 0, refused = 0, crashed = 0;
  Seconds first_start{}, last_end{};  ///< of those that ran
  Seconds mean_wait{}, longest_wait{};
  std::int64_t stops = 0;
  Seconds lost{};
  std::int64_t spilled = 0;           ///< that ran where they spilled over
  double gpu_seconds = 0.0;           ///< held
  Dollars cost{};                     ///< of that, at the pools' prices
  std::vector<std::int64_t> by_pool;  ///< those that ran last on each pool
  std::string why;                    ///< of the first that is late or refused: a sentence

  [[nodiscard]] std::int64_t ran() const noexcept { return done + late + crashed; }
};

/// How another order or another cluster would do.
struct Variant {
  Seconds makespan{}, work_end{}, mean_wait{}, p95_wait{};  ///< work_end: of the last job that is no service
  Dollars cost{};
  std::int64_t late = 0, refused = 0;
};

/// One more node of a pool.
struct NodeGain {
  std::size_t pool = 0;
  Variant with;
};

/// Of a tenant at the moment when most GPUs were asked for.
struct FairShare {
  std::int64_t asked = 0, got = 0;  ///< GPUs that its jobs ran on or waited for; that it held
  double fair = 0.0;                ///< weighted max-min share of all GPUs that are not rented, no more than asked
};

/// Jobs that ran on rented nodes, or on pools that they spill over to.
struct SpillOver {
  std::int64_t rented_jobs = 0, spilled_jobs = 0;
  double rented_gpu_seconds = 0.0, spilled_gpu_seconds = 0.0;
  Dollars rented_cost{};
};

/// A service that is replaced by a new version, replica by replica.
struct RolloutOutcome {
  std::size_t rollout = 0;  ///< place in the question
  std::int64_t replicas = 0, gpus_per_replica = 0;
  std::int64_t spare_gpus = 0;  ///< free on the service's pool when it begins
  scheduler::Rollout way;       ///< of no meaning where there are no replicas
  std::string why;              ///< why it does not go through; empty: it does
};

struct ClusterPlan {
  ClusterQuestion question;
  std::vector<PricedJob> priced;     ///< by job of the document
  std::vector<scheduler::Job> jobs;  ///< that were scheduled, each by itself
  std::vector<std::size_t> job_of;   ///< of each of those its place in the document
  scheduler::Schedule schedule;
  Seconds work_end{};                ///< of the last job that is no service
  bool services = false;             ///< some job is one
  std::vector<JobOutcome> outcomes;  ///< by job of the document
  Seconds longest_wait{};
  bool priced_pools = false;         ///< some pool has a price
  Dollars idle_cost{};               ///< of GPUs that nobody held
  std::vector<Dollars> tenant_cost;  ///< of what each held
  Seconds fullest{};                 ///< when most GPUs were asked for
  double jain = 1.0;                 ///< index of fairness of what tenants got then, over what is fair
  std::vector<FairShare> shares;     ///< by tenant, then
  std::optional<Variant> fifo;       ///< where the order is another
  std::optional<Variant> unfair;     ///< the shortest makespan that is found without shares, of order fair
  std::vector<NodeGain> gains;       ///< by pool
  SpillOver spill;
  std::vector<RolloutOutcome> rollouts;
  std::int64_t late = 0, refused = 0, crashed = 0, ended_beyond_horizon = 0;
  std::vector<std::string> notes;

  /// Every job runs and keeps its deadline, and every rollout goes through.
  [[nodiscard]] bool feasible() const noexcept;
  /// End of the last job that is no service over that of the shortest schedule that was found, less one (Bertsimas,
  /// Farias and Trichakis 2011); nothing where there is no such schedule.
  [[nodiscard]] std::optional<double> price_of_fairness() const;

  /// Of the makespan over the bound, less one; 0 where nothing ran.
  [[nodiscard]] double gap() const;
};

/// `threads`: 0: as many as the machine has; the answer is the same. ConfigError where a scenario of a job cannot be
/// answered as it is asked.
[[nodiscard]] ClusterPlan plan_cluster(ClusterQuestion question, unsigned threads = 0);

}  // namespace headroom::pools
