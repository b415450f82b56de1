// SPDX-License-Identifier: Apache-2.0
// A sized fleet over a load that changes: the fewest replicas at each time, those that follow with a cold start, and
// the fixed ones.
#pragma once

#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/traffic/cold_start.hpp>

namespace headroom {

/// What a replica of the option takes to start, from its question. Precondition: its question has [fleet.autoscale].
[[nodiscard]] ColdStart cold_start_of(const FleetOption& option);

/// Replicas that follow the rate of the first option's load against those of its peak, at the slow end, with the floor
/// below both: into `autoscaling`, `cold_start`, `floor_sizes`, and `no_help` where a burst is over before a replica
/// that it orders serves. Nothing where [fleet.autoscale] is not asked. Precondition: the load changes.
void follow_load(FleetPlan& plan, unsigned threads);

}  // namespace headroom
