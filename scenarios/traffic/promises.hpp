// SPDX-License-Identifier: Apache-2.0
// Promises of [slo], compared with what a simulation reached.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/tail_objective.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <cstddef>
#include <vector>

namespace headroom {

struct KeptPromise {
  std::size_t service_class = 0;
  TailObjective promise;
  Seconds reached{};        ///< time reached at the promised quantile; NaN without any such time
  double refused = 0.0;     ///< share (0 to 1) of the class's requests that are refused
  double unanswered = 0.0;  ///< share (0 to 1) of the class's requests without an answer within simulated time
  bool kept = false;
  /// Whether refusals alone break the promise: more are refused than its quantile leaves out.
  [[nodiscard]] bool refuses() const noexcept { return refused > 1.0 - promise.quantile; }
};

/// Time that the requests reached at the quantile of a promise.
[[nodiscard]] Seconds reached_time(const RequestMetrics& metrics, const TailObjective& promise) noexcept;

/// Judges the promises of all classes. `metrics` must have the same classes.
[[nodiscard]] std::vector<KeptPromise> judge(const ServingTraffic& traffic, const ServingMetrics& metrics);

/// Limits that a single request must keep to count as good, by class: for each time the limit of the highest promised
/// quantile.
[[nodiscard]] std::vector<ServiceObjective> request_objectives(const ServingTraffic& traffic);

}  // namespace headroom
