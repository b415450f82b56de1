// SPDX-License-Identifier: Apache-2.0
// A fleet's question as the screen takes it.
#pragma once

#include <headroom/model/serve/screen.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/tail_objective.hpp>
#include <headroom/scenarios/scenario.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/serving/traffic.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// Of all requests together: of several classes the loosest limit of each time and quantile.
[[nodiscard]] std::vector<TailObjective> all_objectives(const ServingTraffic& traffic);

/// Moments of the classes, or of a trace's lengths and gaps.
[[nodiscard]] ScreenTraffic screened_traffic(const ServingTraffic& traffic);

/// One replica, and one that prefills for it where prompts are apart, whatever the question states.
[[nodiscard]] ServingFleet unit_of(const ServeScenario& scenario, const ServedReplica& served);

/// The least number of replicas that closed forms find enough; nullopt where none is. `slow` times longer iterations
/// are the same as requests that come `slow` times as fast with promises as many times shorter: time has no other
/// scale.
[[nodiscard]] std::optional<std::int64_t> screened_replicas(const ServeScenario& scenario,
                                                            const ServedReplica& served,
                                                            ScreenTraffic traffic,
                                                            double slow = 1.0);

/// The fewest that are not overloaded, by closed forms. ConfigError beyond most_replicas.
[[nodiscard]] std::int64_t busy_replicas(const ServeScenario& scenario,
                                         const ServedReplica& served,
                                         const ScreenTraffic& traffic);

}  // namespace headroom
