// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/scenarios/plan/own_effect.hpp>
#include <headroom/scenarios/training/own_numbers.hpp>
#include <headroom/scenarios/training/train_answer.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr double least_move = 0.002;  ///< of the step, that is told
/// Cosine of the derivatives of the runs' ln(step) by two numbers above which they say the same of both: with 0.99 the
/// second number adds a seventh of what it does to what no multiple of the first explains.
constexpr double parallel = 0.99;

std::string owner_of(const OwnNumbers& own, std::size_t key, const TrainScenario& train) {
  const std::string_view owner = own.keyed.owner(key);
  return owner.empty() ? train.software.id : std::string{owner};
}

/// Of the runs' derivatives by two numbers, without its sign.
double cosine(const std::vector<std::vector<double>>& runs, std::size_t a, std::size_t b) noexcept {
  double product = 0.0, of_a = 0.0, of_b = 0.0;
  for (const std::vector<double>& run : runs) {
    product += run[a] * run[b];
    of_a += run[a] * run[a];
    of_b += run[b] * run[b];
  }
  return of_a > 0.0 && of_b > 0.0 ? std::abs(product) / std::sqrt(of_a * of_b) : 0.0;
}

/// ln(step) of a plan with other numbers, without the level.
LogSteps log_step_of(const TrainScenario& train,
                     const OwnNumbers& own,
                     const Strategy& strategy,
                     const std::shared_ptr<const JobGroups>& groups,
                     TermSet without) {
  TrainScenario bare = train;
  bare.work.measured = {};
  return [bare, own, strategy, groups, without](const StepNumbers& numbers) mutable {
    auto with = std::make_shared<OwnNumbers>(own);
    with->numbers = numbers;
    bare.own = std::move(with);
    const CompiledTraining compiled = compile_question(bare, PlanPart::all, groups, without).compiled;
    return std::vector{std::log(evaluate(compiled, table_for(compiled, strategy), strategy).step.raw())};
  };
}

}  // namespace

std::vector<double> step_derivative(const TrainScenario& train,
                                    const OwnNumbers& own,
                                    const Strategy& strategy,
                                    const std::shared_ptr<const JobGroups>& groups,
                                    TermSet without) {
  return derivatives_of(own.keyed, own.before, log_step_of(train, own, strategy, groups, without)).front();
}

OwnEffect own_effect(const TrainScenario& train,
                     const OwnNumbers& own,
                     const std::vector<double>& derivative,
                     const Strategy& strategy,
                     const std::shared_ptr<const JobGroups>& groups,
                     TermSet without) {
  const LogSteps priced = log_step_of(train, own, strategy, groups, without);
  OwnEffect effect;
  const double before = own.before.variance(derivative, question_place);
  const double left = own.after.variance(derivative, question_place);
  effect.weight = before > 0.0 ? std::clamp(1.0 - left / before, 0.0, 1.0) : 0.0;
  std::vector<double> by(own.keyed.size(), 0.0);
  const double fitted = priced(own.keyed.moved(by)).front();
  effect.step =
      std::exp(priced(own.numbers).front() + own.after.level + own.after.discrepancy[question_place] - fitted);
  std::vector<std::pair<std::size_t, MovedNumber>> moved;
  for (std::size_t key = 0; key < own.keyed.size(); ++key) {
    const double reach = own.after.by[key] == 0.0 ? 0.0 : own.keyed.reach(key, own.after.by[key]);
    const double step = std::expm1(derivative[key] * reach);
    if (std::abs(step) >= least_move) {
      moved.push_back({key,
                       {std::string{own.keyed.key(key)}, owner_of(own, key, train), own.keyed.value(key),
                        own.keyed.value(key, reach), is_step_time(own.keyed.key(key)), step}});
    }
  }
  std::stable_sort(moved.begin(), moved.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.second.step) > std::abs(b.second.step); });
  std::vector<bool> named(moved.size(), false);
  for (std::size_t a = 0; a < moved.size(); ++a) {
    std::string set = moved[a].second.key;
    for (std::size_t b = a + 1; b < moved.size(); ++b) {
      if (!named[a] && !named[b] && cosine(own.derivatives, moved[a].first, moved[b].first) > parallel) {
        set += ", " + moved[b].second.key;
        named[b] = true;
      }
    }
    if (set != moved[a].second.key) {
      effect.alike.push_back(set);
    }
    effect.moved.push_back(std::move(moved[a].second));
  }
  return effect;
}

}  // namespace headroom
