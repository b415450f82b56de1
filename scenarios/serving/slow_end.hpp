// SPDX-License-Identifier: Apache-2.0
// A fleet as slow as it is with a given probability, and the promises it keeps so.
#pragma once

#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/traffic/promises.hpp>

#include <vector>

namespace headroom {

/// Factor on every iteration that is not exceeded with so much probability, by the errors of measured rates: 1 at 0.5,
/// 1.25 at 0.9 when rates were down to 20 % lower, below 1 for less than 0.5.
[[nodiscard]] double slowest_iteration(const ServeScenario& scenario, double probability);
/// The same with the probability that the question asks for: its slow end.
[[nodiscard]] double slowest_iteration(const ServeScenario& scenario);

/// Highest load of a recommended fleet, as a share of the rate at which it saturates at the slow end. Closer to
/// saturation any small error of the load makes a queue that hardly empties. The value is a choice, no measurement: it
/// costs at most 1 / 0.9 of the replicas that the load alone needs, and nothing where a promise needs more anyway. The
/// screen's wait grows as 1 / (1 - load) (Allen and Cunneen), so with a load 5 % above the stated one the wait nearly
/// doubles from 0.9 (1 / (1 - 0.945) over 1 / (1 - 0.9) is 1.8) and diverges from 0.96 on.
inline constexpr double most_load = 0.9;

/// Slows a fleet down by `slower` while its tables stay: in a time that runs `slower` times slower, iterations take
/// what the tables say, requests arrive faster and everything that is not an iteration is shorter. All resulting times
/// must be multiplied by `slower`. Precondition: `slower` > 0 and finite.
void slow_down(ServingFleet& fleet, RequestLoad& load, double slower);

/// Measured over modelled of a time in queues that is not exceeded with so much probability, the fleet's own speed
/// apart (beside_reach of the model). A whole answer is its first token and the rest, each as far off as such times
/// were; `first`: the share (0 to 1) of its mean that is the first token's.
[[nodiscard]] double longest_in_queue(const ServeScenario& scenario,
                                      LatencyMetric metric,
                                      double first,
                                      double probability);
/// The share of the first token in the mean whole answer; 0 without an answer.
[[nodiscard]] double first_share(const RequestMetrics& metrics) noexcept;

/// `middle` as long as errors of queues by `factor` and a fleet's speed, with which it is `moved`, make it together:
/// both are independent, so that squares of logarithms add up. `factor` and the speed lie on one side of 1.
[[nodiscard]] Seconds beside_speed(Seconds middle, Seconds moved, double factor) noexcept;

/// Promises kept with so much probability. `middle`: metrics of the modelled fleet; `slow`: of the same fleet slowed
/// down by slowest_iteration(), in its own time. `reached` is the middle's time, as long as past errors of times in
/// queues and the slower fleet, whose queues are longer, make it together.
[[nodiscard]] std::vector<KeptPromise> judge_slow_end(const ServeScenario& scenario,
                                                      const ServingMetrics& middle,
                                                      const ServingMetrics& slow,
                                                      double probability);
/// The same with the probability that the question asks for.
[[nodiscard]] std::vector<KeptPromise> judge_slow_end(const ServeScenario& scenario,
                                                      const ServingMetrics& middle,
                                                      const ServingMetrics& slow);

}  // namespace headroom
