// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/search/incumbents.hpp>
#include <headroom/scenarios/search/strategy_space.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>

namespace headroom {
namespace {

/// Of what simplicity may cost, what a lower ZeRO stage may: all of it where the stage is the only thing to choose,
/// little beside kinds of parallelism, of which it spares none.
constexpr double stage_share(std::size_t kinds) noexcept {
  return kinds == 0 ? 1.0 : 0.2;
}

/// Every field, plain values before rare ones: among equals the plainest strategy stands first.
auto fields_of(const Strategy& s) noexcept {
  return std::tuple{kinds_of_parallelism(s),
                    s.zero,
                    s.pp,
                    s.tp,
                    s.cp,
                    s.ep,
                    s.etp,
                    s.vpp,
                    s.dp,
                    s.micro_batch,
                    s.shard_ranks,
                    s.recompute,
                    s.recompute_block,
                    s.schedule,
                    s.cp_form,
                    s.first_stage_layers,
                    s.last_stage_layers,
                    s.sequence_parallel,
                    s.cuda_graphs,
                    s.overlap_experts,
                    s.order};
}

}  // namespace

bool same_plan(const Candidate& a, const Candidate& b) noexcept {
  return a.job == b.job && a.strategy == b.strategy;
}

bool better(const Candidate& a, const Candidate& b) noexcept {
  if (a.goal != b.goal) {
    return a.goal < b.goal;
  }
  if (a.step != b.step) {
    return a.step < b.step;
  }
  if (a.memory != b.memory) {
    return a.memory < b.memory;
  }
  if (a.job != b.job) {
    return a.job < b.job;
  }
  return fields_of(a.strategy) < fields_of(b.strategy);
}

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

void Incumbents::enter_front(const Candidate& candidate) {
  for (Candidate& held : front_) {
    if (dominates(held.front, candidate.front)) {
      return;
    }
    if (held.front == candidate.front) {
      if (better(candidate, held)) {
        news_ = true;
        held = candidate;
      }
      return;
    }
  }
  std::erase_if(front_, [&](const Candidate& held) { return dominates(candidate.front, held.front); });
  news_ = true;
  front_.push_back(candidate);
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
  const Strategy& s = candidate.strategy;
  std::optional<Candidate>& simplest = simplest_[simplicity_class(kinds_of_parallelism(s), s.zero)];
  if (!simplest || better(candidate, *simplest)) {
    news_ = true;
    simplest = candidate;
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
    return b.goal > held.goal || (b.goal == held.goal && b.step > held.step);
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
  if (goals_ > 0 && std::none_of(front_.begin(), front_.end(),
                                 [&](const Candidate& held) { return dominates(held.front, b.front); })) {
    return false;
  }
  if (simplicity_ <= 0.0 || b.goal > (1.0 + simplicity_) * best_.front().goal) {
    return true;
  }
  // A plan at least as simple and no worse than the bound makes the subtree's candidates superfluous.
  for (std::size_t i = 0; i <= simplicity_class(b.kinds, b.zero); ++i) {
    if (simplest_[i] && simplest_[i]->goal < b.goal) {
      return true;
    }
  }
  return false;
}

std::vector<Candidate> Incumbents::front() const {
  std::vector<Candidate> sorted = front_;
  std::sort(sorted.begin(), sorted.end(), [](const Candidate& a, const Candidate& b) {
    return a.front != b.front ? a.front < b.front : better(a, b);
  });
  return sorted;
}

const Candidate& Incumbents::recommended() const noexcept {
  const double far = (1.0 + simplicity_) * best_.front().goal;
  for (std::size_t kinds = 0; simplicity_ > 0.0 && kinds < simplicity_classes / 4; ++kinds) {
    const auto stages = std::span{simplest_}.subspan(simplicity_class(static_cast<int>(kinds), 0), 4);
    double least = far;
    for (const std::optional<Candidate>& stage : stages) {
      least = stage ? std::min(least, stage->goal) : least;
    }
    for (const std::optional<Candidate>& stage : stages) {
      if (stage && stage->goal <= far && stage->goal <= (1.0 + stage_share(kinds) * simplicity_) * least) {
        return *stage;
      }
    }
  }
  return best_.front();
}

std::vector<Candidate> Incumbents::all() const {
  std::vector<Candidate> all = best_;
  all.insert(all.end(), front_.begin(), front_.end());
  for (const std::optional<Candidate>& candidate : simplest_) {
    if (candidate) {
      all.push_back(*candidate);
    }
  }
  std::sort(all.begin(), all.end(), better);
  all.erase(std::unique(all.begin(), all.end(), same_plan), all.end());
  return all;
}

}  // namespace headroom
