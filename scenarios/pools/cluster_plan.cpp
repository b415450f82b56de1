// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/on_threads.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/pools/cluster_plan.hpp>
#include <headroom/scenarios/pools/fair_moment.hpp>
#include <headroom/scenarios/pools/rollout_plan.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace headroom::pools {
namespace {

/// Questions that were answered, each once.
class Costs {
 public:
  const JobCost& of(const JobQuestion& question) {
    const auto [at, fresh] = known_.try_emplace(&question);
    if (fresh) {
      at->second = question.cost();
    }
    return at->second;
  }

 private:
  std::map<const JobQuestion*, JobCost> known_;
};

class JobPricing {
 public:
  JobPricing(const ClusterQuestion& question, Costs& costs) : asked_{question}, costs_{costs} {}

  PricedJob price(const AskedJob& job) {
    PricedJob priced;
    std::vector<Entry> entries;
    for (const AskedChoice& choice : job.choices) {
      take(job, choice, entries, priced.dropped);
    }
    if (!job.ordered) {
      std::stable_sort(entries.begin(), entries.end(), Cheaper{all_priced(entries)});
    }
    std::stable_partition(entries.begin(), entries.end(), [](const Entry& e) { return !e.choice.spill; });
    for (Entry& entry : entries) {
      priced.choices.push_back(entry.choice);
      priced.basis.push_back(std::move(entry.basis));
    }
    if (priced.choices.empty()) {
      priced.why = "no pool runs it: " + joined(priced.dropped, "; ");
    }
    return priced;
  }

 private:
  struct Entry {
    scheduler::Choice choice;
    DollarsPerSecond price{};
    std::string basis;
  };
  /// The cheapest first; where a pool has no price, the fastest.
  struct Cheaper {
    bool by_cost;
    [[nodiscard]] double key(const Entry& e) const {
      return by_cost ? (real(e.choice.gpus) * e.choice.time * e.price).raw() : e.choice.time.raw();
    }
    bool operator()(const Entry& a, const Entry& b) const { return key(a) < key(b); }
  };
  static bool all_priced(const std::vector<Entry>& entries) {
    return std::all_of(entries.begin(), entries.end(), [](const Entry& e) { return e.price > DollarsPerSecond{}; });
  }

  void take(const AskedJob& job,
            const AskedChoice& choice,
            std::vector<Entry>& entries,
            std::vector<std::string>& dropped) {
    const AskedPool& pool = asked_.pools[choice.pool];
    Entry entry;
    entry.choice = {choice.pool, choice.gpus.value_or(0), choice.time.value_or(Seconds{}), choice.spill};
    entry.price = pool.pool.price;
    const auto drop = [&](const std::string& why) { dropped.push_back("pool " + pool.pool.name + ": " + why); };
    if (choice.question) {
      const JobCost& cost = costs_.of(*choice.question);
      if (!cost.why.empty()) {
        drop(cost.why);
        return;
      }
      entry.choice.gpus = cost.gpus;
      if (!choice.time) {
        if (!cost.time) {
          drop("its plan has no end; state 'time' in the job, or what the scenario is to do in all");
          return;
        }
        entry.choice.time = *cost.time;
        entry.basis = cost.basis;
      }
    }
    if (entry.choice.gpus > pool.pool.gpus()) {
      drop("it takes " + counted(entry.choice.gpus, "GPU") + ", and the pool has " + std::to_string(pool.pool.gpus()));
      return;
    }
    if (job.service && job.scenario.empty()) {
      entry.basis.clear();
    }
    entries.push_back(std::move(entry));
  }

  const ClusterQuestion& asked_;
  Costs& costs_;
};

/// Jobs of the document one by one, as they are scheduled.
class Expansion {
 public:
  explicit Expansion(ClusterPlan& plan) : plan_{plan} {}

  void run() {
    const std::vector<AskedJob>& asked = plan_.question.jobs;
    leave_out_waiting();
    first_.assign(asked.size(), 0);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      first_[i] = plan_.jobs.size();
      if (!plan_.priced[i].choices.empty()) {
        add(asked[i], i);
      }
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (!plan_.priced[i].choices.empty()) {
        link(asked[i], i);
      }
    }
  }

 private:
  /// What waits for a job that runs nowhere runs nowhere.
  void leave_out_waiting() {
    const std::vector<AskedJob>& asked = plan_.question.jobs;
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < asked.size(); ++i) {
        PricedJob& priced = plan_.priced[i];
        const auto none = std::find_if(asked[i].after.begin(), asked[i].after.end(),
                                       [&](std::size_t before) { return plan_.priced[before].choices.empty(); });
        if (!priced.choices.empty() && none != asked[i].after.end()) {
          priced.choices.clear();
          priced.why = "it waits for job " + asked[*none].name + ", which runs nowhere";
          more = true;
        }
      }
    }
  }

  void add(const AskedJob& asked, std::size_t place) {
    scheduler::Job job;
    job.name = asked.name;
    job.tenant = asked.tenant;
    job.arrival = asked.arrival;
    job.deadline = asked.deadline;
    job.priority = asked.priority;
    job.preemptible = asked.preemptible;
    job.checkpoint = asked.checkpoint;
    job.restart = asked.restart;
    job.crash = asked.crash;
    job.choices = plan_.priced[place].choices;
    for (std::int64_t n = 0; n < asked.count; ++n) {
      if (asked.count > 1) {
        job.name = asked.name + "/" + std::to_string(n + 1);
      }
      plan_.jobs.push_back(job);
      plan_.job_of.push_back(place);
    }
  }

  void link(const AskedJob& asked, std::size_t place) {
    const auto count = static_cast<std::size_t>(asked.count);
    for (const std::size_t before : asked.after) {
      const auto others = static_cast<std::size_t>(plan_.question.jobs[before].count);
      for (std::size_t n = 0; n < count; ++n) {
        std::vector<std::size_t>& after = plan_.jobs[first_[place] + n].after;
        if (others == count) {
          after.push_back(first_[before] + n);
        } else {
          for (std::size_t m = 0; m < others; ++m) {
            after.push_back(first_[before] + m);
          }
        }
      }
    }
  }

  ClusterPlan& plan_;
  std::vector<std::size_t> first_;  ///< of each job of the document
};

std::vector<scheduler::Pool> pools_of(const ClusterQuestion& question) {
  std::vector<scheduler::Pool> pools;
  for (const AskedPool& asked : question.pools) {
    pools.push_back(asked.pool);
  }
  return pools;
}

/// End of the last job that is no service.
Seconds work_end_of(const ClusterPlan& plan, const scheduler::Schedule& schedule) {
  Seconds end{};
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const bool ran = schedule.runs[i].outcome != scheduler::Outcome::refused;
    end = ran && !plan.question.jobs[plan.job_of[i]].service ? std::max(end, schedule.runs[i].end) : end;
  }
  return end;
}

Variant variant_of(const ClusterPlan& plan, const scheduler::Schedule& schedule) {
  Variant variant{
      schedule.makespan, work_end_of(plan, schedule), schedule.mean_wait, schedule.p95_wait, schedule.cost, 0, 0};
  for (const scheduler::JobRun& run : schedule.runs) {
    variant.late += run.outcome == scheduler::Outcome::late ? 1 : 0;
    variant.refused += run.outcome == scheduler::Outcome::refused ? 1 : 0;
  }
  return variant;
}

/// Why a job that ran missed its deadline: what alone would have been too long, the first of them.
std::string lateness(const ClusterPlan& plan, const scheduler::Job& job, const scheduler::JobRun& run) {
  const auto fastest = std::min_element(job.choices.begin(), job.choices.end(),
                                        [](const auto& a, const auto& b) { return a.time < b.time; });
  const std::string& pool = plan.question.pools[fastest->pool].pool.name;
  const std::string end = "it ends at " + format(run.end) + ", and its deadline is " + format(*job.deadline) + ": ";
  if (job.arrival + fastest->time > *job.deadline) {
    return end + "from its arrival it takes " + format(fastest->time) + " on " + pool +
           ", the fastest, even without a wait";
  }
  if (run.ready + fastest->time > *job.deadline) {
    return end + "the jobs that it waits for end at " + format(run.ready);
  }
  if (run.end - run.lost <= *job.deadline) {
    return end + "it was stopped " + counted(run.stops, "time") + ", which lost " + format(run.lost);
  }
  const scheduler::Choice& taken = job.choices[run.choice];
  return end + "it waited " + format(run.start - run.ready) + " for " + counted(taken.gpus, "GPU") + " of " +
         plan.question.pools[taken.pool].pool.name;
}

std::string refusal(const ClusterPlan& plan, std::size_t index) {
  const scheduler::JobRun& run = plan.schedule.runs[index];
  const scheduler::Job& job = plan.jobs[index];
  const std::string& tenant = plan.question.tenants[job.tenant].name;
  switch (run.refusal) {
    case scheduler::Refusal::quota:
      return "each pool that it may run on asks for more GPUs than the quota of " + tenant;
    case scheduler::Refusal::prerequisite:
      return "it waits for job " + plan.jobs[run.because].name + ", which did not end well";
    case scheduler::Refusal::credit: break;
    case scheduler::Refusal::none: return "it never ran";
  }
  for (const scheduler::Entry& line : plan.schedule.ledger) {
    if (line.kind == scheduler::Entry::Kind::refuse && line.job == index) {
      return "it needs " + format_number(line.amount / hour.raw(), 4) + " GPU-h of credit, and " + tenant + " has " +
             format_number(line.balance / hour.raw(), 4) + " left";
    }
  }
  return "the credit of " + tenant + " does not hold it";
}

class Outcomes {
 public:
  explicit Outcomes(ClusterPlan& plan) : plan_{plan} {}

  void run() {
    const ClusterQuestion& question = plan_.question;
    plan_.outcomes.assign(question.jobs.size(), {});
    plan_.tenant_cost.assign(question.tenants.size(), Dollars{});
    for (std::size_t i = 0; i < question.jobs.size(); ++i) {
      JobOutcome& outcome = plan_.outcomes[i];
      outcome.by_pool.assign(question.pools.size(), 0);
      outcome.first_start = Seconds{std::numeric_limits<double>::infinity()};
      if (plan_.priced[i].choices.empty()) {
        outcome.refused = question.jobs[i].count;
        outcome.why = plan_.priced[i].why;
        plan_.refused += outcome.refused;
      }
    }
    for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
      take(i);
    }
    take_holds();
    for (JobOutcome& outcome : plan_.outcomes) {
      outcome.mean_wait = outcome.ran() > 0 ? (1.0 / real(outcome.ran())) * outcome.mean_wait : Seconds{};
      outcome.first_start = outcome.ran() > 0 ? outcome.first_start : Seconds{};
    }
  }

 private:
  void take(std::size_t index) {
    const scheduler::JobRun& run = plan_.schedule.runs[index];
    JobOutcome& outcome = plan_.outcomes[plan_.job_of[index]];
    switch (run.outcome) {
      case scheduler::Outcome::done: ++outcome.done; break;
      case scheduler::Outcome::late:
        ++outcome.late;
        ++plan_.late;
        outcome.why = outcome.why.empty() ? lateness(plan_, plan_.jobs[index], run) : outcome.why;
        break;
      case scheduler::Outcome::crashed:
        ++outcome.crashed;
        ++plan_.crashed;
        break;
      case scheduler::Outcome::refused:
        ++outcome.refused;
        ++plan_.refused;
        outcome.why = outcome.why.empty() ? refusal(plan_, index) : outcome.why;
        return;
    }
    const scheduler::Choice& choice = plan_.jobs[index].choices[run.choice];
    const Seconds wait = run.start - run.ready;
    outcome.first_start = std::min(outcome.first_start, run.start);
    outcome.last_end = std::max(outcome.last_end, run.end);
    outcome.mean_wait = outcome.mean_wait + wait;
    outcome.longest_wait = std::max(outcome.longest_wait, wait);
    plan_.longest_wait = std::max(plan_.longest_wait, wait);
    outcome.stops += run.stops;
    outcome.lost = outcome.lost + run.lost;
    ++outcome.by_pool[choice.pool];
    outcome.spilled += choice.spill ? 1 : 0;
    plan_.spill.spilled_jobs += choice.spill ? 1 : 0;
    plan_.spill.rented_jobs += plan_.question.pools[choice.pool].pool.rented ? 1 : 0;
    const std::optional<Seconds>& horizon = plan_.question.horizon;
    plan_.ended_beyond_horizon += horizon && run.end > *horizon ? 1 : 0;
  }

  void take_holds() {
    Dollars held{};
    for (const scheduler::Hold& hold : plan_.schedule.holds) {
      const std::size_t place = plan_.job_of[hold.job];
      const scheduler::Pool& pool = plan_.question.pools[hold.pool].pool;
      const double gpu_seconds = real(hold.gpus) * (hold.to - hold.from).raw();
      const Dollars cost = Seconds{gpu_seconds} * pool.price;
      JobOutcome& outcome = plan_.outcomes[place];
      outcome.gpu_seconds += gpu_seconds;
      outcome.cost = outcome.cost + cost;
      Dollars& of_tenant = plan_.tenant_cost[plan_.question.jobs[place].tenant];
      of_tenant = of_tenant + cost;
      held = held + cost;
      if (pool.rented) {
        plan_.spill.rented_gpu_seconds += gpu_seconds;
        plan_.spill.rented_cost = plan_.spill.rented_cost + cost;
      }
      if (plan_.jobs[hold.job].choices[plan_.schedule.runs[hold.job].choice].spill) {
        plan_.spill.spilled_gpu_seconds += gpu_seconds;
      }
    }
    plan_.idle_cost = std::max(Dollars{}, plan_.schedule.cost - held);
  }

  ClusterPlan& plan_;
};

/// The same jobs under other orders and with one more node of each pool, side by side on threads.
void add_variants(ClusterPlan& plan, unsigned threads) {
  const std::vector<scheduler::Pool> pools = pools_of(plan.question);
  const scheduler::Policy& policy = plan.question.policy;
  struct Case {
    std::vector<scheduler::Pool> pools;
    scheduler::Policy policy;
    Variant found;
  };
  std::vector<Case> cases;
  scheduler::Policy fifo = policy;
  fifo.order = scheduler::Order::fifo;
  fifo.preempt = false;
  fifo.longest_first = false;
  scheduler::Policy shortest = policy;
  shortest.order = scheduler::Order::shortest;
  cases.push_back({pools, fifo, {}});
  cases.push_back({pools, shortest, {}});
  for (std::size_t i = 0; i < pools.size(); ++i) {
    std::vector<scheduler::Pool> more = pools;
    ++more[i].nodes;
    cases.push_back({std::move(more), policy, {}});
  }
  on_threads(thread_count(threads), cases.size(), [&](std::size_t i) {
    cases[i].found =
        variant_of(plan, scheduler::schedule(cases[i].pools, plan.question.tenants, plan.jobs, cases[i].policy));
  });
  if (policy.order != scheduler::Order::fifo) {
    plan.fifo = cases[0].found;
  }
  if (policy.order == scheduler::Order::fair) {
    plan.unfair = cases[1].found;
  }
  for (std::size_t i = 0; i < pools.size(); ++i) {
    plan.gains.push_back({i, cases[2 + i].found});
  }
}

void add_notes(ClusterPlan& plan) {
  std::vector<std::string> unpriced;
  for (const AskedPool& pool : plan.question.pools) {
    if (pool.price.price) {
      plan.priced_pools = true;
      plan.notes.push_back("pool " + pool.pool.name + ": a GPU costs " + format(*pool.price.price) + " (" +
                           pool.price.source + ")");
    } else {
      unpriced.push_back(pool.pool.name);
    }
  }
  if (plan.priced_pools && !unpriced.empty()) {
    plan.notes.push_back("no price is stated of " + joined(unpriced) + ", so that the dollars are those of the others");
  }
  for (std::size_t i = 0; i < plan.priced.size(); ++i) {
    for (const std::string& dropped : plan.priced[i].dropped) {
      if (!plan.priced[i].choices.empty()) {
        plan.notes.push_back("job " + plan.question.jobs[i].name + " does not run on " + dropped);
      }
    }
  }
  if (plan.ended_beyond_horizon > 0) {
    plan.notes.push_back(counted(plan.ended_beyond_horizon, "job") + " " +
                         (plan.ended_beyond_horizon == 1 ? "ends" : "end") + " after policy.horizon, " +
                         format(*plan.question.horizon));
  }
}

}  // namespace

bool ClusterPlan::feasible() const noexcept {
  return late == 0 && refused == 0 &&
         std::all_of(rollouts.begin(), rollouts.end(), [](const RolloutOutcome& each) { return each.why.empty(); });
}

std::optional<double> ClusterPlan::price_of_fairness() const {
  return unfair && unfair->work_end > Seconds{} ? std::optional{work_end / unfair->work_end - 1.0} : std::nullopt;
}

double ClusterPlan::gap() const {
  return schedule.bound > Seconds{} ? schedule.makespan / schedule.bound - 1.0 : 0.0;
}

ClusterPlan plan_cluster(ClusterQuestion question, unsigned threads) {
  ClusterPlan plan;
  plan.question = std::move(question);
  plan.notes = plan.question.assumptions;
  Costs costs;
  JobPricing pricing{plan.question, costs};
  for (const AskedJob& job : plan.question.jobs) {
    plan.priced.push_back(pricing.price(job));
  }
  Expansion{plan}.run();
  plan.schedule = scheduler::schedule(pools_of(plan.question), plan.question.tenants, plan.jobs, plan.question.policy);
  plan.work_end = work_end_of(plan, plan.schedule);
  plan.services = std::any_of(plan.question.jobs.begin(), plan.question.jobs.end(),
                              [](const AskedJob& job) { return job.service; });
  Outcomes{plan}.run();
  add_fair_shares(plan);
  add_variants(plan, threads);
  add_rollouts(plan);
  add_notes(plan);
  return plan;
}

}  // namespace headroom::pools
