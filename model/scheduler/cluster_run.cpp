// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/model/scheduler/cluster_run.hpp>
#include <headroom/model/scheduler/credit_ledger.hpp>
#include <headroom/model/scheduler/dispatcher.hpp>
#include <headroom/model/scheduler/idle_meter.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>

namespace headroom::scheduler {
namespace {

class ClusterRun {
 public:
  ClusterRun(const ClusterQuestion& question,
             const Policy& policy,
             const ListOrder& order,
             std::span<const PlannedStart> planned)
      : question_{question},
        state_{question},
        by_plan_{!planned.empty()},
        planned_{planned},
        pins_{order.pins},
        dispatcher_{state_, policy, order.ranks},
        ledger_{question.tenants},
        idle_{state_},
        next_(question.jobs.size()),
        arrivals_(question.jobs.size()) {
    for (std::size_t job = 0; job < question_.jobs.size(); ++job) {
      for (const std::size_t before : question_.jobs[job].after) {
        next_[before].push_back(job);
      }
    }
    std::iota(arrivals_.begin(), arrivals_.end(), std::size_t{0});
    std::stable_sort(arrivals_.begin(), arrivals_.end(), [&](std::size_t a, std::size_t b) {
      return question_.jobs[a].arrival < question_.jobs[b].arrival;
    });
  }

  Schedule run() {
    Seconds now{};
    std::size_t arrived = 0;
    while (arrived < arrivals_.size() || !ends_.empty()) {
      Seconds next = ends_.empty() ? question_.jobs[arrivals_[arrived]].arrival : ends_.top().at;
      if (arrived < arrivals_.size()) {
        next = std::min(next, question_.jobs[arrivals_[arrived]].arrival);
      }
      idle_.pass(next - now);
      now = next;
      while (!ends_.empty() && ends_.top().at == now) {
        const End end = ends_.top();
        ends_.pop();
        const JobProgress& progress = state_.progress(end.job);
        if (progress.stage == Stage::running && progress.stretches == end.stretch) {
          finish(end.job, now);
        }
      }
      for (; arrived < arrivals_.size() && question_.jobs[arrivals_[arrived]].arrival == now; ++arrived) {
        admit(arrivals_[arrived], now);
      }
      if (by_plan_) {
        start_planned(now);
      } else {
        pass(now);
      }
    }
    return summary();
  }

 private:
  struct End {
    Seconds at{};
    std::size_t job = 0;
    std::uint32_t stretch = 0;
    bool operator>(const End& o) const noexcept { return at > o.at || (at == o.at && job > o.job); }
  };

  void pass(Seconds now) {
    dispatcher_.pass(now);
    for (const std::size_t job : dispatcher_.take_started()) {
      if (state_.progress(job).stage == Stage::running) {
        started(job);
      }
    }
    for (const std::size_t job : dispatcher_.take_stopped()) {
      if (state_.progress(job).stage == Stage::waiting) {
        idle_.waits(job);
      }
    }
  }

  void start_planned(Seconds now) {
    for (; !planned_.empty() && planned_.front().start == now; planned_ = planned_.subspan(1)) {
      state_.start(planned_.front().job, planned_.front().choice, planned_.front().parts, now);
      started(planned_.front().job);
    }
  }

  void started(std::size_t job) {
    const JobProgress& progress = state_.progress(job);
    ends_.push({progress.end, job, progress.stretches});
    idle_.waits_no_more(job);
  }

  /// A job arrives, and is refused, or has its credits reserved and waits.
  void admit(std::size_t job, Seconds now) {
    JobProgress& progress = state_.progress(job);
    if (progress.stage == Stage::over) {
      return;
    }
    const Job& asked = question_.jobs[job];
    const Tenant& tenant = question_.tenants[asked.tenant];
    const bool charges = ledger_.charges(asked.tenant);
    double least = 0.0, most = 0.0;
    bool within_quota = false, allowed = false;
    for (std::size_t c = 0; c < asked.choices.size(); ++c) {
      const Choice& choice = asked.choices[c];
      const bool quota = tenant.quota.empty() || choice.gpus <= tenant.quota[choice.pool];
      const double cost = real(choice.gpus) * choice.time.raw() * question_.pools[choice.pool].credits;
      if (quota) {
        least = within_quota ? std::min(least, cost) : cost;
        within_quota = true;
      }
      progress.allowed[c] = quota && (!charges || cost <= ledger_.balance(asked.tenant));
      if (progress.allowed[c]) {
        most = std::max(most, cost);
        allowed = true;
      }
    }
    if (!pins_.empty() && pins_[job] != free_choice && progress.allowed[pins_[job]]) {
      progress.allowed.assign(progress.allowed.size(), false);
      progress.allowed[pins_[job]] = true;
    }
    if (!within_quota) {
      refuse(job, Refusal::quota, 0, now);
    } else if (!allowed) {
      ledger_.refuse(now, asked.tenant, job, least);
      refuse(job, Refusal::credit, 0, now);
    } else {
      admitted_[job] = true;
      if (charges) {
        progress.reserved = most;
        ledger_.reserve(now, asked.tenant, job, most);
      }
      if (progress.unmet == 0) {
        ready(job, now);
      }
    }
  }

  void ready(std::size_t job, Seconds now) {
    state_.run(job).ready = now;
    dispatcher_.enter(job);
    idle_.waits(job);
  }

  void finish(std::size_t job, Seconds now) {
    state_.end(job);
    settle(job, now);
    if (state_.run(job).outcome == Outcome::crashed) {
      refuse_next(job, now);
      return;
    }
    for (const std::size_t next : next_[job]) {
      JobProgress& progress = state_.progress(next);
      if (--progress.unmet == 0 && admitted_[next] && progress.stage == Stage::ahead) {
        ready(next, now);
      }
    }
  }

  void settle(std::size_t job, Seconds now) {
    const std::size_t tenant = question_.jobs[job].tenant;
    if (ledger_.charges(tenant)) {
      ledger_.settle(now, tenant, job, state_.progress(job).reserved, state_.progress(job).used);
    }
  }

  void refuse(std::size_t job, Refusal why, std::size_t because, Seconds now) {
    JobRun& run = state_.run(job);
    run.outcome = Outcome::refused;
    run.refusal = why;
    run.because = because;
    state_.progress(job).stage = Stage::over;
    refuse_next(job, now);
  }

  /// Those that wait for a job that will have no result.
  void refuse_next(std::size_t job, Seconds now) {
    std::vector<std::size_t> without{job};
    while (!without.empty()) {
      const std::size_t before = without.back();
      without.pop_back();
      for (const std::size_t next : next_[before]) {
        JobProgress& progress = state_.progress(next);
        if (progress.stage != Stage::ahead) {
          continue;
        }
        if (admitted_[next]) {
          settle(next, now);
        }
        progress.stage = Stage::over;
        JobRun& run = state_.run(next);
        run.outcome = Outcome::refused;
        run.refusal = Refusal::prerequisite;
        run.because = before;
        without.push_back(next);
      }
    }
  }

  Schedule summary();

  ClusterQuestion question_;
  ClusterState state_;
  bool by_plan_;
  std::span<const PlannedStart> planned_;  // that are still to come
  std::vector<std::size_t> pins_;
  Dispatcher dispatcher_;
  CreditLedger ledger_;
  IdleMeter idle_;
  std::vector<std::vector<std::size_t>> next_;  // jobs that wait for it
  std::vector<std::size_t> arrivals_;           // jobs
  std::vector<bool> admitted_ = std::vector<bool>(question_.jobs.size(), false);
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

/// Most GPUs held at once.
std::int64_t most_held(const std::vector<Hold>& holds, std::size_t pool) {
  std::vector<std::pair<Seconds, std::int64_t>> changes;
  for (const Hold& hold : holds) {
    if (hold.pool == pool) {
      changes.emplace_back(hold.from, hold.gpus);
      changes.emplace_back(hold.to, -hold.gpus);
    }
  }
  std::sort(changes.begin(), changes.end());  // of equal times what ends first
  std::int64_t held = 0, most = 0;
  for (const auto& [at, gpus] : changes) {
    held += gpus;
    most = std::max(most, held);
  }
  return most;
}

Schedule ClusterRun::summary() {
  Schedule schedule;
  schedule.holds = state_.take_holds();
  schedule.ledger = ledger_.take();
  schedule.runs = state_.take_runs();
  schedule.tenants.resize(question_.tenants.size());
  std::vector<double> waits;
  for (std::size_t job = 0; job < schedule.runs.size(); ++job) {
    const JobRun& run = schedule.runs[job];
    if (run.outcome == Outcome::refused) {
      continue;
    }
    TenantUse& tenant = schedule.tenants[question_.jobs[job].tenant];
    waits.push_back((run.start - run.ready).raw());
    tenant.mean_wait += run.start - run.ready;
    ++tenant.ran;
    schedule.makespan = std::max(schedule.makespan, run.end);
  }
  for (TenantUse& tenant : schedule.tenants) {
    tenant.mean_wait = tenant.ran > 0 ? tenant.mean_wait / real(tenant.ran) : Seconds{};
  }
  if (!waits.empty()) {
    schedule.mean_wait = Seconds{mean(waits)};
    schedule.p95_wait = Seconds{quantile(waits, 0.95)};
  }
  std::vector<double> held(question_.pools.size(), 0.0);
  for (const Hold& hold : schedule.holds) {
    const double gpu_seconds = real(hold.gpus) * (hold.to - hold.from).raw();
    held[hold.pool] += gpu_seconds;
    schedule.tenants[question_.jobs[hold.job].tenant].gpu_seconds += gpu_seconds;
  }
  for (std::size_t p = 0; p < question_.pools.size(); ++p) {
    const Pool& pool = question_.pools[p];
    const double whole = real(pool.gpus()) * schedule.makespan.raw();
    PoolUse use;
    use.busy = whole > 0.0 ? held[p] / whole : 0.0;
    use.stranded = idle_.stranded(p);
    use.fragmented = idle_.fragmented(p);
    use.cost = pool.price * Seconds{pool.rented ? held[p] : whole};
    use.most = most_held(schedule.holds, p);
    schedule.cost += use.cost;
    schedule.pools.push_back(use);
  }
  return schedule;
}

}  // namespace

Schedule run_cluster(const ClusterQuestion& question, const Policy& policy, const ListOrder& order) {
  return ClusterRun{question, policy, order, {}}.run();
}

Schedule run_planned(const ClusterQuestion& question, std::span<const PlannedStart> starts) {
  ListOrder any;
  any.ranks.resize(question.jobs.size());
  std::iota(any.ranks.begin(), any.ranks.end(), std::size_t{0});
  return ClusterRun{question, Policy{}, any, starts}.run();
}

}  // namespace headroom::scheduler
