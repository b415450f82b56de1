// SPDX-License-Identifier: Apache-2.0
// The facts that would narrow the interval of a training plan's step most.
#pragma once

#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/training/confidence.hpp>

#include <vector>

namespace headroom {

/// At most two facts, the one that narrows most first: a measured run of the user's own, a software and a SKU that runs
/// of the fit used. Facts that narrow the 80 % width by less than a tenth are none. `runs`: own runs that already
/// count; `weight`: share of the variance beside the shape that they took.
[[nodiscard]] std::vector<NarrowingFact> narrowing_facts(const TrainScenario& train,
                                                         const PlanConfidence& confidence,
                                                         double runs = 0.0,
                                                         double weight = 0.0);

}  // namespace headroom
