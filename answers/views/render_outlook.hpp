// SPDX-License-Identifier: Apache-2.0
// The long run of a training plan: goodput, failures, checkpoints, where the time goes, when it ends; and the way to a
// loss.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/scenarios/compare/scaling.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <string>

namespace headroom {

/// Both in lines below the terms of the step; empty where neither is asked.
[[nodiscard]] std::string outlook_text(const TrainScenario& train, const TrainPlan& plan);
/// Members `calendar_s`, `goodput` and `target` of a plan's object.
[[nodiscard]] Value outlook(const TrainScenario& train, const TrainPlan& plan);

/// A line for each count of a curve whose scenario says what fails; else empty.
[[nodiscard]] std::string outlook_table(const scaling::Curve& curve);

}  // namespace headroom
