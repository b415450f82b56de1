// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/scenarios/plan/narrowing.hpp>
#include <headroom/scenarios/plan/own_runs.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

/// Share of the variance beside the shape that `weight` of it and one more run take together: the level's posterior
/// variance is that much less, and the next run tells it as the first one did.
double with_one_more(double weight, const ClassErrors& errors) noexcept {
  const double left = 1.0 - weight;
  return 1.0 - left * errors.shape * errors.shape / (left * errors.level * errors.level + errors.shape * errors.shape);
}

}  // namespace

std::vector<NarrowingFact> narrowing_facts(const TrainScenario& train,
                                           const PlanConfidence& c,
                                           double runs,
                                           double weight) {
  constexpr std::size_t most = 2;
  constexpr double worth = 0.9;  // of the width, above which a fact says too little
  std::vector<NarrowingFact> facts;
  const auto add = [&](std::string what, double width) {
    if (width < worth * c.width) {
      facts.push_back({std::move(what), width});
    }
  };
  const ClassErrors told =
      runs > 0.0 ? errors_beside_runs(c.errors, c.run_class, step_posterior(*train.data)) : c.errors;
  const double more = runs > 0.0 ? with_one_more(weight, told) : level_weight(1.0, told);
  add(runs > 0.0 ? "one more measured run of yours on " + train.device.id + " under " + train.software.id
                 : "one measured run of yours on " + train.device.id + " under " + train.software.id + " (--runs)",
      narrowed_width(c.errors.width_80, more, told));
  if (c.run_class != RunClass::other_kernels && !c.wide_experts()) {
    const StepVariance v = step_posterior(*train.data).variance(unknown_of(train, c.run_class));
    const auto without = [&](double part) {
      return std::expm1(std::log1p(c.width) * std::sqrt((v.total() - part) / v.total()));
    };
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
