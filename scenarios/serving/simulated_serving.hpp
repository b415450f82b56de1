// SPDX-License-Identifier: Apache-2.0
// The answer of a simulation to a serving question with traffic: times, rates, promises kept or missed, dollars.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/serve/load/tail_objective.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/model/serve/simulation/simulation_record.hpp>
#include <headroom/scenarios/money/money.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/serving/found_prefixes.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/traffic/promises.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A promise, judged by the middle of its interval.
struct JudgedPromise : KeptPromise {
  Interval<Seconds> interval;     ///< of what is reached
  bool kept_at_slow_end = false;  ///< as judge_slow_end() says
  /// What was reached over the limit, less 1: 0.2 is 20 % too slow.
  [[nodiscard]] double over() const noexcept { return reached / promise.limit - 1.0; }
};

/// One time of all requests: what was simulated, and the ends of its interval for each number.
struct IntervalSummary {
  TimeSummary low, mid, high;
};

/// Requests that wait for their first iteration, over the time from the first counted arrival to the last arrival.
struct QueueLength {
  double mean = 0.0;
  std::int64_t p50 = 0, p95 = 0, p99 = 0, max = 0;
};

/// Dollars per million of what is served, all GPUs paid whether they are busy or idle.
struct ServedCosts {
  Interval<Dollars> output_tokens, tokens, requests;  ///< `tokens`: of prompts and answers together
  Dollars output_tokens_saturated{};                  ///< at the saturation rate: the least that this fleet reaches
};

struct ServingSimulation {
  ServedReplica replica;
  std::int64_t replicas = 1, prefill_replicas = 0, gpus = 1;
  Hertz offered{};           ///< mean rate that was asked for
  std::int64_t warm_up = 0;  ///< first requests, simulated and not counted
  RequestLoad load;
  FleetResult result;
  ServingMetrics metrics;
  std::vector<std::string> classes;  ///< their names
  IntervalSummary ttft, tpot, e2e;
  QueueLength queue;
  Interval<Hertz> served;      ///< requests finished per second
  Interval<Hertz> saturation;  ///< that the fleet answers at most
  std::vector<JudgedPromise> promises;
  std::optional<RetryLoad> retries;       ///< where clients try again: against the saturation rate
  std::optional<ServedCosts> costs;       ///< where there is a price
  std::optional<FoundPrefixes> prefixes;  ///< where requests say what they share
  std::vector<std::string> notes;         ///< what was assumed and found, beside the scenario's own
  std::vector<std::string> findings;      ///< of the notes those that hold of a plan of these replicas too
  std::string times_source;               ///< where the width of the intervals comes from
  /// Falls behind in the simulation, and is no faster than its load: in a short one answers lag behind requests anyhow.
  /// Or leaves a request without an answer for longer than is simulated.
  [[nodiscard]] bool overloaded() const noexcept {
    return metrics.unanswered > 0 || (metrics.overloaded && offered >= saturation.mid);
  }
  /// Neither overloaded nor a promise missed.
  [[nodiscard]] bool good() const noexcept;
};

/// Requests at the start of a load that are simulated and not counted: the first tenth, for a fleet starts empty.
[[nodiscard]] constexpr std::int64_t warm_up_of(std::int64_t requests) noexcept {
  return requests / 10;
}

/// Requests per second that a fleet answers while its queues never empty: the same traffic all at once, as many
/// requests as keep every place taken for most of the run. Of requests that share prefixes a quarter more than the
/// places at any time, for what caches hold at time 0 is nothing.
[[nodiscard]] Hertz fleet_saturation(const ServingTraffic& traffic, const ServingFleet& fleet);

/// "ttft_p95": how a promise is stated.
[[nodiscard]] std::string key_of(const TailObjective& promise);

/// Simulates the traffic at `factor` times its rate on the fleet that the question states: `fleet.replicas`, else as
/// many as hardware.gpus hold, else one. Intervals: 80 % of measured runs lay within the errors of their class; times
/// of a first token and between tokens are that wide, and all times at least as wide as on a fleet as much slower or
/// faster as measured rates were, whose queues differ. ConfigError as served_replica(), and for a question without
/// traffic or a load that cannot run, every problem at once. Precondition: factor > 0, finite.
[[nodiscard]] ServingSimulation simulate_serving(const ServeScenario& scenario,
                                                 const Money& money,
                                                 double factor = 1.0,
                                                 SimulationRecord* record = nullptr);

}  // namespace headroom
