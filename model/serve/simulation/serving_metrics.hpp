// SPDX-License-Identifier: Apache-2.0
// What a simulated fleet did, as an operator would read it off his dashboards.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace headroom {

/// NaN where there is nothing to take it of. Quantiles by linear interpolation (Hyndman and Fan 1996, type 7).
struct TimeSummary {
  Seconds mean{std::numeric_limits<double>::quiet_NaN()};
  Seconds p50 = mean, p90 = mean, p95 = mean, p99 = mean, max = mean;
};

/// Of any seconds; their order is lost.
[[nodiscard]] TimeSummary time_summary(std::vector<double>& values);

/// What a class of requests is promised; a request is good when it keeps all of it.
struct ServiceObjective {
  static constexpr Seconds none{std::numeric_limits<double>::infinity()};
  Seconds ttft = none;
  Seconds tpot = none;
  Seconds e2e = none;
};

/// Of one class, or of all requests together.
struct RequestMetrics {
  std::int64_t requests = 0;  ///< counted: those after the warm-up
  std::int64_t finished = 0;
  std::int64_t refused = 0;     ///< longer than a KV pool
  std::int64_t unfinished = 0;  ///< at the horizon, or when simulated time ends
  TimeSummary ttft;             ///< client to first token
  TimeSummary tpot;             ///< (last - first token) / (tokens - 1), of outputs of two tokens and more
  TimeSummary e2e;
  TimeSummary queue;        ///< client to the first iteration that holds some of the prompt
  double good_per_s = 0.0;  ///< goodput: finished and kept every objective
  double good_share = 0.0;  ///< of the counted requests
  double finished_per_s = 0.0;
  double output_tokens_per_s = 0.0;
  double input_tokens_per_s = 0.0;
};

struct PoolMetrics {
  double busy = 0.0;        ///< share of the time that an engine iterates, mean over engines
  double kv_mean = 0.0;     ///< share of the blocks in use, mean over the time
  double kv_peak = 0.0;     ///< of the fullest engine
  double batch_mean = 0.0;  ///< sequences of an iteration
  std::int64_t iterations = 0, preemptions = 0;
  std::vector<std::int64_t> batch;          ///< iterations by their sequences
  Seconds gap_p50{}, gap_p95{}, gap_p99{};  ///< between two tokens of a sequence, within 1.6 %
};

struct ServingMetrics {
  RequestMetrics all;
  std::vector<RequestMetrics> classes;  ///< by service class
  /// Of several models on one pool: busy while any of them iterates, of the KV shares the models' mean and the fullest.
  PoolMetrics pool, prefill;
  std::vector<PoolMetrics> models;  ///< each one's share of the device and of its own KV blocks; empty: one model
  double arrived_per_s = 0.0;       ///< of open arrivals; 0 when all come at once or the loop is closed
  /// Open arrivals that come faster than they are answered: over the second half of the time in which requests arrive,
  /// less than 95 % as many finished as arrived. Of no meaning while an answer takes longer than that half. And any
  /// load of which a request is never answered.
  bool overloaded = false;
  std::int64_t unanswered = 0;   ///< requests that were sent and whose answer lies beyond simulated time
  double saturated_per_s = 0.0;  ///< requests finished per second over that half, when overloaded
  double queue_mean = 0.0;       ///< requests that wait for their first iteration (Little 1961: rate x mean wait)
};

/// Requests before `warm_up`, by their order in the load, ran but are not counted; rates are from the first counted
/// arrival to the last counted finish. `objectives` by service class; classes beyond them have none. Pools count the
/// whole run, warm-up included.
[[nodiscard]] ServingMetrics serving_metrics(const RequestLoad& load,
                                             const FleetResult& result,
                                             std::span<const ServiceObjective> objectives = {},
                                             std::int64_t warm_up = 0);

}  // namespace headroom
