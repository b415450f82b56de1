// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/scheduler/idle_meter.hpp>

#include <algorithm>

namespace headroom::scheduler {

IdleMeter::IdleMeter(const ClusterState& state)
    : state_{&state}, waits_(state.question().jobs.size(), false), limited_index_(state.question().tenants.size(), 0) {
  const ClusterQuestion& question = state.question();
  const std::size_t pools = question.pools.size();
  for (const Job& job : question.jobs) {
    for (const Choice& choice : job.choices) {
      sizes_.push_back(choice.gpus);
    }
  }
  std::sort(sizes_.begin(), sizes_.end());
  sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
  for (std::size_t tenant = 0; tenant < question.tenants.size(); ++tenant) {
    if (!question.tenants[tenant].quota.empty()) {
      limited_.push_back(tenant);
      limited_index_[tenant] = limited_.size();
    }
  }
  outside_.assign(pools, RankSums{sizes_.size()});
  inside_ = outside_;
  inside_limited_.assign(limited_.size() * pools, RankSums{sizes_.size()});
  stranded_.assign(pools, 0.0);
  fragmented_.assign(pools, 0.0);
}

std::size_t IdleMeter::sizes_up_to(std::int64_t gpus) const noexcept {
  return static_cast<std::size_t>(std::upper_bound(sizes_.begin(), sizes_.end(), gpus) - sizes_.begin());
}

void IdleMeter::count(std::size_t job, double sign) {
  const Job& asked = state_->question().jobs[job];
  const std::size_t pools = outside_.size();
  for (std::size_t pool = 0; pool < pools; ++pool) {
    std::int64_t gang = asked.choices.front().gpus;
    bool inside = false;
    for (std::size_t c = 0; c < asked.choices.size(); ++c) {
      if (asked.choices[c].pool == pool && state_->progress(job).allowed[c]) {
        gang = inside ? std::min(gang, asked.choices[c].gpus) : asked.choices[c].gpus;
        inside = true;
      }
    }
    const std::size_t size = sizes_up_to(gang) - 1;
    (inside ? inside_ : outside_)[pool].add(size, sign * real(gang));
    if (inside && limited_index_[asked.tenant] > 0) {
      inside_limited_[(limited_index_[asked.tenant] - 1) * pools + pool].add(size, sign * real(gang));
    }
  }
}

void IdleMeter::waits(std::size_t job) {
  if (!waits_[job]) {
    waits_[job] = true;
    ++waiting_;
    count(job, 1.0);
  }
}

void IdleMeter::waits_no_more(std::size_t job) {
  if (waits_[job]) {
    waits_[job] = false;
    --waiting_;
    count(job, -1.0);
  }
}

void IdleMeter::pass(Seconds time) {
  if (waiting_ == 0) {
    return;
  }
  const std::size_t pools = outside_.size();
  for (std::size_t pool = 0; pool < pools; ++pool) {
    const std::int64_t free = state_->room(pool).free();
    if (free == 0) {
      continue;
    }
    const std::size_t fitting = sizes_up_to(free);
    double beyond_quota = 0.0;
    for (std::size_t i = 0; i < limited_.size(); ++i) {
      const std::size_t left = sizes_up_to(std::min(free, state_->quota_left(limited_[i], pool)));
      const RankSums& demand = inside_limited_[i * pools + pool];
      beyond_quota += demand.before(fitting) - demand.before(left);
    }
    const double stranded = std::min(real(free), outside_[pool].before(fitting) + beyond_quota);
    const double fragmented = std::min(real(free) - stranded, inside_[pool].before(fitting) - beyond_quota);
    stranded_[pool] += stranded * time.raw();
    fragmented_[pool] += fragmented * time.raw();
  }
}

}  // namespace headroom::scheduler
