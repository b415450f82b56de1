// SPDX-License-Identifier: Apache-2.0
// The answer of `headroom simulate` as text, as JSON, and each request as a row.
#pragma once

#include <headroom/core/json_writer.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

[[nodiscard]] std::string simulation_text(const Scenario& scenario, const ServingSimulation& simulation);
/// Schema "headroom.simulate/1" (docs/simulate.md): raw SI, the unit in the key.
[[nodiscard]] std::string simulation_json(const Scenario& scenario, const ServingSimulation& simulation);
/// CSV with a row for each request in the order of arrival; seconds. Cells of times that were not reached are empty.
[[nodiscard]] std::string request_log(const ServingSimulation& simulation);

/// Iterations of `first` to `last` sequences.
struct BatchBin {
  std::int64_t first = 0, last = 0, iterations = 0;
};
/// 1, 2 to 3, 4 to 7, ... up to the largest that occurs.
[[nodiscard]] std::vector<BatchBin> batch_bins(const std::vector<std::int64_t>& iterations_by_sequences);

/// "ttft_s": {"mean": ..., "p50": ..., ...}, in seconds.
void summary(JsonWriter& json, std::string_view name, const TimeSummary& value);

/// "gpu", "engine", formats and ranks of a replica.
void replica_members(JsonWriter& json, const ServeScenario& scenario);
/// "memory": {...} of the fullest GPU of a replica.
void memory_object(JsonWriter& json, const ServingSimulation& simulation, const ServeScenario& scenario);
/// What prefix caches and the tiers below them found; empty where no request says what it shares.
[[nodiscard]] std::string prefix_rows(const ServingSimulation& simulation);
/// The same as member "prefix_cache".
void prefix_member(JsonWriter& json, const ServingSimulation& simulation);

/// The verdict in one line: what is kept or missed, and by how much; where it saturates.
[[nodiscard]] std::string simulation_verdict(const ServingSimulation& simulation);

/// "retry storm: ..."; empty where there is none.
[[nodiscard]] std::string storm_text(const RetryLoad& retries);

}  // namespace headroom
