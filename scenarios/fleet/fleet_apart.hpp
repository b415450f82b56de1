// SPDX-License-Identifier: Apache-2.0
// Several models on one pool against a pool for each.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>

#include <cstddef>

namespace headroom {

/// A question of several models as that of one of them: its classes, its formats, the same hardware, promises and axes.
/// `serve` is what `root` was read as.
[[nodiscard]] ConfigValue apart_document(const ConfigValue& root, const ServeScenario& serve, std::size_t model);

/// Plans a fleet for each model of a plan's question into `plan.apart`; not where the question has one model, or states
/// its GPUs or replicas, which then are those of the shared pool.
void plan_apart(FleetPlan& plan, const AskedFleet& asked, const FleetPlanOptions& options);

}  // namespace headroom
