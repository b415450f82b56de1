// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/search/incumbents.hpp>

#include <algorithm>
#include <limits>

namespace headroom {

bool Incumbents::one_entry(const Candidate& a, const Candidate& b) const noexcept {
  if (by_ == ListedBy::rental) {
    return a.rental == b.rental;
  }
  return a.job == b.job && a.strategy.tp == b.strategy.tp && a.strategy.pp == b.strategy.pp &&
         a.strategy.cp == b.strategy.cp && a.strategy.ep == b.strategy.ep;
}

bool Incumbents::dominates(const FrontPoint& a, const FrontPoint& b) const noexcept {
  bool less = false;
  for (std::size_t i = 0; i < goals_; ++i) {
    if (a[i] > b[i]) {
      return false;
    }
    less = less || a[i] < b[i];
  }
  return less;
}

bool Incumbents::front_beats(const FrontPoint& point) const noexcept {
  const auto after = std::upper_bound(front_.begin(), front_.end(), point.front(),
                                      [](double first, const Candidate& held) { return first < held.front.front(); });
  // Of two goals the second falls along the front: of all that are no worse in the first the last has the least of it.
  const auto from = goals_ == 2 && after != front_.begin() ? after - 1 : front_.begin();
  return std::any_of(from, after, [&](const Candidate& held) { return dominates(held.front, point); });
}

void Incumbents::enter_front(const Candidate& candidate) {
  const FrontPoint& point = candidate.front;
  if (front_beats(point)) {
    return;
  }
  const auto equal =
      std::find_if(front_.begin(), front_.end(), [&](const Candidate& held) { return held.front == point; });
  if (equal != front_.end()) {
    if (better(candidate, *equal)) {
      news_ = true;
      *equal = candidate;
    }
    return;
  }
  std::erase_if(front_, [&](const Candidate& held) { return dominates(point, held.front); });
  const auto place = std::upper_bound(front_.begin(), front_.end(), point.front(),
                                      [](double first, const Candidate& held) { return first < held.front.front(); });
  news_ = true;
  front_.insert(place, candidate);
}

void Incumbents::enter_best(const Candidate& candidate) {
  const auto known =
      std::find_if(best_.begin(), best_.end(), [&](const Candidate& held) { return one_entry(held, candidate); });
  if (known != best_.end()) {
    if (!better(candidate, *known)) {
      return;
    }
    best_.erase(known);
  }
  const auto place = std::lower_bound(best_.begin(), best_.end(), candidate, better);
  if (static_cast<std::size_t>(place - best_.begin()) < plans_) {
    news_ = true;
    best_.insert(place, candidate);
    best_.resize(std::min(best_.size(), plans_));
  }
}

void Incumbents::consider(const Candidate& candidate) {
  enter_best(candidate);
  if (goals_ > 0) {
    enter_front(candidate);
  }
  news_ = any_.consider(candidate) || news_;
  if (!limited_) {
    return;
  }
  if (candidate.strain <= 1.0) {
    news_ = sure_.consider(candidate) || news_;
  } else if (!least_sure_ || candidate.strain < least_sure_->strain ||
             (candidate.strain == least_sure_->strain && better(candidate, *least_sure_))) {
    news_ = true;
    least_sure_ = candidate;
  }
}

void Incumbents::fell_short(Limit limit, const Candidate& candidate, double value) {
  Closest& closest = closest_[static_cast<std::size_t>(limit)];
  const bool nearer =
      !closest.candidate || value < closest.value || (value == closest.value && better(candidate, *closest.candidate));
  if (nearer) {
    news_ = true;
    closest.candidate = candidate;
    closest.value = value;
  }
}

void Incumbents::merge(const Incumbents& other) {
  if (!other.news_) {
    return;
  }
  for (const Candidate& candidate : other.all()) {
    consider(candidate);
  }
  for (std::size_t i = 0; i < limit_count; ++i) {
    if (other.closest_[i].candidate) {
      fell_short(static_cast<Limit>(i), *other.closest_[i].candidate, other.closest_[i].value);
    }
  }
}

double Incumbents::shortfall(Limit limit) const noexcept {
  const Closest& closest = closest_[static_cast<std::size_t>(limit)];
  return closest.candidate ? closest.value : std::numeric_limits<double>::infinity();
}

/// Behind the best of its own layout or rental, or behind a full list.
bool Incumbents::too_far_back(const SubtreeBound& b) const noexcept {
  const auto ahead = [&](const Candidate& held) {
    return b.goal > held.goal || (b.goal == held.goal && b.time > held.time);
  };
  if (best_.size() == plans_ && ahead(best_.back())) {
    return true;
  }
  return std::any_of(best_.begin(), best_.end(),
                     [&](const Candidate& held) { return one_entry(held, b.layout) && ahead(held); });
}

bool Incumbents::excludes(const SubtreeBound& b) const noexcept {
  if (!too_far_back(b)) {
    return false;
  }
  if (goals_ > 0 && !front_beats(b.front)) {
    return false;
  }
  return any_.excludes(b) && (!limited_ || excludes_sure(b));
}

/// Whether nothing of the subtree can be taken for keeping the limits at the slow end, or for coming close to it.
bool Incumbents::excludes_sure(const SubtreeBound& b) const noexcept {
  if (sure_.empty()) {
    return b.strain > 1.0 && least_sure_ && b.strain > least_sure_->strain;
  }
  return b.strain > 1.0 || sure_.excludes(b);
}

std::vector<Candidate> Incumbents::front() const {
  std::vector<Candidate> sorted = front_;
  std::sort(sorted.begin(), sorted.end(), [](const Candidate& a, const Candidate& b) {
    return a.front != b.front ? a.front < b.front : better(a, b);
  });
  return sorted;
}

const Candidate& Incumbents::recommended() const noexcept {
  if (!limited_) {
    return any_.taken();
  }
  return sure_.empty() ? *least_sure_ : sure_.taken();
}

const Candidate& Incumbents::least() const noexcept {
  if (!limited_) {
    return any_.least();
  }
  return sure_.empty() ? *least_sure_ : sure_.least();
}

std::vector<Candidate> Incumbents::all() const {
  std::vector<Candidate> all = best_;
  all.insert(all.end(), front_.begin(), front_.end());
  any_.list(all);
  sure_.list(all);
  if (least_sure_) {
    all.push_back(*least_sure_);
  }
  std::sort(all.begin(), all.end(), better);
  all.erase(std::unique(all.begin(), all.end(), same_plan), all.end());
  return all;
}

}  // namespace headroom
