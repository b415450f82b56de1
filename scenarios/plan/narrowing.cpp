// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/scenarios/plan/narrowing.hpp>
#include <headroom/scenarios/plan/own_runs.hpp>
#include <headroom/scenarios/training/own_numbers.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

/// Share of the variance of ln(step) beside the noise that all runs will have taken with one of the job itself, which
/// leaves v s^2 / (v + s^2) of a variance v (Rasmussen & Williams 2006, equation A.6).
double weight_with_this_job(const KnownStep& step) {
  const double before = step.own.before.variance(step.derivative, question_place);
  const double known = step.own.after.variance(step.derivative, question_place);
  const double noise = step.own.noise;
  return before > 0.0 && known + noise > 0.0 ? std::clamp(1.0 - known * noise / (known + noise) / before, 0.0, 1.0)
                                             : 0.0;
}

}  // namespace

bool measured_already(const KnownStep& step) {
  constexpr double alike = 1e-3;
  return std::any_of(step.own.derivatives.begin(), step.own.derivatives.end(), [&](const std::vector<double>& run) {
    double apart = 0.0, length = 0.0;
    for (std::size_t key = 0; key < run.size(); ++key) {
      apart += (run[key] - step.derivative[key]) * (run[key] - step.derivative[key]);
      length += step.derivative[key] * step.derivative[key];
    }
    return apart <= alike * alike * length;
  });
}

std::vector<NarrowingFact> narrowing_facts(const TrainScenario& train, const PlanConfidence& c, const KnownStep* step) {
  constexpr std::size_t most = 2;
  constexpr double worth = 0.9;  // of the width, above which a fact says too little
  std::vector<NarrowingFact> facts;
  const auto add = [&](std::string what, double width) {
    if (width < worth * c.width) {
      facts.push_back({std::move(what), width});
    }
  };
  const bool runs = step != nullptr && !step->own.derivatives.empty();
  if (step != nullptr && !measured_already(*step)) {
    add(runs ? "one more measured run, of this job" : "one measured run of this job (--runs)",
        narrowed_width(c.errors.width_80, weight_with_this_job(*step),
                       errors_beside_runs(c.errors, c.run_class, step_posterior(*train.data), true)));
  }
  if (!runs && c.run_class != RunClass::other_kernels && !c.wide_experts()) {
    const StepVariance v = step_posterior(*train.data).variance(unknown_of(train, c.run_class));
    const auto without = [&](double part) {
      return std::expm1(std::log1p(c.width) * std::sqrt((v.total() - part) / v.total()));
    };
    if (v.blank > 0.0) {
      add("training.expert_launch and training.dispatcher, which nobody stated", without(v.blank));
    }
    if (v.software > 0.0) {
      add("a training software that measured runs used, for none used " + train.software.id, without(v.software));
    }
    if (v.sku > 0.0) {
      add("measured runs of any software on " + train.device.id, without(v.sku));
    }
  }
  std::stable_sort(facts.begin(), facts.end(),
                   [](const NarrowingFact& a, const NarrowingFact& b) { return a.width < b.width; });
  facts.resize(std::min(facts.size(), most));
  return facts;
}

}  // namespace headroom
