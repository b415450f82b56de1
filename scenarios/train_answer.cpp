// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/train_answer.hpp>

#include <array>

namespace headroom {
namespace {

/// A device that states a peak for a recipe that nobody measured anywhere.
std::string why_untimed(const TrainScenario& t, const RoughStack& stack) {
  if (stack.share(t.device, t.work.precision) != nullptr) {
    return {};
  }
  return "no measured " + std::string{name_of(t.work.precision)} +
         " run gives a sustained share of the peak; memory alone is answered";
}

}  // namespace

TrainQuestion compile_question(const TrainScenario& t, const RoughStack& stack, PlanPart part) {
  TrainQuestion question;
  if (part == PlanPart::all) {
    question.untimed = why_untimed(t, stack);
  }
  question.compiled = part == PlanPart::memory || !question.untimed.empty()
                          ? compile_for_memory(t.architecture, t.device, t.software, t.work)
                          : compile(t.architecture, t.device, stack, t.software, t.work);
  return question;
}

OpenStrategy open_strategy(const TrainScenario& t) noexcept {
  return {t.strategy, t.micro_batch_open, t.recompute_open};
}

Strategy close_open_axes(const CompiledTraining& compiled, const OpenStrategy& open, FitRule rule) noexcept {
  constexpr std::array<std::uint16_t, 4> micro_batches{1, 2, 4, 8};
  constexpr std::array modes{Recompute::none, Recompute::selective, Recompute::full};
  Strategy best = open.strategy;
  Seconds best_time{1e300};
  Strategy smallest = open.strategy;
  Bytes least{1e300};
  for (const std::uint16_t micro_batch : micro_batches) {
    for (const Recompute mode : modes) {
      Strategy s = open.strategy;
      s.micro_batch = open.micro_batch ? micro_batch : s.micro_batch;
      s.recompute = open.recompute ? mode : s.recompute;
      const Estimate e = evaluate(compiled, tabulate(compiled, key_of(s)), s);
      if (e.step.raw() <= 0.0) {
        continue;  // breaks a rule
      }
      const Bytes judged = rule == FitRule::surely ? e.device.high : e.device.mid;
      if (judged <= compiled.capacity && e.step < best_time) {
        best_time = e.step;
        best = s;
      } else if (judged > compiled.capacity && judged < least) {
        least = judged;
        smallest = s;
      }
    }
  }
  return best_time.raw() < 1e300 ? best : smallest;
}

TrainAnswer answer_question(const CompiledTraining& compiled, const OpenStrategy& open) noexcept {
  TrainAnswer answer;
  answer.strategy = close_open_axes(compiled, open, FitRule::surely);
  answer.estimate = evaluate(compiled, tabulate(compiled, key_of(answer.strategy)), answer.strategy);
  return answer;
}

}  // namespace headroom
