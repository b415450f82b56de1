// SPDX-License-Identifier: Apache-2.0
// Measured serving rows of queues, answered by the event simulation: open loops, requests sent all at once, and the
// tails of closed loops. Rows of steady loads have closed forms (serving_times.hpp).
#pragma once

#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/model/serve/simulation/simulated_replica.hpp>
#include <headroom/model/serve/tables/make_tables.hpp>
#include <headroom/scenarios/measured/serving_loads.hpp>
#include <headroom/scenarios/measured/serving_place.hpp>
#include <headroom/scenarios/measured/serving_times.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// Over the requests of a run.
enum class RunStatistic : std::uint8_t { mean, p50, p95, p99 };

/// What benchmark clients report of a run: times in seconds by RunStatistic; rates over the time from the first request
/// sent to the last answer.
struct ClientReport {
  std::array<double, 4> ttft{}, tpot{}, e2e{};
  double requests_per_s = 0.0, output_tokens_per_s = 0.0, total_tokens_per_s = 0.0;
  [[nodiscard]] double of(ServingMetric metric, RunStatistic statistic) const noexcept;
};

/// A row made into a run: everything that does not depend on fitted numbers.
struct SimulatedQuestion {
  PlacedRow placed;
  ClientLoad load;
  ServingLimits limits;  ///< the placed row's, with the load's sequences
  ServingMemory memory;
  ServingMetric metric = ServingMetric::output_rate;
  RunStatistic statistic = RunStatistic::mean;
  std::string run;       ///< what runs: rows that agree in it share one
  double to_unit = 1.0;  ///< from seconds, or from a rate, to the row's unit
  [[nodiscard]] ServingQuantity quantity() const noexcept;
  [[nodiscard]] std::string engine() const;  ///< rows that agree in it share one engine, whatever their rates
};

/// Whether a row's load and metric ask for a run rather than for a closed form.
[[nodiscard]] bool asks_for_run(const ServingConfiguration& run, std::string_view metric);

/// nullopt: `refusal` says why.
[[nodiscard]] std::optional<SimulatedQuestion> simulated_question(const ServingConfiguration& run,
                                                                  std::string_view metric,
                                                                  std::string_view unit,
                                                                  ServingPlaces& places,
                                                                  RowPrediction& refusal);

/// The engine of a run. `terms`: the replica's kernels where they were priced before, in the order that tables ask.
[[nodiscard]] SimulatedReplica simulated_engine(const SimulatedQuestion& question,
                                                const IterationStack& stack,
                                                const IterationPhysics& physics,
                                                const MixTerms& terms = {});

/// The mean over repeats of the load. The same for the same input.
[[nodiscard]] ClientReport simulated_report(const SimulatedQuestion& question,
                                            const SimulatedReplica& replica,
                                            const IterationStack& stack,
                                            const PublishedLoads& loads);

/// Reports of runs, each simulated once, with the stacks as they are in the files.
class SimulatedRuns {
 public:
  [[nodiscard]] const ClientReport& report(const SimulatedQuestion& question);
  [[nodiscard]] std::size_t kept() const noexcept { return reports_.size() + engines_.size(); }

 private:
  std::map<std::string, ClientReport, std::less<>> reports_;
  std::map<std::string, SimulatedReplica, std::less<>> engines_;
};

/// What the datasheet alone says of a lone request or a full engine, and what no run beats, in the row's unit.
[[nodiscard]] double simulated_sheet(const SimulatedQuestion& question);
[[nodiscard]] double simulated_fastest(const SimulatedQuestion& question);

}  // namespace headroom
