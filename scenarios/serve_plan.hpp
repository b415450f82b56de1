// SPDX-License-Identifier: Apache-2.0
// The answer to a serving question.
#pragma once

#include <headroom/scenarios/plan.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Prices `s`; notes, explain entries and the source of the intervals go to `plan`.
[[nodiscard]] ServePlan plan_serving(
    const ServeScenario& s, const Money& money, bool explained, PlanPart part, Plan& plan);

/// The smallest change that leaves room for one sequence: a smaller fraction when what lies beside it does not fit, the
/// engine's limits, then the cache's format, then more ranks
/// of the same GPUs, then more GPUs. Empty when none of these helps.
[[nodiscard]] std::vector<std::string> serving_changes(const ServeScenario& s);

}  // namespace headroom
