// SPDX-License-Identifier: Apache-2.0
// What stands beside a training plan: advice on the batch, a sweep's price, other numbers of GPUs.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <string>

namespace headroom {

/// Empty where the scenario asks for nothing beside the plan.
[[nodiscard]] std::string advice_text(const TrainScenario& scenario, const TrainPlan& plan);
/// Members `batch_change`, `sweep` and `elastic` of the plan's object, those that were asked for.
[[nodiscard]] Value advice(const TrainAdvice& advice);

}  // namespace headroom
