// SPDX-License-Identifier: Apache-2.0
// Metrics of a simulated fleet as an operator reads them off dashboards.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace headroom {

/// Statistics of a sample of times; NaN if it is empty. Quantiles: Hyndman and Fan 1996, type 7.
struct TimeSummary {
  Seconds mean{std::numeric_limits<double>::quiet_NaN()};
  Seconds p50 = mean, p90 = mean, p95 = mean, p99 = mean, max = mean;
};

/// The summary of `values` in seconds, whose order is lost.
[[nodiscard]] TimeSummary time_summary(std::vector<double>& values);

/// Limits that every request of a class should meet; a request is good if it meets all of them.
struct ServiceObjective {
  static constexpr Seconds none{std::numeric_limits<double>::infinity()};
  Seconds ttft = none;
  Seconds tpot = none;
  Seconds e2e = none;
};

/// Metrics of one class, or of all requests together.
struct RequestMetrics {
  std::int64_t requests = 0;  ///< counted requests: those after the warm-up
  std::int64_t finished = 0;
  std::int64_t refused = 0;     ///< requests longer than a KV pool
  std::int64_t unfinished = 0;  ///< requests not finished at the horizon or the end of simulated time
  TimeSummary ttft;             ///< client to first token
  TimeSummary tpot;             ///< (last - first token) / (tokens - 1), for outputs of two or more tokens
  TimeSummary e2e;
  TimeSummary queue;        ///< client to the first iteration with part of the prompt
  double good_per_s = 0.0;  ///< goodput: requests per second that finished and met every objective
  double good_share = 0.0;  ///< share of the counted requests that are good
  double finished_per_s = 0.0;
  double output_tokens_per_s = 0.0;
  double input_tokens_per_s = 0.0;
};

struct PoolMetrics {
  double busy = 0.0;        ///< share of the time in which an engine iterates, mean over engines
  double kv_mean = 0.0;     ///< share of the blocks in use, mean over time
  double kv_peak = 0.0;     ///< largest share of blocks in use, of the fullest engine
  double batch_mean = 0.0;  ///< mean sequences per iteration
  std::int64_t iterations = 0, preemptions = 0;
  std::vector<std::int64_t> batch;                     ///< iterations by their number of sequences
  Seconds gap_p50{}, gap_p95{}, gap_p99{}, gap_max{};  ///< times between two tokens of a sequence, accurate to 1.6 %
};

struct ServingMetrics {
  RequestMetrics all;
  std::vector<RequestMetrics> classes;  ///< by service class
  /// With several models on one pool: busy while any of them iterates; KV shares are the models' mean and maximum.
  PoolMetrics pool, prefill;
  std::vector<PoolMetrics> models;  ///< each model's share of the device and of its own KV blocks; empty: one model
  double arrived_per_s = 0.0;       ///< rate of open arrivals; 0 if all arrive at once or the loop is closed
  /// Open arrivals exceed the answers: in the second half of the arrival period fewer than 95 % as many requests finish
  /// as arrive, of sessions as would if no turn waited. Not meaningful if an answer takes longer than that half. Also
  /// set if any request is never answered.
  bool overloaded = false;
  std::int64_t unanswered = 0;   ///< requests sent but not answered within simulated time
  double saturated_per_s = 0.0;  ///< requests finished per second in that half, if overloaded
  double queue_mean = 0.0;       ///< mean requests waiting for their first iteration (Little 1961: rate x mean wait)
};

/// The first `warm_up` requests of the load run but are not counted; rates span the first counted arrival to the last
/// counted finish. `objectives` are by service class; further classes have none. Pools count the whole run.
[[nodiscard]] ServingMetrics serving_metrics(const RequestLoad& load,
                                             const FleetResult& result,
                                             std::span<const ServiceObjective> objectives = {},
                                             std::int64_t warm_up = 0);

}  // namespace headroom
