// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/scheduler/exact_makespan.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace headroom::scheduler {
namespace {

/// When each GPU of a pool's nodes is free again, of a node in rising order.
struct PoolTimes {
  std::int64_t nodes = 0, per_node = 1;
  std::vector<Seconds> free_at;

  [[nodiscard]] std::size_t first_of(std::int64_t node) const noexcept {
    return static_cast<std::size_t>(node * per_node);
  }
  /// The earliest time at which `gpus` of the node are free.
  [[nodiscard]] Seconds ready(std::int64_t node, std::int64_t gpus) const noexcept {
    return free_at[first_of(node) + static_cast<std::size_t>(gpus) - 1];
  }
  void hold(const NodePart& part, Seconds start, Seconds end) {
    const auto first = free_at.begin() + static_cast<std::ptrdiff_t>(first_of(part.node));
    const auto last = first + per_node;
    // Of those free by the start the latest, so that the order holds in front of them.
    const auto behind = std::upper_bound(first, last, start);
    std::fill(behind - part.gpus, behind, end);
    std::sort(first, last);
  }
  /// Whether two nodes are the same for whatever starts at `from` or later.
  [[nodiscard]] bool alike(std::int64_t a, std::int64_t b, Seconds from) const noexcept {
    for (std::size_t i = 0; i < static_cast<std::size_t>(per_node); ++i) {
      if (std::max(free_at[first_of(a) + i], from) != std::max(free_at[first_of(b) + i], from)) {
        return false;
      }
    }
    return true;
  }
};

class BranchAndBound {
 public:
  BranchAndBound(const ClusterQuestion& question, Seconds below, std::int64_t steps)
      : question_{question}, best_{below}, steps_{steps}, ends_(question.jobs.size()), placed_(ends_.size(), false) {
    const std::span<const Job> jobs = question_.jobs;
    for (std::size_t p = 0; p < question_.pools.size(); ++p) {
      const Pool& pool = question_.pools[p];
      // Of nodes that are all alike no more than all jobs together could use at once.
      std::int64_t useful = 0;
      for (const Job& job : jobs) {
        std::int64_t most = 0;
        for (const Choice& choice : job.choices) {
          if (choice.pool == p) {
            most = std::max(most, (choice.gpus + pool.gpus_per_node - 1) / pool.gpus_per_node);
          }
        }
        useful += most;
      }
      const std::int64_t nodes = std::min(pool.nodes, std::max<std::int64_t>(useful, 1));
      pools_.push_back(
          {nodes, pool.gpus_per_node, std::vector<Seconds>(static_cast<std::size_t>(nodes * pool.gpus_per_node))});
      gpus_ += nodes * pool.gpus_per_node;
    }
    tails_.resize(jobs.size());
    areas_.resize(jobs.size());
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      for (std::size_t c = 0; c < jobs[job].choices.size(); ++c) {
        const double area = real(jobs[job].choices[c].gpus) * time_on(job, c).raw();
        areas_[job] = c == 0 ? area : std::min(areas_[job], area);
      }
    }
    // Chains are as long as there are jobs at most.
    for (std::size_t round = 0; round < jobs.size(); ++round) {
      for (std::size_t job = 0; job < jobs.size(); ++job) {
        Seconds behind{}, shortest{};
        for (std::size_t next = 0; next < jobs.size(); ++next) {
          const std::vector<std::size_t>& after = jobs[next].after;
          if (std::find(after.begin(), after.end(), job) != after.end()) {
            behind = std::max(behind, tails_[next]);
          }
        }
        for (std::size_t c = 0; c < jobs[job].choices.size(); ++c) {
          shortest = c == 0 ? time_on(job, c) : std::min(shortest, time_on(job, c));
        }
        tails_[job] = shortest + behind;
      }
    }
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      twin_.push_back(job);
      for (std::size_t other = 0; other < job && twin_[job] == job; ++other) {
        if (alike(jobs[other], jobs[job], other, job)) {
          twin_[job] = other;
        }
      }
    }
  }

  ExactMakespan search() {
    descend(Seconds{}, Seconds{});
    return {best_, steps_ > 0, best_starts_};
  }

 private:
  [[nodiscard]] Seconds time_on(std::size_t job, std::size_t choice) const {
    const Choice& on = question_.jobs[job].choices[choice];
    const Pool& pool = question_.pools[on.pool];
    return stretch_time(question_.jobs[job], JobProgress{}, on, pool);
  }
  /// Jobs of which either may stand for the other.
  [[nodiscard]] bool alike(const Job& a, const Job& b, std::size_t index_a, std::size_t index_b) const {
    const auto waits_for = [&](std::size_t before) {
      return std::any_of(question_.jobs.begin(), question_.jobs.end(), [&](const Job& job) {
        return std::find(job.after.begin(), job.after.end(), before) != job.after.end();
      });
    };
    return a.tenant == b.tenant && a.arrival == b.arrival && a.after == b.after && !waits_for(index_a) &&
           !waits_for(index_b) &&
           std::equal(a.choices.begin(), a.choices.end(), b.choices.begin(), b.choices.end(),
                      [](const Choice& x, const Choice& y) {
                        return x.pool == y.pool && x.gpus == y.gpus && x.time == y.time && x.spill == y.spill;
                      });
  }

  void descend(Seconds from, Seconds ended) {
    if (starts_.size() == question_.jobs.size()) {
      if (ended < best_) {
        best_ = ended;
        best_starts_ = starts_;
      }
      return;
    }
    if (bound(from, ended) >= best_) {
      return;
    }
    for (std::size_t job = 0; job < question_.jobs.size() && steps_ > 0; ++job) {
      const bool later_twin = twin_[job] != job && !earlier_twins_placed(job);
      if (placed_[job] || later_twin) {
        continue;
      }
      Seconds ready = std::max(from, question_.jobs[job].arrival);
      bool met = true;
      for (const std::size_t before : question_.jobs[job].after) {
        met = met && placed_[before];
        ready = std::max(ready, ends_[before]);
      }
      for (std::size_t c = 0; met && c < question_.jobs[job].choices.size(); ++c) {
        const std::vector<std::int64_t>& quota = question_.tenants[question_.jobs[job].tenant].quota;
        const Choice& choice = question_.jobs[job].choices[c];
        if (quota.empty() || choice.gpus <= quota[choice.pool]) {
          try_choice(job, c, ready, ended);
        }
      }
    }
  }

  [[nodiscard]] bool earlier_twins_placed(std::size_t job) const {
    for (std::size_t other = 0; other < job; ++other) {
      if (twin_[other] == twin_[job] && !placed_[other]) {
        return false;
      }
    }
    return true;
  }

  /// Of what is placed and what is left.
  [[nodiscard]] Seconds bound(Seconds from, Seconds ended) const {
    Seconds bound = ended;
    double area = 0.0;
    for (std::size_t job = 0; job < question_.jobs.size(); ++job) {
      if (placed_[job]) {
        continue;
      }
      Seconds ready = std::max(from, question_.jobs[job].arrival);
      for (const std::size_t before : question_.jobs[job].after) {
        ready = placed_[before] ? std::max(ready, ends_[before]) : ready;
      }
      bound = std::max(bound, ready + tails_[job]);
      area += areas_[job];
    }
    for (const PoolTimes& pool : pools_) {
      for (const Seconds free_at : pool.free_at) {
        area += std::max(free_at, from).raw();
      }
    }
    // A little less, since its sum rounds and equality would cut a schedule that is better by that.
    return std::max(bound, Seconds{area / real(gpus_) * (1.0 - 1e-12)});
  }

  /// The earliest time from `ready` at which the tenant's quota has room for the choice.
  [[nodiscard]] Seconds within_quota(std::size_t job, const Choice& choice, Seconds ready) const {
    const Job& asked = question_.jobs[job];
    const std::vector<std::int64_t>& quota = question_.tenants[asked.tenant].quota;
    if (quota.empty()) {
      return ready;
    }
    std::vector<std::pair<Seconds, std::int64_t>> held;
    std::int64_t sum = choice.gpus;
    for (const PlannedStart& start : starts_) {
      const Job& other = question_.jobs[start.job];
      const Choice& on = other.choices[start.choice];
      if (other.tenant == asked.tenant && on.pool == choice.pool && ends_[start.job] > ready) {
        held.emplace_back(ends_[start.job], on.gpus);
        sum += on.gpus;
      }
    }
    std::sort(held.begin(), held.end());
    for (const auto& [end, gpus] : held) {
      if (sum <= quota[choice.pool]) {
        break;
      }
      sum -= gpus;
      ready = end;
    }
    return ready;
  }

  struct Spot {
    Seconds start{};
    std::vector<NodePart> parts;
  };
  /// All places that differ for a gang that is ready then.
  [[nodiscard]] std::vector<Spot> spots(const Choice& choice, Seconds ready) const {
    const PoolTimes& pool = pools_[choice.pool];
    const std::int64_t whole = choice.gpus / pool.per_node, rest = choice.gpus % pool.per_node;
    std::vector<Spot> found;
    std::vector<std::pair<Seconds, std::int64_t>> by_ready;  // nodes by when they are free as a whole
    for (std::int64_t node = 0; node < pool.nodes; ++node) {
      by_ready.emplace_back(pool.ready(node, pool.per_node), node);
    }
    std::sort(by_ready.begin(), by_ready.end());
    const auto add = [&](std::int64_t rest_node) {
      Spot spot{ready, {}};
      std::int64_t needed = whole;
      for (const auto& [at, node] : by_ready) {
        if (needed == 0) {
          break;
        }
        if (node != rest_node) {
          spot.parts.push_back({node, pool.per_node});
          spot.start = std::max(spot.start, at);
          --needed;
        }
      }
      if (rest > 0) {
        spot.parts.push_back({rest_node, rest});
        spot.start = std::max(spot.start, pool.ready(rest_node, rest));
      }
      if (needed == 0) {
        found.push_back(std::move(spot));
      }
    };
    if (rest == 0) {
      add(-1);
      return found;
    }
    for (std::int64_t node = 0; node < pool.nodes; ++node) {
      bool seen = false;
      for (std::int64_t other = 0; other < node && !seen; ++other) {
        seen = pool.alike(node, other, ready);
      }
      if (!seen) {
        add(node);
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const Spot& a, const Spot& b) { return a.start < b.start; });
    return found;
  }

  /// Whether one of the job's choices that do not spill could start by then.
  [[nodiscard]] bool starts_unspilt(std::size_t job, Seconds ready, Seconds by) const {
    const Job& asked = question_.jobs[job];
    for (std::size_t c = 0; c < asked.choices.size(); ++c) {
      if (spills(question_.pools, asked, c)) {
        continue;
      }
      for (const Spot& spot : spots(asked.choices[c], within_quota(job, asked.choices[c], ready))) {
        if (spot.start <= by) {
          return true;
        }
      }
    }
    return false;
  }

  void try_choice(std::size_t job, std::size_t c, Seconds ready, Seconds ended) {
    const Choice& choice = question_.jobs[job].choices[c];
    const Seconds time = time_on(job, c);
    const bool spill = spills(question_.pools, question_.jobs[job], c);
    PoolTimes& pool = pools_[choice.pool];
    for (const Spot& spot : spots(choice, within_quota(job, choice, ready))) {
      const Seconds end = spot.start + time;
      if (end >= best_ || steps_ <= 0) {
        return;  // later spots end later
      }
      if (spill && starts_unspilt(job, ready, spot.start)) {
        return;
      }
      --steps_;
      const std::vector<Seconds> before = pool.free_at;
      for (const NodePart& part : spot.parts) {
        pool.hold(part, spot.start, end);
      }
      ends_[job] = end;
      placed_[job] = true;
      starts_.push_back({job, c, spot.start, spot.parts});
      descend(spot.start, std::max(ended, end));
      starts_.pop_back();
      placed_[job] = false;
      pool.free_at = before;
    }
  }

  ClusterQuestion question_;
  Seconds best_;
  std::int64_t steps_;
  std::vector<Seconds> ends_;  // of placed jobs
  std::vector<bool> placed_;
  std::vector<PoolTimes> pools_;
  std::int64_t gpus_ = 0;
  std::vector<Seconds> tails_;     // shortest time of a job and of what waits for it
  std::vector<double> areas_;      // least GPU-seconds of a job
  std::vector<std::size_t> twin_;  // the first job that it is like
  std::vector<PlannedStart> starts_, best_starts_;
};

}  // namespace

bool exact_applies(const ClusterQuestion& question) {
  return !question.jobs.empty() && question.jobs.size() <= exact_jobs &&
         std::all_of(question.jobs.begin(), question.jobs.end(),
                     [&](const Job& job) { return job.priority == question.jobs.front().priority && !job.crash; }) &&
         std::none_of(question.tenants.begin(), question.tenants.end(),
                      [](const Tenant& tenant) { return tenant.credit.has_value(); });
}

ExactMakespan exact_makespan(const ClusterQuestion& question, Seconds below, std::int64_t steps) {
  return BranchAndBound{question, below, steps}.search();
}

}  // namespace headroom::scheduler
