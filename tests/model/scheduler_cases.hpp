// SPDX-License-Identifier: Apache-2.0
// Random clusters, and what no schedule may break, checked from the answer alone.
#pragma once

#include <headroom/model/scheduler/cluster_jobs.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace headroom::scheduler_cases {

using namespace headroom::scheduler;

struct Case {
  std::vector<Pool> pools;
  std::vector<Tenant> tenants;
  std::vector<Job> jobs;
  Policy policy;
};

/// The engine's numbers are the same everywhere, those of the standard's distributions are not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_{seed} {}
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  double real(double low, double high) { return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53; }
  bool chance(double p) { return real(0.0, 1.0) < p; }

 private:
  std::mt19937_64 engine_;
};

/// Small clusters with everything in them: unlike pools, rented ones, quotas, credits, priorities, chains, crashes,
/// deadlines; times whole or not, many of them equal.
inline Case random_case(std::uint64_t seed) {
  Dice dice{seed};
  Case c;
  const std::int64_t pools = dice.whole(1, 3);
  for (std::int64_t p = 0; p < pools; ++p) {
    Pool pool{"pool", dice.whole(1, 6), dice.chance(0.3) ? dice.whole(1, 12) : (std::int64_t{1} << dice.whole(0, 3)),
              DollarsPerSecond{dice.real(0.0, 1.0)}};
    pool.rented = p > 0 && dice.chance(0.3);
    pool.start_up = Seconds{pool.rented && dice.chance(0.5) ? dice.real(0.0, 5.0) : 0.0};
    pool.credits = dice.chance(0.5) ? 1.0 : dice.real(0.2, 4.0);
    c.pools.push_back(pool);
  }
  const std::int64_t tenants = dice.whole(1, 4);
  for (std::int64_t t = 0; t < tenants; ++t) {
    Tenant tenant{"tenant", dice.chance(0.5) ? 1.0 : dice.real(0.5, 4.0), {}, {}};
    if (dice.chance(0.3)) {
      for (const Pool& pool : c.pools) {
        tenant.quota.push_back(dice.whole(0, pool.gpus()));
      }
    }
    if (dice.chance(0.3)) {
      tenant.credit = dice.real(0.0, 600.0);
    }
    c.tenants.push_back(tenant);
  }
  const bool equal_times = dice.chance(0.5), all_at_once = dice.chance(0.3);
  const std::int64_t jobs = dice.whole(1, 40);
  for (std::int64_t j = 0; j < jobs; ++j) {
    Job job;
    job.tenant = static_cast<std::size_t>(dice.whole(0, tenants - 1));
    job.arrival = Seconds{all_at_once ? 0.0 : equal_times ? static_cast<double>(dice.whole(0, 20)) : dice.real(0, 40)};
    job.priority = dice.chance(0.6) ? 0 : dice.whole(-2, 3);
    job.preemptible = dice.chance(0.5);
    job.checkpoint = Seconds{dice.chance(0.5) ? 0.0 : dice.real(0.1, 5.0)};
    job.restart = Seconds{dice.chance(0.5) ? 0.0 : dice.real(0.0, 3.0)};
    if (dice.chance(0.3)) {
      job.deadline = job.arrival + Seconds{dice.real(1.0, 60.0)};
    }
    if (dice.chance(0.1)) {
      job.crash = Seconds{dice.real(0.1, 20.0)};
    }
    for (std::int64_t before = 0; before < j; ++before) {
      if (dice.chance(0.4 / static_cast<double>(j))) {
        job.after.push_back(static_cast<std::size_t>(before));
      }
    }
    const std::int64_t choices = dice.whole(1, 3);
    for (std::int64_t k = 0; k < choices; ++k) {
      const auto pool = static_cast<std::size_t>(dice.whole(0, pools - 1));
      const std::int64_t most = dice.chance(0.8) ? (c.pools[pool].gpus() + 3) / 4 : c.pools[pool].gpus();
      job.choices.push_back({pool, dice.whole(1, most),
                             Seconds{equal_times ? static_cast<double>(dice.whole(1, 10)) : dice.real(0.5, 15.0)},
                             dice.chance(0.2)});
    }
    c.jobs.push_back(job);
  }
  c.policy.order = static_cast<Order>(dice.whole(0, 2));
  c.policy.preempt = dice.chance(0.7);
  c.policy.longest_first = dice.chance(0.7);
  return c;
}

/// Everything wrong with a schedule, by what each promise says; empty if nothing is.
inline std::vector<std::string> broken(const Case& c, const scheduler::Schedule& s) {
  std::vector<std::string> wrong;
  const auto complain = [&](bool bad, const std::string& what, std::size_t which) {
    if (bad) {
      wrong.push_back(what + " " + std::to_string(which));
    }
  };
  const double tiny = 1e-9 * std::max(1.0, s.makespan.raw());

  complain(s.runs.size() != c.jobs.size(), "jobs lost of", c.jobs.size());
  // No GPU is held twice.
  std::map<std::vector<std::int64_t>, std::vector<std::pair<double, double>>> by_gpu;
  std::vector<std::map<double, std::pair<double, std::int64_t>>> stretches(c.jobs.size());  // from: to, GPUs
  std::vector<std::map<double, std::size_t>> pool_of(c.jobs.size());
  for (const Hold& hold : s.holds) {
    const Pool& pool = c.pools[hold.pool];
    complain(hold.node < 0 || hold.node >= pool.nodes || hold.first_gpu < 0 || hold.gpus < 1 ||
                 hold.first_gpu + hold.gpus > pool.gpus_per_node,
             "a hold outside its node, of job", hold.job);
    complain(hold.to < hold.from, "a hold that ends before it begins, of job", hold.job);
    for (std::int64_t gpu = hold.first_gpu; gpu < hold.first_gpu + hold.gpus; ++gpu) {
      by_gpu[{static_cast<std::int64_t>(hold.pool), hold.node, gpu}].emplace_back(hold.from.raw(), hold.to.raw());
    }
    auto& [to, gpus] = stretches[hold.job][hold.from.raw()];
    complain(gpus > 0 && to != hold.to.raw(), "a gang that does not end together, job", hold.job);
    to = hold.to.raw();
    gpus += hold.gpus;
    pool_of[hold.job][hold.from.raw()] = hold.pool;
  }
  for (auto& [gpu, times] : by_gpu) {
    std::sort(times.begin(), times.end());
    for (std::size_t i = 1; i < times.size(); ++i) {
      complain(times[i].first < times[i - 1].second, "a GPU held twice in pool", static_cast<std::size_t>(gpu[0]));
    }
  }
  // A gang of up to a node lies in one; a larger one in as few as hold it.
  std::map<std::pair<std::size_t, double>, std::map<std::int64_t, std::int64_t>> nodes;
  for (const Hold& hold : s.holds) {
    nodes[{hold.job, hold.from.raw()}][hold.node] += hold.gpus;
  }
  for (const auto& [stretch, on] : nodes) {
    const std::int64_t per_node = c.pools[pool_of[stretch.first][stretch.second]].gpus_per_node;
    const std::int64_t gpus = stretches[stretch.first][stretch.second].second;
    complain(static_cast<std::int64_t>(on.size()) != (gpus + per_node - 1) / per_node, "a gang spread, job",
             stretch.first);
  }

  for (std::size_t j = 0; j < c.jobs.size(); ++j) {
    const Job& job = c.jobs[j];
    const JobRun& run = s.runs[j];
    if (run.outcome == Outcome::refused) {
      complain(!stretches[j].empty() || run.refusal == Refusal::none, "a refused job that ran,", j);
      continue;
    }
    complain(stretches[j].empty(), "a job that never ran,", j);
    if (stretches[j].empty()) {
      continue;
    }
    double before = job.arrival.raw();
    for (const std::size_t a : job.after) {
      complain(s.runs[a].outcome == Outcome::refused || s.runs[a].outcome == Outcome::crashed,
               "a job ran without what it waits for,", j);
      before = std::max(before, s.runs[a].end.raw());
    }
    complain(run.ready.raw() != before, "ready at another time, job", j);
    complain(stretches[j].begin()->first < before, "a job started too early,", j);
    complain(static_cast<std::int64_t>(stretches[j].size()) != run.stops + 1, "stretches unlike stops, job", j);
    complain(run.stops > 0 && (!job.preemptible || !c.policy.preempt), "one stopped that may not be, job", j);
    // Its stretches do not overlap, each has the GPUs of a choice, and together they are its work and what it lost.
    double last = 0.0, held = 0.0;
    std::size_t index = 0;
    for (const auto& [from, to_gpus] : stretches[j]) {
      complain(from < last, "stretches that overlap, job", j);
      last = to_gpus.first;
      held += to_gpus.first - from;
      const std::size_t pool = pool_of[j][from];
      complain(std::none_of(job.choices.begin(), job.choices.end(),
                            [&, gpus = to_gpus.second](const Choice& k) { return k.pool == pool && k.gpus == gpus; }),
               "a stretch on no choice, job", j);
      ++index;
    }
    complain(std::abs(last - run.end.raw()) > 0.0, "an end unlike its last hold's, job", j);
    const Choice& taken = job.choices[run.choice];
    const double start_up = c.pools[taken.pool].rented ? c.pools[taken.pool].start_up.raw() : 0.0;
    if (run.stops == 0) {
      const double work = run.outcome == Outcome::crashed ? job.crash->raw() : taken.time.raw();
      complain(std::abs(held - start_up - work) > tiny, "time unlike its work's, job", j);
      complain(run.lost.raw() != 0.0, "loss without a stop, job", j);
      complain(run.start.raw() != stretches[j].begin()->first + start_up, "start unlike its hold's, job", j);
    }
    complain(job.deadline && run.outcome == Outcome::done && run.end > *job.deadline, "late, and not told, job", j);
    complain(run.outcome == Outcome::late && (!job.deadline || run.end <= *job.deadline), "told late, job", j);
  }

  // Quotas.
  for (std::size_t t = 0; t < c.tenants.size(); ++t) {
    for (std::size_t p = 0; p < c.pools.size() && !c.tenants[t].quota.empty(); ++p) {
      std::vector<std::pair<double, std::int64_t>> changes;
      for (const Hold& hold : s.holds) {
        if (hold.pool == p && c.jobs[hold.job].tenant == t) {
          changes.emplace_back(hold.from.raw(), hold.gpus);
          changes.emplace_back(hold.to.raw(), -hold.gpus);
        }
      }
      std::sort(changes.begin(), changes.end());
      std::int64_t held_now = 0;
      for (const auto& [at, gpus] : changes) {
        held_now += gpus;
        complain(held_now > c.tenants[t].quota[p], "more than its quota held by tenant", t);
      }
    }
  }

  // The ledger: three accounts a tenant, none below zero; at the end nothing is held.
  for (std::size_t t = 0; t < c.tenants.size(); ++t) {
    double grants = 0.0, balance = 0.0, reserve = 0.0, spent = 0.0, at = 0.0;
    for (const Entry& line : s.ledger) {
      if (line.tenant != t) {
        continue;
      }
      complain(!c.tenants[t].credit, "a line without a ledger, tenant", t);
      complain(line.at.raw() < at, "a ledger out of order, tenant", t);
      at = line.at.raw();
      complain(line.amount < 0.0, "a negative amount, tenant", t);
      switch (line.kind) {
        case Entry::Kind::grant:
          grants += line.amount;
          balance += line.amount;
          break;
        case Entry::Kind::reserve:
          balance -= line.amount;
          reserve += line.amount;
          break;
        case Entry::Kind::debit:
          reserve -= line.amount;
          spent += line.amount;
          break;
        case Entry::Kind::refund:
          reserve -= line.amount;
          balance += line.amount;
          break;
        case Entry::Kind::refuse: complain(line.balance >= line.amount, "refused though it can pay, tenant", t); break;
      }
      complain(line.balance < 0.0 || reserve < -1e-6 || std::abs(balance - line.balance) > 1e-6,
               "a ledger that does not sum, tenant", t);
    }
    complain(std::abs(reserve) > 1e-6, "credits held at the end, tenant", t);
    complain(std::abs(grants - balance - spent) > 1e-6, "grants unlike balance and spent, tenant", t);
  }

  for (const JobRun& run : s.runs) {
    complain(run.outcome != Outcome::refused && run.end > s.makespan, "an end after the makespan", 0);
  }
  complain(s.bound.raw() > s.makespan.raw() + tiny, "a makespan below its bound, of jobs", c.jobs.size());
  return wrong;
}

}  // namespace headroom::scheduler_cases
