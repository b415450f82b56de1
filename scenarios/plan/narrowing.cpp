// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/scenarios/plan/narrowing.hpp>
#include <headroom/scenarios/plan/own_runs.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

std::vector<NarrowingFact> narrowing_facts(const TrainScenario& train, const PlanConfidence& c, double runs) {
  constexpr std::size_t most = 2;
  constexpr double worth = 0.9;  // of the width, above which a fact says too little
  std::vector<NarrowingFact> facts;
  const auto add = [&](std::string what, double width) {
    if (width < worth * c.width) {
      facts.push_back({std::move(what), width});
    }
  };
  const double weight = level_weight(runs + 1.0, c.errors);
  add(runs > 0.0 ? "one more measured run of yours on " + train.device.id + " under " + train.software.id
                 : "one measured run of yours on " + train.device.id + " under " + train.software.id + " (--runs)",
      narrowed_width(c.errors.width_80, weight, c.errors));
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
