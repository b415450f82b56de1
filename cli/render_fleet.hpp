// SPDX-License-Identifier: Apache-2.0
// A fleet's plan: what to take, what it keeps, what else there is.
#pragma once

#include <headroom/scenarios/serving/fleet_plan.hpp>

#include <string>

namespace headroom::cli {

[[nodiscard]] std::string fleet_text(const FleetPlan& plan);
/// Schema "headroom.fleet/1": raw SI, the unit in the key.
[[nodiscard]] std::string fleet_json(const FleetPlan& plan);

/// "12.3 req/s".
[[nodiscard]] std::string rate_text(Hertz rate);

}  // namespace headroom::cli
