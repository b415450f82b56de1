// SPDX-License-Identifier: Apache-2.0
// Replicas as slow as measured ones were: what a fleet of them does, and what it keeps of its promises.
#pragma once

#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/request_load.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/scenarios/scenario.hpp>
#include <headroom/scenarios/serving/promises.hpp>

#include <vector>

namespace headroom {

/// Times that an iteration takes at the slow end of measured rates, over what the model says; 1.25 for rates that were
/// down to 20 % lower.
[[nodiscard]] double slowest_iteration(const ServeScenario& scenario);

/// Of the rate at which its replicas saturate at the slow end, what a fleet to recommend is loaded by at most: nearer
/// to saturation every small error of the load is a queue that hardly empties. The number was chosen: no measurement
/// says where to stop. It costs up to 1 / 0.9 of the replicas that the load alone takes at that end, 11 % more, and
/// nothing where a promise asks for more of them anyway. What it buys, by the wait of the screen, which grows as
/// 1 / (1 - load) (Allen and Cunneen): a load 5 % above the asked one nearly doubles the wait from 0.9 on (1 / (1 -
/// 0.945) over 1 / (1 - 0.9) is 1.8), and from 0.96 on it ends in a queue that only grows.
inline constexpr double most_load = 0.9;

/// The same question to a fleet whose every iteration takes `slower` times as long, in a time that runs as much slower:
/// iterations are those of the tables, requests come the faster, and what is no iteration is as much shorter. Each of
/// its times counts `slower` times. Precondition: slower > 0, finite.
void slow_down(ServingFleet& fleet, RequestLoad& load, double slower);

/// What is kept of the promises at the slow end. `middle`: of the fleet as the model has it; `slow`: of the same fleet
/// slowed down slowest_iteration() times, in its own time. `reached` is the longer of two: the middle's as much too
/// short as such times were, and that of the slower fleet, whose queues are longer.
[[nodiscard]] std::vector<KeptPromise> judge_slow_end(const ServeScenario& scenario,
                                                      const ServingMetrics& middle,
                                                      const ServingMetrics& slow);

}  // namespace headroom
