// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/scheduler/cluster_state.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace headroom::scheduler {

bool spills(std::span<const Pool> pools, const Job& job, std::size_t choice) noexcept {
  const Choice& own = job.choices[choice];
  return own.spill ||
         (pools[own.pool].rented && std::any_of(job.choices.begin(), job.choices.end(),
                                                [&](const Choice& other) { return !pools[other.pool].rented; }));
}

ClusterState::ClusterState(const ClusterQuestion& question)
    : question_{question},
      running_(question.pools.size()),
      held_(question.tenants.size() * question.pools.size(), 0),
      progress_(question.jobs.size()),
      runs_(question.jobs.size()) {
  for (const Pool& pool : question_.pools) {
    rooms_.emplace_back(pool.nodes, pool.gpus_per_node);
    maps_.emplace_back(pool.nodes, pool.gpus_per_node);
  }
  for (std::size_t job = 0; job < progress_.size(); ++job) {
    progress_[job].unmet = question_.jobs[job].after.size();
    progress_[job].allowed.assign(question_.jobs[job].choices.size(), true);
  }
}

std::int64_t ClusterState::quota_left(std::size_t tenant, std::size_t pool) const noexcept {
  const std::vector<std::int64_t>& quota = question_.tenants[tenant].quota;
  return quota.empty() ? std::numeric_limits<std::int64_t>::max() : quota[pool] - held(tenant, pool);
}

double ClusterState::weighted_share(std::size_t tenant) const noexcept {
  double share = 0.0;
  for (std::size_t pool = 0; pool < question_.pools.size(); ++pool) {
    share = std::max(share, real(held(tenant, pool)) / real(question_.pools[pool].gpus()));
  }
  return share / question_.tenants[tenant].weight;
}

Seconds ClusterState::time_on(std::size_t job, std::size_t choice) const {
  const Choice& asked = question_.jobs[job].choices[choice];
  return stretch_time(question_.jobs[job], progress_[job], asked, question_.pools[asked.pool]);
}

void ClusterState::start(std::size_t job, std::size_t choice, std::vector<NodePart> parts, Seconds now) {
  const Job& asked = question_.jobs[job];
  const std::size_t pool = asked.choices[choice].pool;
  JobProgress& progress = progress_[job];
  const bool first = progress.stretches == 0;
  progress.stage = Stage::running;
  progress.runs.clear();
  for (const NodePart& part : parts) {
    rooms_[pool].take(part);
    maps_[pool].take(part, progress.runs);
  }
  progress.parts = std::move(parts);
  begin_stretch(asked, progress, asked.choices[choice], question_.pools[pool], now);
  runs_[job].choice = choice;
  if (first) {
    runs_[job].start = progress.begin;
  }
  const Running entry{progress.planned_end, job};
  running_[pool].insert(std::lower_bound(running_[pool].begin(), running_[pool].end(), entry), entry);
  held_[asked.tenant * question_.pools.size() + pool] += asked.choices[choice].gpus;
}

void ClusterState::release(std::size_t job, Seconds now) {
  const std::size_t pool = choice(job).pool;
  JobProgress& progress = progress_[job];
  for (const NodePart& part : progress.parts) {
    rooms_[pool].give(part);
  }
  for (const GpuMap::Run& run : progress.runs) {
    maps_[pool].give(run);
    holds_.push_back({job, pool, run.node, run.first, run.gpus, progress.from, now});
  }
  const Running entry{progress.planned_end, job};
  running_[pool].erase(std::lower_bound(running_[pool].begin(), running_[pool].end(), entry));
  held_[question_.jobs[job].tenant * question_.pools.size() + pool] -= choice(job).gpus;
}

void ClusterState::stop(std::size_t job, Seconds now) {
  release(job, now);
  const Choice& on = choice(job);
  runs_[job].lost += stop_stretch(question_.jobs[job], progress_[job], on, question_.pools[on.pool], now);
  ++runs_[job].stops;
  progress_[job].stage = Stage::waiting;
}

void ClusterState::end(std::size_t job) {
  const Seconds now = progress_[job].end;
  release(job, now);
  const Choice& on = choice(job);
  JobRun& run = runs_[job];
  run.lost += end_stretch(progress_[job], on, question_.pools[on.pool]);
  run.end = now;
  const Job& asked = question_.jobs[job];
  run.outcome = progress_[job].crashes                    ? Outcome::crashed
                : asked.deadline && now > *asked.deadline ? Outcome::late
                                                          : Outcome::done;
  progress_[job].stage = Stage::over;
}

std::vector<Hold> ClusterState::take_holds() {
  std::stable_sort(holds_.begin(), holds_.end(),
                   [](const Hold& a, const Hold& b) { return a.from < b.from || (a.from == b.from && a.job < b.job); });
  return std::move(holds_);
}

}  // namespace headroom::scheduler
