// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/traffic/promises.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

const TimeSummary& summary_of(const RequestMetrics& metrics, LatencyMetric metric) noexcept {
  switch (metric) {
    case LatencyMetric::ttft: return metrics.ttft;
    case LatencyMetric::tpot: return metrics.tpot;
    case LatencyMetric::e2e: break;
  }
  return metrics.e2e;
}

constexpr std::array<std::pair<double, Seconds TimeSummary::*>, 5> quantiles{{{TailObjective::mean, &TimeSummary::mean},
                                                                              {0.50, &TimeSummary::p50},
                                                                              {0.90, &TimeSummary::p90},
                                                                              {0.95, &TimeSummary::p95},
                                                                              {0.99, &TimeSummary::p99}}};

}  // namespace

Seconds reached_time(const RequestMetrics& metrics, const TailObjective& promise) noexcept {
  const TimeSummary& summary = summary_of(metrics, promise.metric);
  const auto* const found = std::find_if(quantiles.begin(), quantiles.end(),
                                         [&](const auto& q) { return std::abs(q.first - promise.quantile) < 1e-9; });
  return found == quantiles.end() ? summary.max : summary.*(found->second);
}

std::vector<KeptPromise> judge(const ServingTraffic& traffic, const ServingMetrics& metrics) {
  std::vector<KeptPromise> judged;
  for (std::size_t i = 0; i < traffic.classes.size(); ++i) {
    const RequestMetrics& of = metrics.classes.at(i);
    for (const TailObjective& promise : traffic.classes[i].objectives) {
      KeptPromise one{i, promise, reached_time(of, promise)};
      one.refused = of.requests > 0 ? real(of.refused) / real(of.requests) : 0.0;
      one.unanswered = of.requests > 0 ? real(of.unfinished) / real(of.requests) : 0.0;
      // One-token answers have no time between tokens, and a class without requests misses nothing.
      const bool none = std::isnan(one.reached.raw()) && (of.finished > 0 || of.requests == 0);
      one.kept = (none || one.reached <= promise.limit) && !one.refuses() && of.unfinished == 0;
      judged.push_back(one);
    }
  }
  return judged;
}

std::vector<ServiceObjective> request_objectives(const ServingTraffic& traffic) {
  std::vector<ServiceObjective> objectives;
  for (const RequestClass& c : traffic.classes) {
    ServiceObjective objective;
    const std::array<Seconds*, 3> limits{&objective.ttft, &objective.tpot, &objective.e2e};
    std::array<double, 3> highest{-1.0, -1.0, -1.0};
    for (const TailObjective& promise : c.objectives) {
      const auto i = static_cast<std::size_t>(promise.metric);
      if (promise.quantile > highest[i]) {
        highest[i] = promise.quantile;
        *limits[i] = promise.limit;
      }
    }
    objectives.push_back(objective);
  }
  return objectives;
}

}  // namespace headroom
