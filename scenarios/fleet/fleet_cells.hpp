// SPDX-License-Identifier: Apache-2.0
// A large fleet as equal cells, each with a router and its share of the requests.
#pragma once

#include <headroom/scenarios/fleet/fleet_sizing.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <cstdint>

namespace headroom {

/// One of equal cells of a fleet: a share of the requests and of the replicas, whose number they divide, and of a store
/// of all replicas. Precondition: a question with traffic.
[[nodiscard]] ServeScenario cell_of(ServeScenario s, std::int64_t cells);

/// Cells of at most 48 replicas that divide what is stated; 1 where no number does.
[[nodiscard]] std::int64_t cells_of(const FleetQuestion& fleet, std::int64_t replicas);

/// Sized by its cells, from `start` replicas on.
[[nodiscard]] SizedFleet sized_by_cells(const ServeScenario& s,
                                        const ServedReplica& served,
                                        std::int64_t start,
                                        std::int64_t cells,
                                        SizedFor sized_for = SizedFor::slow_end);

/// chance_to_keep() of one of its cells, whose runs are known.
[[nodiscard]] double chance_by_cells(const ServeScenario& s,
                                     const ServedReplica& served,
                                     const FleetSize& size,
                                     std::int64_t cells,
                                     const FleetRuns& known);

}  // namespace headroom
