// SPDX-License-Identifier: Apache-2.0
// A sized fleet under a load that changes over time: the fewest replicas at each moment, an autoscaler with its cold
// start, and a fixed number of replicas.
#pragma once

#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/traffic/cold_start.hpp>

namespace headroom {

/// The time that a new replica of the option needs until it serves, by its parts. Precondition: the question has the
/// table [fleet.autoscale].
[[nodiscard]] ColdStart cold_start_of(const FleetOption& option);

/// Fills `autoscaling`, `cold_start` and `floor_sizes` of the plan: replica hours of an autoscaler, of a fixed fleet
/// for the peak, and of the fewest replicas at each moment, each at the slow end of the interval. Fills `no_help` if a
/// burst ends before a new replica is ready. Does nothing if the question has no [fleet.autoscale]. Precondition: the
/// load changes over time.
void follow_load(FleetPlan& plan, unsigned threads);

}  // namespace headroom
