// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/scheduler/waiting_jobs.hpp>

#include <algorithm>
#include <bit>

namespace headroom::scheduler {

WaitingLine::WaitingLine(std::size_t places, std::size_t pools)
    : places_{places},
      pools_{pools},
      leaves_{std::bit_ceil(std::max<std::size_t>(places, 1))},
      tree_(2 * leaves_ * pools),
      there_(places, false) {}

void WaitingLine::lift(std::size_t node) noexcept {
  for (node /= 2; node > 0; node /= 2) {
    for (std::size_t pool = 0; pool < pools_; ++pool) {
      const PoolWant &left = tree_[2 * node * pools_ + pool], &right = tree_[(2 * node + 1) * pools_ + pool];
      tree_[node * pools_ + pool] = {std::min(left.gpus, right.gpus), std::min(left.time, right.time)};
    }
  }
}

void WaitingLine::enter(std::size_t place, std::span<const PoolWant> wants) noexcept {
  std::copy(wants.begin(), wants.end(), tree_.begin() + static_cast<std::ptrdiff_t>((leaves_ + place) * pools_));
  waiting_ += there_[place] ? 0 : 1;
  there_[place] = true;
  lift(leaves_ + place);
}

void WaitingLine::leave(std::size_t place) noexcept {
  if (!there_[place]) {
    return;
  }
  const auto first = tree_.begin() + static_cast<std::ptrdiff_t>((leaves_ + place) * pools_);
  std::fill(first, first + static_cast<std::ptrdiff_t>(pools_), PoolWant{});
  --waiting_;
  there_[place] = false;
  lift(leaves_ + place);
}

bool WaitingLine::may_start(std::size_t node, std::span<const PoolLimit> limits) const noexcept {
  const PoolWant* want = &tree_[node * pools_];
  for (std::size_t pool = 0; pool < pools_; ++pool, ++want) {
    if (want->gpus <= limits[pool].gpus &&
        (want->time <= limits[pool].short_time || want->gpus <= limits[pool].long_gpus)) {
      return true;
    }
  }
  return false;
}

std::size_t WaitingLine::next(std::size_t from, std::span<const PoolLimit> limits) const noexcept {
  if (from >= places_ || waiting_ == 0) {
    return places_;
  }
  std::size_t node = leaves_ + from;
  // Up and to the right until a subtree may hold one, then down to its first; a subtree's least wants may come from
  // several jobs, so that the way down can end at none and goes on behind it.
  while (true) {
    if (may_start(node, limits)) {
      if (node >= leaves_) {
        return node - leaves_;
      }
      node *= 2;
      continue;
    }
    while ((node & 1) != 0) {
      node /= 2;
    }
    if (node == 0) {
      return places_;
    }
    ++node;
  }
}

void RankSums::add(std::size_t rank, double amount) noexcept {
  for (std::size_t i = rank + 1; i < tree_.size(); i += i & (~i + 1)) {
    tree_[i] += amount;
  }
}

double RankSums::before(std::size_t rank) const noexcept {
  double sum = 0.0;
  for (std::size_t i = std::min(rank, tree_.size() - 1); i > 0; i -= i & (~i + 1)) {
    sum += tree_[i];
  }
  return sum;
}

}  // namespace headroom::scheduler
