// SPDX-License-Identifier: Apache-2.0
// The answer of `headroom simulate` as text, as JSON, and each request as a row.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

[[nodiscard]] std::string simulation_text(const Scenario& scenario, const ServingSimulation& simulation);
/// Schema "headroom.simulate/1" (docs/simulate.md): raw SI, the unit in the key.
[[nodiscard]] Value simulation_document(const Scenario& scenario, const ServingSimulation& simulation);
/// CSV with a row for each request in the order of arrival; seconds. Cells of times that were not reached are empty.
[[nodiscard]] std::string request_log(const ServingSimulation& simulation);

/// Iterations of `first` to `last` sequences.
struct BatchBin {
  std::int64_t first = 0, last = 0, iterations = 0;
};
/// 1, 2 to 3, 4 to 7, ... up to the largest that occurs.
[[nodiscard]] std::vector<BatchBin> batch_bins(const std::vector<std::int64_t>& iterations_by_sequences);

/// Summaries of the times with their 80 % intervals.
[[nodiscard]] Value time_intervals(const ServingSimulation& simulation);

/// {"mean": ..., "p50": ..., ...}, on one line.
[[nodiscard]] Value tail(const TimeSummary& times);

/// "gpu", "engine", formats and ranks of a replica.
[[nodiscard]] Value replica_value(const ServeScenario& scenario);
/// Of the fullest GPU of a replica.
[[nodiscard]] Value replica_memory(const ServingSimulation& simulation, const ServeScenario& scenario);
/// What prefix caches and the tiers below them found; empty where no request says what it shares.
[[nodiscard]] std::string prefix_rows(const ServingSimulation& simulation);
/// The same as a value.
[[nodiscard]] Value prefix_value(const ServingSimulation& simulation);
/// A member of its own, or nothing where no requests come in turns.
[[nodiscard]] Value sessions_value(const ServingSimulation& simulation);

/// The verdict in one line: what is kept or missed, and by how much; where it saturates.
[[nodiscard]] std::string simulation_verdict(const ServingSimulation& simulation);

/// "retry storm: ..."; empty where there is none.
[[nodiscard]] std::string storm_text(const RetryLoad& retries);

}  // namespace headroom
