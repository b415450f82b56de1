// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/scheduler/pool_outlook.hpp>

#include <algorithm>
#include <limits>

namespace headroom::scheduler {

void PoolOutlook::begin_pass() noexcept {
  closed_ = false;
  reserved_gpus_ = 0;
  known_ = false;
  ends_known_ = false;
}

void PoolOutlook::look_ahead() {
  if (known_) {
    return;
  }
  known_ = true;
  extra_ = state_->room(pool_);
  const std::vector<ClusterState::Running>& running = state_->running(pool_);
  for (std::size_t i = 0; i < running.size(); ++i) {
    for (const NodePart& part : state_->progress(running[i].job).parts) {
      extra_.give(part);
    }
    shadow_ = running[i].planned_end;
    const bool last_of_equals = i + 1 == running.size() || shadow_ < running[i + 1].planned_end;
    if (last_of_equals && extra_.fits(reserved_gpus_)) {
      break;
    }
  }
  std::vector<NodePart> parts;
  extra_.place_beside(reserved_gpus_, state_->room(pool_), parts);
  for (const NodePart& part : parts) {
    extra_.take(part);
  }
  both_.set_to_lesser(state_->room(pool_), extra_);
}

bool PoolOutlook::ends_before_reserved(Seconds end) {
  if (!reserved()) {
    return true;
  }
  look_ahead();
  return end <= shadow_;
}

bool PoolOutlook::may_start(std::int64_t gpus, Seconds end) {
  if (closed_ || !state_->room(pool_).fits(gpus)) {
    return false;
  }
  return ends_before_reserved(end) || both_.fits(gpus);
}

std::vector<NodePart> PoolOutlook::place(std::int64_t gpus, Seconds end) {
  std::vector<NodePart> parts;
  const NodeRoom& room = state_->room(pool_);
  if (!reserved()) {
    room.place(gpus, parts);
  } else if (ends_before_reserved(end)) {
    room.place_beside(gpus, both_, parts);  // what the reserved job will have, before what others might take for longer
  } else {
    both_.place(gpus, parts);
  }
  return parts;
}

void PoolOutlook::started(const std::vector<NodePart>& parts, Seconds end) {
  ends_known_ = false;
  if (!known_) {
    return;
  }
  for (const NodePart& part : parts) {
    if (end > shadow_) {
      extra_.take(part);
    }
    both_.set(part.node, std::min(state_->room(pool_).free_of(part.node), extra_.free_of(part.node)));
  }
}

void PoolOutlook::stopped(const std::vector<NodePart>& parts) {
  ends_known_ = false;
  if (!known_) {
    return;
  }
  // What would have been free at the shadow time is counted as it was: there may be more by now, never less.
  for (const NodePart& part : parts) {
    both_.set(part.node, std::min(state_->room(pool_).free_of(part.node), extra_.free_of(part.node)));
  }
}

Seconds PoolOutlook::free_again(std::int64_t gpus, Seconds now) {
  const std::vector<ClusterState::Running>& running = state_->running(pool_);
  if (!ends_known_) {
    ends_known_ = true;
    free_after_.clear();
    std::int64_t free = state_->room(pool_).free();
    for (const ClusterState::Running& each : running) {
      free += state_->choice(each.job).gpus;
      free_after_.push_back(free);
    }
  }
  if (running.empty()) {
    return now;
  }
  const auto enough = std::lower_bound(free_after_.begin(), free_after_.end(), gpus);
  const auto i = std::min(enough - free_after_.begin(), static_cast<std::ptrdiff_t>(running.size()) - 1);
  Seconds at = running[static_cast<std::size_t>(i)].planned_end;
  if (reserved() && state_->room(pool_).fits(gpus)) {
    look_ahead();
    at = std::max(at, shadow_);
  }
  return at;
}

PoolLimit PoolOutlook::limit(Seconds now) const noexcept {
  if (closed_) {
    return {0, std::numeric_limits<double>::infinity(), 0};
  }
  if (!reserved()) {
    return {PoolLimit::any, std::numeric_limits<double>::infinity(), 0};
  }
  PoolLimit limit{state_->room(pool_).largest(), std::numeric_limits<double>::infinity(), 0};
  if (known_) {
    // Asked of `time` where may_start() asks of `now + time`: a little more, lest rounding hides one that may.
    limit.short_time = (shadow_ - now).raw() + 1e-12 * shadow_.raw();
    limit.long_gpus = both_.largest();
  }
  return limit;
}

}  // namespace headroom::scheduler
