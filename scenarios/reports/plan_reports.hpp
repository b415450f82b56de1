// SPDX-License-Identifier: Apache-2.0
// Answers about serving as results in the forms of benchmarks, so that a plan lies beside what is measured later:
// llm-d's Benchmark Report, MLPerf Endpoints' summary. Fields by form: docs/formats.md.
#pragma once

#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/scenarios/launch/launch.hpp>

#include <cstdint>
#include <optional>

namespace headroom {

struct FleetPlan;
struct Plan;

/// What such a result holds of an answer.
struct ServedResult {
  const Scenario* scenario = nullptr;  ///< must outlive it
  const ServeScenario* serve = nullptr;
  std::int64_t replicas = 1;    ///< that decode, spare ones not among them
  std::int64_t prefill = 0;     ///< replicas that prefill alone
  std::int64_t requests = 1;    ///< that the numbers are of
  std::int64_t failed = 0;      ///< refused, or not answered
  bool distributed = false;     ///< whether percentiles are known: of a simulated fleet, not of a fixed load
  TimeSummary ttft, tpot, e2e;  ///< at the middle of their intervals; only means where not distributed
  double requests_per_s = 0.0, output_tokens_per_s = 0.0, input_tokens_per_s = 0.0;
  double isl = 0.0, osl = 0.0;  ///< mean tokens of a request
  std::optional<double> concurrency, rate;
};

/// Of a plan of serving under a fixed load. ConfigError where no time was priced.
[[nodiscard]] ServedResult served_result(const Plan& plan);
/// Of the first option of a fleet that is feasible. ConfigError where it was not simulated.
[[nodiscard]] ServedResult served_result(const FleetPlan& plan);

/// llm-d's Benchmark Report 0.2.1 as YAML.
[[nodiscard]] ExportedLaunch benchmark_report(const ServedResult& result);
/// result_summary.json of MLPerf Endpoints.
[[nodiscard]] ExportedLaunch endpoints_summary(const ServedResult& result);

}  // namespace headroom
