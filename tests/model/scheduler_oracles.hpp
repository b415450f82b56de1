// SPDX-License-Identifier: Apache-2.0
// What the scheduler's answers are held against: the rules written as they read, and every schedule tried.
#pragma once

#include "scheduler_cases.hpp"
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace headroom::scheduler_cases {

/// Starts of jobs with one choice each on one pool of nodes of one GPU, in counts alone and looking at every job at
/// every moment: FIFO, EASY backfill and weighted shares.
inline std::vector<double> naive_starts(const Case& c) {
  const std::int64_t gpus = c.pools[0].gpus();
  const std::size_t n = c.jobs.size();
  std::vector<double> start(n, -1.0), end(n, -1.0);
  std::vector<double> moments;
  for (const Job& job : c.jobs) {
    moments.push_back(job.arrival.raw());
  }
  std::sort(moments.begin(), moments.end());
  std::size_t holder = n;  // of the last moment's reservation, which it keeps under fair shares
  while (!moments.empty()) {
    const double now = moments.front();
    moments.erase(moments.begin(), std::upper_bound(moments.begin(), moments.end(), now));
    bool outranked = false, smaller = false;
    for (std::size_t j = 0; j < n && holder < n; ++j) {
      if (start[j] < 0.0 && c.jobs[j].arrival.raw() <= now) {
        outranked = outranked || c.jobs[j].priority > c.jobs[holder].priority;
        smaller = smaller || c.jobs[j].choices[0].gpus < c.jobs[holder].choices[0].gpus;
      }
    }
    if (c.policy.order != Order::fair || outranked || !smaller || (holder < n && start[holder] >= 0.0)) {
      holder = n;
    }
    std::vector<bool> passed(n, false);
    std::optional<double> shadow;
    std::int64_t extra = 0;
    bool closed = false;
    while (!closed) {
      std::int64_t free = gpus;
      std::vector<double> share(c.tenants.size(), 0.0);
      for (std::size_t j = 0; j < n; ++j) {
        if (start[j] >= 0.0 && end[j] > now) {
          free -= c.jobs[j].choices[0].gpus;
          share[c.jobs[j].tenant] += static_cast<double>(c.jobs[j].choices[0].gpus);
        }
      }
      std::size_t first = n;
      for (std::size_t j = 0; j < n; ++j) {
        if (start[j] >= 0.0 || c.jobs[j].arrival.raw() > now || passed[j]) {
          continue;
        }
        const auto key = [&](std::size_t k) {
          const Job& job = c.jobs[k];
          const double fair = c.policy.order == Order::fair
                                  ? share[job.tenant] / static_cast<double>(gpus) / c.tenants[job.tenant].weight
                                  : 0.0;
          const double arrived = c.policy.order == Order::fair ? 0.0 : job.arrival.raw();
          const double time = c.policy.longest_first ? -job.choices[0].time.raw() : 0.0;
          const std::int64_t gang = c.policy.longest_first ? -job.choices[0].gpus : 0;
          return std::make_tuple(k == holder ? 0 : 1, -job.priority, fair, arrived, time, gang, job.arrival.raw(), k);
        };
        if (first == n || key(j) < key(first)) {
          first = j;
        }
      }
      if (first == n) {
        break;
      }
      const Choice& choice = c.jobs[first].choices[0];
      const double would_end = now + choice.time.raw();
      passed[first] = true;
      if (choice.gpus <= free && (!shadow || would_end <= *shadow || choice.gpus <= extra)) {
        start[first] = now;
        end[first] = would_end;
        moments.insert(std::lower_bound(moments.begin(), moments.end(), would_end), would_end);
        if (shadow && would_end > *shadow) {
          extra -= choice.gpus;
        }
      } else if (c.policy.order == Order::fifo) {
        closed = true;
      } else if (!shadow) {
        holder = first;
        std::vector<std::pair<double, std::int64_t>> ends;
        for (std::size_t j = 0; j < n; ++j) {
          if (start[j] >= 0.0 && end[j] > now) {
            ends.emplace_back(end[j], c.jobs[j].choices[0].gpus);
          }
        }
        std::sort(ends.begin(), ends.end());
        std::int64_t then = free;
        for (std::size_t i = 0; i < ends.size(); ++i) {
          then += ends[i].second;
          shadow = ends[i].first;
          if (then >= choice.gpus && (i + 1 == ends.size() || ends[i + 1].first > ends[i].first)) {
            break;
          }
        }
        extra = then - choice.gpus;
      }
    }
  }
  return start;
}

/// The shortest makespan of a few jobs on a few GPUs: every order, every choice, every set of GPUs, each job as early
/// as the jobs before it on those GPUs allow. No GPU is thought to be like another.
class EverySchedule {
 public:
  explicit EverySchedule(const Case& c) : case_{c} {
    for (const Pool& pool : c.pools) {
      first_.push_back(free_at_.size());
      free_at_.resize(free_at_.size() + static_cast<std::size_t>(pool.gpus()), 0.0);
    }
    end_.assign(c.jobs.size(), -1.0);
    start_.assign(c.jobs.size(), -1.0);
    choice_.assign(c.jobs.size(), 0);
  }
  double shortest() {
    descend(0, 0.0);
    return best_;
  }

 private:
  void descend(std::size_t placed, double ended) {
    if (ended >= best_) {
      return;
    }
    if (placed == case_.jobs.size()) {
      best_ = ended;
      return;
    }
    for (std::size_t j = 0; j < case_.jobs.size(); ++j) {
      const Job& job = case_.jobs[j];
      if (end_[j] >= 0.0 ||
          std::any_of(job.after.begin(), job.after.end(), [&](std::size_t a) { return end_[a] < 0.0; })) {
        continue;
      }
      for (std::size_t k = 0; k < job.choices.size(); ++k) {
        const Pool& pool = case_.pools[job.choices[k].pool];
        for (std::uint32_t set = 1; set < (1U << pool.gpus()); ++set) {
          if (is_gang(set, pool, job.choices[k].gpus)) {
            place(placed, ended, j, k, set);
          }
        }
      }
    }
  }
  /// Inside one node where it fits there; else whole nodes and the rest in one.
  static bool is_gang(std::uint32_t set, const Pool& pool, std::int64_t gpus) {
    std::int64_t count = 0, nodes = 0;
    for (std::int64_t node = 0; node < pool.nodes; ++node) {
      std::int64_t here = 0;
      for (std::int64_t g = 0; g < pool.gpus_per_node; ++g) {
        here += (set >> (node * pool.gpus_per_node + g)) & 1U;
      }
      count += here;
      nodes += here > 0 ? 1 : 0;
    }
    if (count != gpus || nodes != (gpus + pool.gpus_per_node - 1) / pool.gpus_per_node) {
      return false;
    }
    std::int64_t partial = 0;
    for (std::int64_t node = 0; node < pool.nodes; ++node) {
      std::int64_t here = 0;
      for (std::int64_t g = 0; g < pool.gpus_per_node; ++g) {
        here += (set >> (node * pool.gpus_per_node + g)) & 1U;
      }
      partial += here > 0 && here < pool.gpus_per_node ? 1 : 0;
    }
    return partial <= 1;
  }
  [[nodiscard]] bool within_quota(std::size_t j, std::size_t k, double from, double to) const {
    const Job& job = case_.jobs[j];
    const std::vector<std::int64_t>& quota = case_.tenants[job.tenant].quota;
    if (quota.empty()) {
      return true;
    }
    const std::size_t pool = job.choices[k].pool;
    std::vector<double> moments{from};
    for (std::size_t o = 0; o < case_.jobs.size(); ++o) {
      if (end_[o] >= 0.0 && start_[o] > from && start_[o] < to) {
        moments.push_back(start_[o]);
      }
    }
    for (const double at : moments) {
      std::int64_t held = job.choices[k].gpus;
      for (std::size_t o = 0; o < case_.jobs.size(); ++o) {
        if (end_[o] > at && start_[o] <= at && case_.jobs[o].tenant == job.tenant &&
            case_.jobs[o].choices[choice_[o]].pool == pool) {
          held += case_.jobs[o].choices[choice_[o]].gpus;
        }
      }
      if (held > quota[pool]) {
        return false;
      }
    }
    return true;
  }
  void place(std::size_t placed, double ended, std::size_t j, std::size_t k, std::uint32_t set) {
    const Job& job = case_.jobs[j];
    const Choice& choice = job.choices[k];
    double start = job.arrival.raw();
    for (const std::size_t a : job.after) {
      start = std::max(start, end_[a]);
    }
    for (std::size_t g = 0; g < 32; ++g) {
      if ((set >> g) & 1U) {
        start = std::max(start, free_at_[first_[choice.pool] + g]);
      }
    }
    std::vector<double> starts{start};
    for (const double end : end_) {
      if (end > start) {
        starts.push_back(end);
      }
    }
    std::sort(starts.begin(), starts.end());
    const auto found = std::find_if(starts.begin(), starts.end(),
                                    [&](double at) { return within_quota(j, k, at, at + choice.time.raw()); });
    if (found == starts.end()) {
      return;
    }
    const std::vector<double> before = free_at_;
    start_[j] = *found;
    end_[j] = *found + choice.time.raw();
    choice_[j] = k;
    for (std::size_t g = 0; g < 32; ++g) {
      if ((set >> g) & 1U) {
        free_at_[first_[choice.pool] + g] = end_[j];
      }
    }
    descend(placed + 1, std::max(ended, end_[j]));
    end_[j] = start_[j] = -1.0;
    free_at_ = before;
  }

  const Case& case_;
  std::vector<std::size_t> first_;  // GPU of a pool
  std::vector<double> free_at_, start_, end_;
  std::vector<std::size_t> choice_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace headroom::scheduler_cases
