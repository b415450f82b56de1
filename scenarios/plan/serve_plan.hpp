// SPDX-License-Identifier: Apache-2.0
// The answer to a serving question.
#pragma once

#include <headroom/scenarios/plan/plan.hpp>

namespace headroom {

/// Prices `s`; notes, explain entries and the source of the intervals go to `plan`. `costs` live as long as the call.
struct Costs {
  const Money& money;
  const EnergyQuestion& energy;
};
[[nodiscard]] ServePlan plan_serving(
    const ServeScenario& s, const Costs& costs, bool explained, PlanPart part, Plan& plan);

}  // namespace headroom
