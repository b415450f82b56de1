// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/search/plan_choice.hpp>
#include <headroom/scenarios/search/strategy_space.hpp>

#include <algorithm>
#include <span>
#include <tuple>

namespace headroom {
namespace {

/// Of what simplicity may cost, what a lower ZeRO stage may: all of it where the stage is the only thing to choose,
/// little beside kinds of parallelism, of which it spares none.
constexpr double stage_share(std::size_t kinds) noexcept {
  return kinds == 0 ? 1.0 : 0.2;
}

/// Plain values before rare ones, those that a plan is first read for in front: among equals the plainest strategy
/// stands first.
auto fields_of(const Strategy& s) noexcept {
  const std::tuple first{kinds_of_parallelism(s),
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
                         s.parts.bits()};
  return std::tuple_cat(first,
                        std::apply([&](const auto&... field) { return std::tuple{field.of(s)...}; }, strategy_fields));
}

/// Of a candidate or of a bound.
template <class A, class B>
bool as_good(const A& a, const B& b) noexcept {
  return a.goal <= b.goal && a.time <= b.time && a.spent <= b.spent;
}
template <class A, class B>
bool dominates(const A& a, const B& b) noexcept {
  return as_good(a, b) && (a.goal < b.goal || a.time < b.time || a.spent < b.spent);
}

}  // namespace

bool same_plan(const Candidate& a, const Candidate& b) noexcept {
  return a.job == b.job && a.strategy == b.strategy;
}

bool better(const Candidate& a, const Candidate& b) noexcept {
  if (a.goal != b.goal) {
    return a.goal < b.goal;
  }
  if (a.time != b.time) {
    return a.time < b.time;
  }
  if (a.spent != b.spent) {
    return a.spent < b.spent;
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

bool PlanChoice::near(double share, const Candidate& from, const Candidate& plan) const noexcept {
  const double most = 1.0 + share;
  return plan.goal <= most * from.goal && plan.time <= most * from.time && plan.spent <= most * from.spent;
}

bool PlanChoice::consider(const Candidate& candidate) {
  const bool least = !least_ || better(candidate, *least_);
  if (least) {
    least_ = candidate;
  }
  if (simplicity_ <= 0.0) {
    return least;
  }
  const double far = (1.0 + simplicity_) * least_->goal;
  if (least) {
    for (std::vector<Candidate>& plans : simple_) {
      std::erase_if(plans, [&](const Candidate& held) { return held.goal > far; });
    }
  }
  if (candidate.goal > far) {
    return false;
  }
  std::vector<Candidate>& plans =
      simple_[simplicity_class(kinds_of_parallelism(candidate.strategy), candidate.strategy.zero)];
  for (const Candidate& held : plans) {
    if (as_good(held, candidate) && (dominates(held, candidate) || !better(candidate, held))) {
      return least;
    }
  }
  std::erase_if(plans, [&](const Candidate& held) { return as_good(candidate, held); });
  plans.push_back(candidate);
  return true;
}

bool PlanChoice::excludes(const SubtreeBound& b) const noexcept {
  if (!least_) {
    return false;
  }
  const bool behind = b.goal != least_->goal   ? b.goal > least_->goal
                      : b.time != least_->time ? b.time > least_->time
                                               : b.spent > least_->spent;
  if (!behind) {
    return false;
  }
  if (simplicity_ <= 0.0 || b.goal > (1.0 + simplicity_) * least_->goal) {
    return true;
  }
  // A plan at least as simple that is better than the bound makes the subtree's plans superfluous.
  const auto simpler = std::span{simple_}.first(simplicity_class(b.kinds, b.zero) + 1);
  return std::any_of(simpler.begin(), simpler.end(), [&](const std::vector<Candidate>& plans) {
    return std::any_of(plans.begin(), plans.end(), [&](const Candidate& held) { return dominates(held, b); });
  });
}

const Candidate& PlanChoice::taken() const noexcept {
  const auto best_of = [](const std::vector<Candidate>& plans, const Candidate* best, auto good) {
    for (const Candidate& plan : plans) {
      best = good(plan) && (best == nullptr || better(plan, *best)) ? &plan : best;
    }
    return best;
  };
  for (std::size_t kinds = 0; simplicity_ > 0.0 && kinds < simplicity_classes / 4; ++kinds) {
    const auto stages = std::span{simple_}.subspan(simplicity_class(static_cast<int>(kinds), 0), 4);
    const auto of_least = [&](const Candidate& plan) { return near(simplicity_, *least_, plan); };
    const Candidate* first = nullptr;
    for (const std::vector<Candidate>& plans : stages) {
      first = best_of(plans, first, of_least);
    }
    for (const std::vector<Candidate>& plans : stages) {
      const Candidate* lowest = first == nullptr ? nullptr : best_of(plans, nullptr, [&](const Candidate& plan) {
        return of_least(plan) && near(stage_share(kinds) * simplicity_, *first, plan);
      });
      if (lowest != nullptr) {
        return *lowest;
      }
    }
  }
  return *least_;
}

void PlanChoice::list(std::vector<Candidate>& plans) const {
  if (least_) {
    plans.push_back(*least_);
  }
  for (const std::vector<Candidate>& simple : simple_) {
    plans.insert(plans.end(), simple.begin(), simple.end());
  }
}

}  // namespace headroom
