// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/scheduler/job_ranks.hpp>

#include <algorithm>
#include <numeric>
#include <span>

namespace headroom::scheduler {
namespace {

/// The least time of a job on choices that do not spill, of all if each does.
Seconds least_time(std::span<const Pool> pools, const Job& job) {
  Seconds least{}, least_of_all{};
  for (std::size_t c = 0; c < job.choices.size(); ++c) {
    const Seconds time = job.choices[c].time;
    if (!spills(pools, job, c) && (least == Seconds{} || time < least)) {
      least = time;
    }
    if (c == 0 || time < least_of_all) {
      least_of_all = time;
    }
  }
  return least > Seconds{} ? least : least_of_all;
}

}  // namespace

std::vector<std::size_t> ranks_of(const ClusterQuestion& question, const Policy& policy) {
  const std::span<const Job> jobs = question.jobs;
  std::vector<Seconds> times;
  for (const Job& job : jobs) {
    times.push_back(least_time(question.pools, job));
  }
  const bool by_arrival = policy.order == Order::fifo || policy.order == Order::backfill;
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (jobs[a].priority != jobs[b].priority) {
      return jobs[a].priority > jobs[b].priority;
    }
    if (by_arrival && jobs[a].arrival != jobs[b].arrival) {
      return jobs[a].arrival < jobs[b].arrival;
    }
    if (policy.longest_first && times[a] != times[b]) {
      return times[a] > times[b];
    }
    if (policy.longest_first && jobs[a].choices.front().gpus != jobs[b].choices.front().gpus) {
      return jobs[a].choices.front().gpus > jobs[b].choices.front().gpus;
    }
    return jobs[a].arrival != jobs[b].arrival ? jobs[a].arrival < jobs[b].arrival : a < b;
  });
  std::vector<std::size_t> ranks(jobs.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    ranks[order[rank]] = rank;
  }
  return ranks;
}

}  // namespace headroom::scheduler
