// SPDX-License-Identifier: Apache-2.0
// What [slo] promises beside what a simulation reached.
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
  Seconds reached{};        ///< NaN where there was nothing to take it of
  double refused = 0.0;     ///< share of the class's requests, which count as never answered
  double unanswered = 0.0;  ///< share of them whose answer lies beyond simulated time
  bool kept = false;
  /// More are refused than the promise leaves out, whatever the times of the others.
  [[nodiscard]] bool refuses() const noexcept { return refused > 1.0 - promise.quantile; }
};

/// What the requests reached of a promise.
[[nodiscard]] Seconds reached_time(const RequestMetrics& metrics, const TailObjective& promise) noexcept;

/// The promises of all classes. `metrics` of the same classes.
[[nodiscard]] std::vector<KeptPromise> judge(const ServingTraffic& traffic, const ServingMetrics& metrics);

/// What one request must keep to be good, by class: of each time the limit of the highest quantile that is promised.
[[nodiscard]] std::vector<ServiceObjective> request_objectives(const ServingTraffic& traffic);

}  // namespace headroom
