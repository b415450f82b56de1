// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/scheduler/cluster_run.hpp>
#include <headroom/model/scheduler/exact_makespan.hpp>
#include <headroom/model/scheduler/job_ranks.hpp>
#include <headroom/model/scheduler/makespan_bound.hpp>
#include <headroom/model/scheduler/makespan_search.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace headroom::scheduler {
namespace {

constexpr std::int64_t exact_steps = 300000;   // placements of branch and bound
constexpr std::int64_t nodes_of_a_step = 256;  // that a pass looks through in the time of a hold

std::int64_t refusals(const Schedule& schedule) {
  return std::count_if(schedule.runs.begin(), schedule.runs.end(),
                       [](const JobRun& run) { return run.outcome == Outcome::refused; });
}

std::vector<bool> jobs_that_ran(const Schedule& schedule) {
  std::vector<bool> ran;
  for (const JobRun& run : schedule.runs) {
    ran.push_back(run.outcome != Outcome::refused);
  }
  return ran;
}

/// Ranks by priority, then by a size that is larger first, then by index.
std::vector<std::size_t> ranks_by(std::span<const Job> jobs, const std::vector<double>& sizes) {
  std::vector<std::size_t> order(jobs.size()), ranks(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return jobs[a].priority != jobs[b].priority ? jobs[a].priority > jobs[b].priority : sizes[a] > sizes[b];
  });
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    ranks[order[rank]] = rank;
  }
  return ranks;
}

/// Numbers that are the same everywhere (Marsaglia 2003, xorshift64).
class Shifts {
 public:
  std::size_t below(std::size_t count) noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::size_t>(state_ % count);
  }

 private:
  std::uint64_t state_ = 88172645463325252ULL;
};

/// Moves one job of the list to another rank, the ones between by one.
void move_to(std::vector<std::size_t>& ranks, std::size_t job, std::size_t to) {
  const std::size_t from = ranks[job];
  for (std::size_t& rank : ranks) {
    if (from < rank && rank <= to) {
      --rank;
    } else if (to <= rank && rank < from) {
      ++rank;
    }
  }
  ranks[job] = to;
}

class MakespanSearch {
 public:
  MakespanSearch(const ClusterQuestion& question, const Policy& policy)
      : question_{question}, policy_{policy}, steps_{policy.search_steps} {
    policy_.order = Order::shortest;
    for (const Pool& pool : question_.pools) {
      pass_steps_ += pool.nodes + pool.gpus_per_node;
    }
    pass_steps_ = 1 + static_cast<std::int64_t>(question_.jobs.size()) * pass_steps_ / nodes_of_a_step;
  }

  Schedule search() {
    try_lists();
    const Seconds bound = makespan_bound(question_, jobs_that_ran(best_));
    bound_ = bound;
    if (!reached() && exact_applies(question_) && refused_ == 0) {
      const ExactMakespan exact = exact_makespan(question_, best_.makespan, exact_steps);
      if (!exact.starts.empty()) {
        best_ = run_planned(question_, exact.starts);
      }
      best_.proven = exact.proven;
    }
    if (!best_.proven) {
      improve();
    }
    return std::move(best_);
  }

 private:
  [[nodiscard]] bool reached() const { return best_.makespan <= bound_ * (1.0 + 1e-12); }

  /// Keeps the list's schedule if it is no worse than the best.
  void try_list(const ListOrder& list, Order order = Order::shortest) {
    Policy policy = policy_;
    policy.order = order;
    Schedule made = run_cluster(question_, policy, list);
    steps_ -= static_cast<std::int64_t>(made.holds.size()) + pass_steps_;
    const std::int64_t refused = refusals(made);
    if (!some_ || refused < refused_ || (refused == refused_ && made.makespan <= best_.makespan)) {
      some_ = true;
      refused_ = refused;
      best_ = std::move(made);
      list_ = list;
    }
  }

  void try_lists() {
    const std::span<const Job> jobs = question_.jobs;
    std::vector<double> areas, gangs;
    for (const Job& job : jobs) {
      const Choice& first = job.choices.front();
      areas.push_back(real(first.gpus) * first.time.raw());
      gangs.push_back(real(first.gpus));
    }
    for (const Order order : {Order::backfill, Order::fair}) {
      Policy policy = policy_;
      policy.order = order;
      try_list({ranks_of(question_, policy), {}}, order);
    }
    try_list({ranks_by(jobs, gangs), {}});
    try_list({ranks_by(jobs, areas), {}});
    try_list({ranks_of(question_, policy_), {}});
  }

  void improve() {
    Shifts shifts;
    const std::size_t jobs = question_.jobs.size();
    while (steps_ > 0 && !reached() && jobs > 1) {
      ListOrder list = list_;
      const std::size_t kind = shifts.below(4);
      const std::size_t job = kind == 0 ? last_to_end() : shifts.below(jobs);
      const std::size_t choices = question_.jobs[job].choices.size();
      if (kind == 3 && choices > 1) {
        list.pins.resize(jobs, free_choice);
        const std::size_t pin = shifts.below(choices + 1);
        // One that spills is no one's to choose.
        list.pins[job] = pin == choices || spills(question_.pools, question_.jobs[job], pin) ? free_choice : pin;
      } else if (kind == 0) {
        move_to(list.ranks, job, shifts.below(list.ranks[job] + 1));
      } else {
        move_to(list.ranks, job, shifts.below(jobs));
      }
      try_list(list);
    }
  }

  [[nodiscard]] std::size_t last_to_end() const {
    std::size_t last = 0;
    Seconds end{};
    for (std::size_t job = 0; job < best_.runs.size(); ++job) {
      if (best_.runs[job].outcome != Outcome::refused && best_.runs[job].end > end) {
        end = best_.runs[job].end;
        last = job;
      }
    }
    return last;
  }

  ClusterQuestion question_;
  Policy policy_;
  std::int64_t steps_, pass_steps_ = 0;
  Seconds bound_{};
  Schedule best_;
  ListOrder list_;
  std::int64_t refused_ = 0;
  bool some_ = false;
};

}  // namespace

Schedule search_makespan(const ClusterQuestion& question, const Policy& policy) {
  return MakespanSearch{question, policy}.search();
}

}  // namespace headroom::scheduler
