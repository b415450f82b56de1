// SPDX-License-Identifier: Apache-2.0
// A run beside its plan, for people and as a member of a diagnosis.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/calibrate/against/plan_gap.hpp>

#include <string>

namespace headroom::cli {

[[nodiscard]] std::string plan_gap_text(const PlanGap& gap, const std::string& scenario);
/// Member `against` of schema "headroom.diagnose/1".
[[nodiscard]] Value plan_gap_value(const PlanGap& gap, const std::string& scenario);

}  // namespace headroom::cli
