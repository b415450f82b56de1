// SPDX-License-Identifier: Apache-2.0
// Simulated answer to a serving question with traffic: times, rates, promises kept or missed, dollars.
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
#include <headroom/scenarios/serving/session_facts.hpp>
#include <headroom/scenarios/traffic/promises.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A promise, judged at the middle of its interval.
struct JudgedPromise : KeptPromise {
  Interval<Seconds> interval;     ///< interval of the time reached
  bool kept_at_slow_end = false;  ///< verdict of judge_slow_end(): with the probability that is asked for
  double chance = 0.0;            ///< to be kept, by the interval, and on the side of the verdicts
  /// Time reached over its limit, less 1: 0.2 means 20 % too slow.
  [[nodiscard]] double over() const noexcept { return reached / promise.limit - 1.0; }
};

/// Statistics of one time over all requests, with the ends of the interval of each number.
struct IntervalSummary {
  TimeSummary low, mid, high;
};

/// Number of requests waiting for their first iteration, from the first counted arrival to the last arrival.
struct QueueLength {
  double mean = 0.0;
  std::int64_t p50 = 0, p95 = 0, p99 = 0, max = 0;
};

/// Dollars per million served items, with all GPUs paid whether busy or idle.
struct ServedCosts {
  Interval<Dollars> output_tokens, tokens, requests;  ///< `tokens`: prompt and output together
  Dollars output_tokens_saturated{};  ///< cost at the saturation rate, the lowest that this fleet can reach
};

struct ServingSimulation {
  ServedReplica replica;
  std::int64_t replicas = 1, prefill_replicas = 0, gpus = 1;
  Hertz offered{};           ///< mean rate of requests offered
  std::int64_t warm_up = 0;  ///< number of first requests that are simulated but not counted
  RequestLoad load;
  FleetResult result;
  ServingMetrics metrics;
  std::vector<std::string> classes;  ///< names of the classes
  IntervalSummary ttft, tpot, e2e;
  QueueLength queue;
  Interval<Hertz> served;      ///< requests finished per second
  Interval<Hertz> saturation;  ///< highest rate that the fleet can answer
  std::vector<JudgedPromise> promises;
  std::optional<RetryLoad> retries;       ///< set when clients retry, computed against the saturation rate
  std::optional<ServedCosts> costs;       ///< set when there is a price
  std::optional<FoundPrefixes> prefixes;  ///< set when requests have shared prefixes
  std::vector<SessionFacts> sessions;     ///< of the classes with several turns
  std::vector<std::string> notes;         ///< assumptions and findings of the simulation, besides the scenario's own
  std::vector<std::string> findings;      ///< the notes that hold for a plan of these replicas too
  std::string times_source;               ///< source of the width of the intervals
  /// Whether the fleet cannot keep up: it falls behind in the simulation and its saturation is at most the offered load
  /// (in a short run answers always lag), or a request is not answered within simulated time.
  [[nodiscard]] bool overloaded() const noexcept {
    return metrics.unanswered > 0 || (metrics.overloaded && offered >= saturation.mid);
  }
  /// Whether the fleet keeps up and keeps every promise.
  [[nodiscard]] bool good() const noexcept;
};

/// Number of first requests that are not counted: a tenth, because the fleet starts empty.
[[nodiscard]] constexpr std::int64_t warm_up_of(std::int64_t requests) noexcept {
  return requests / 10;
}
/// The same of a load; while its sessions begin no request counts.
[[nodiscard]] std::int64_t warm_up_of(const RequestLoad& load) noexcept;

/// Requests per second that a fleet answers while its queues never empty: the same traffic sent all at once, with
/// enough requests to keep every place taken for most of the run. Requests with shared prefixes are limited to a
/// quarter more than the places at any time, because caches start empty. Turns of sessions wait for their clients, of
/// whom there are as many as give the highest rate: the more of them wait, the less is found of what they said before.
[[nodiscard]] Hertz fleet_saturation(const ServingTraffic& traffic, const ServingFleet& fleet);

/// Whether replicas whose queues never empty do not depend on each other: one tells what all do.
[[nodiscard]] bool replicas_alike(const ServingTraffic& traffic, const ServingFleet& fleet) noexcept;

/// Key of a promise in [slo], e.g. "ttft_p95".
[[nodiscard]] std::string key_of(const TailObjective& promise);

/// Simulates the traffic at `factor` times its rate on `fleet.replicas` replicas, else on as many as hardware.gpus
/// hold, else on one. Intervals cover 80 % of past errors: TTFT and TPOT are widened by the errors of their class, and
/// every time covers at least a fleet as much slower or faster as measured rates were, since its queues differ. Throws
/// ConfigError as served_replica() does, and for a question without traffic or a load that cannot run, with every
/// problem. Precondition: `factor` > 0 and finite.
[[nodiscard]] ServingSimulation simulate_serving(const ServeScenario& scenario,
                                                 const Money& money,
                                                 double factor = 1.0,
                                                 SimulationRecord* record = nullptr);

}  // namespace headroom
