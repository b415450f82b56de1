// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/scheduler/makespan_bound.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

namespace headroom::scheduler {
namespace {

constexpr std::size_t kinds = 3;  // of resources: GPUs, nodes, the pool as a whole
constexpr int dual_steps = 60;

/// Of a whole of `of`: 1 for more than half of it, half for a half, nothing for less.
double by_halves(std::int64_t part, std::int64_t of) noexcept {
  return 2 * part > of ? 1.0 : 2 * part == of ? 0.5 : 0.0;
}

/// A choice's seconds of each resource of its pool, over the resource.
struct Load {
  std::size_t pool = 0;
  std::array<double, kinds> of{};
};

Load load_of(const Pool& pool, const Choice& choice, Seconds time) {
  const std::int64_t whole = choice.gpus / pool.gpus_per_node, rest = choice.gpus % pool.gpus_per_node;
  const double seconds = time.raw();
  return {choice.pool,
          {real(choice.gpus) * seconds / real(pool.gpus()),
           (real(whole) + by_halves(rest, pool.gpus_per_node)) * seconds / real(pool.nodes),
           by_halves(choice.gpus, pool.gpus()) * seconds}};
}

class AreaDual {
 public:
  AreaDual(std::vector<std::vector<Load>> loads, std::size_t pools) : loads_{std::move(loads)}, pools_{pools} {}

  /// Area of a job under weights of the resources.
  [[nodiscard]] static double area(const std::vector<Load>& job, std::span<const double> weights) noexcept {
    double least = 0.0;
    for (std::size_t c = 0; c < job.size(); ++c) {
      const double own = weighted(job[c], weights);
      least = c == 0 ? own : std::min(least, own);
    }
    return least;
  }
  /// The weights whose sum of areas is the largest found.
  [[nodiscard]] std::vector<double> best_weights() const {
    const std::size_t resources = pools_ * kinds;
    std::vector<double> best(resources, 1.0 / real(static_cast<std::int64_t>(resources)));
    double most = total(best);
    for (std::size_t r = 0; r < resources; ++r) {
      std::vector<double> alone(resources, 0.0);
      alone[r] = 1.0;
      if (const double sum = total(alone); sum > most) {
        most = sum;
        best = alone;
      }
    }
    std::vector<double> weights(resources, 0.0);
    for (std::size_t pool = 0; pool < pools_; ++pool) {  // areas alone first: they decide most often
      weights[pool * kinds] = 1.0;
      weights[pool * kinds + 1] = weights[pool * kinds + 2] = 0.05;
    }
    const double sum_of_weights = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) {
      weight /= sum_of_weights;
    }
    for (int step = 0; step < dual_steps; ++step) {
      std::vector<double> use(resources, 0.0);
      double sum = 0.0;
      for (const std::vector<Load>& job : loads_) {
        const Load* least = &job.front();
        for (const Load& load : job) {
          least = weighted(load, weights) < weighted(*least, weights) ? &load : least;
        }
        sum += weighted(*least, weights);
        for (std::size_t k = 0; k < kinds; ++k) {
          use[least->pool * kinds + k] += least->of[k];
        }
      }
      if (sum > most) {
        most = sum;
        best = weights;
      }
      const double largest = *std::max_element(use.begin(), use.end());
      double whole = 0.0;
      for (std::size_t r = 0; r < resources; ++r) {
        weights[r] *= 1.0 + 0.5 / (1.0 + 0.1 * step) * (largest > 0.0 ? use[r] / largest : 0.0);
        whole += weights[r];
      }
      for (double& weight : weights) {
        weight /= whole;
      }
    }
    return best;
  }

 private:
  [[nodiscard]] static double weighted(const Load& load, std::span<const double> weights) noexcept {
    double sum = 0.0;
    for (std::size_t k = 0; k < kinds; ++k) {
      sum += weights[load.pool * kinds + k] * load.of[k];
    }
    return sum;
  }
  [[nodiscard]] double total(std::span<const double> weights) const noexcept {
    double sum = 0.0;
    for (const std::vector<Load>& job : loads_) {
      sum += area(job, weights);
    }
    return sum;
  }
  std::vector<std::vector<Load>> loads_;
  std::size_t pools_;
};

}  // namespace

Seconds makespan_bound(const ClusterQuestion& question, const std::vector<bool>& counts) {
  const std::span<const Job> jobs = question.jobs;
  std::vector<std::vector<Load>> loads;
  std::vector<std::size_t> job_of;
  std::vector<Seconds> shortest(jobs.size());
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    if (!counts[job]) {
      continue;
    }
    job_of.push_back(job);
    loads.emplace_back();
    for (const Choice& choice : jobs[job].choices) {
      const Pool& pool = question.pools[choice.pool];
      Seconds time = jobs[job].crash ? std::min(choice.time, *jobs[job].crash) : choice.time;
      if (pool.rented) {
        time += pool.start_up;
      }
      shortest[job] = loads.back().empty() ? time : std::min(shortest[job], time);
      loads.back().push_back(load_of(pool, choice, time));
    }
  }
  if (loads.empty()) {
    return Seconds{};
  }
  // The earliest starts along chains; jobs stand in any order.
  std::vector<Seconds> earliest(jobs.size());
  std::vector<std::size_t> unmet(jobs.size()), ready;
  std::vector<std::vector<std::size_t>> next(jobs.size());
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    earliest[job] = jobs[job].arrival;
    unmet[job] = jobs[job].after.size();
    for (const std::size_t before : jobs[job].after) {
      next[before].push_back(job);
    }
    if (unmet[job] == 0) {
      ready.push_back(job);
    }
  }
  Seconds bound{};
  while (!ready.empty()) {
    const std::size_t job = ready.back();
    ready.pop_back();
    if (counts[job]) {
      bound = std::max(bound, earliest[job] + shortest[job]);
    }
    for (const std::size_t after : next[job]) {
      earliest[after] = std::max(earliest[after], earliest[job] + shortest[job]);
      if (--unmet[after] == 0) {
        ready.push_back(after);
      }
    }
  }
  const std::vector<double> weights = AreaDual{loads, question.pools.size()}.best_weights();
  std::vector<std::size_t> late_first(loads.size());
  std::iota(late_first.begin(), late_first.end(), std::size_t{0});
  std::stable_sort(late_first.begin(), late_first.end(),
                   [&](std::size_t a, std::size_t b) { return earliest[job_of[a]] > earliest[job_of[b]]; });
  double area = 0.0;
  for (const std::size_t i : late_first) {
    area += AreaDual::area(loads[i], weights);
    bound = std::max(bound, earliest[job_of[i]] + Seconds{area});
  }
  return bound;
}

}  // namespace headroom::scheduler
