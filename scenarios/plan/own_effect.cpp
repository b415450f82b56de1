// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/scenarios/plan/own_effect.hpp>
#include <headroom/scenarios/training/own_numbers.hpp>
#include <headroom/scenarios/training/train_answer.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace headroom {
namespace {

constexpr double least_move = 0.002;  ///< of the step, that is told
constexpr double strong = 0.7;        ///< correlation above which two numbers are not told apart, as in a fit
constexpr std::size_t most_pairs = 3;

std::string owner_of(const OwnNumbers& own, std::size_t key, const TrainScenario& train) {
  const std::string_view owner = own.keyed.owner(key);
  return owner.empty() ? train.software.id : std::string{owner};
}

}  // namespace

OwnEffect own_effect(const TrainScenario& train,
                     const OwnNumbers& own,
                     const Strategy& strategy,
                     const std::shared_ptr<const JobGroups>& groups,
                     TermSet without) {
  TrainScenario bare = train;
  bare.work.measured = {};
  const auto priced = [&](const StepNumbers& numbers) {
    auto with = std::make_shared<OwnNumbers>(own);
    with->numbers = numbers;
    bare.own = std::move(with);
    const CompiledTraining compiled = compile_question(bare, PlanPart::all, groups, without).compiled;
    return std::vector{std::log(evaluate(compiled, table_for(compiled, strategy), strategy).step.raw())};
  };
  const std::vector<double> derivative = derivatives_of(own.keyed, own.before, priced).front();
  OwnEffect effect;
  const double before = own.before.variance(derivative);
  effect.weight = before > 0.0 ? std::clamp(1.0 - own.after.variance(derivative) / before, 0.0, 1.0) : 0.0;
  std::vector<double> by(own.keyed.size(), 0.0);
  const double fitted = priced(own.keyed.moved(by)).front();
  effect.step = std::exp(priced(own.numbers).front() + own.after.level - fitted);
  std::vector<std::size_t> keys;
  for (std::size_t key = 0; key < own.keyed.size(); ++key) {
    const double reach = own.after.by[key] == 0.0 ? 0.0 : own.keyed.reach(key, own.after.by[key]);
    const double step = std::expm1(derivative[key] * reach);
    if (std::abs(step) < least_move) {
      continue;
    }
    keys.push_back(key);
    effect.moved.push_back({std::string{own.keyed.key(key)}, owner_of(own, key, train), own.keyed.value(key),
                            own.keyed.value(key, reach), is_step_time(own.keyed.key(key)), step});
  }
  for (std::size_t a = 0; a < keys.size(); ++a) {
    for (std::size_t b = 0; b < a && effect.alike.size() < most_pairs; ++b) {
      const bool told = std::abs(own.after.correlation(keys[a], keys[b])) <= strong;
      if (!told && std::abs(own.before.correlation(keys[a], keys[b])) <= strong) {
        effect.alike.push_back(effect.moved[b].key + " and " + effect.moved[a].key);
      }
    }
  }
  std::stable_sort(effect.moved.begin(), effect.moved.end(),
                   [](const MovedNumber& a, const MovedNumber& b) { return std::abs(a.step) > std::abs(b.step); });
  return effect;
}

}  // namespace headroom
