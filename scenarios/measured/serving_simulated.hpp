// SPDX-License-Identifier: Apache-2.0
// Predictions of measured serving rows by event simulation: open loads, requests sent all at once, and tails of closed
// loops. Steady loads have closed forms (serving_times.hpp).
#pragma once

#include <headroom/model/serve/engine/client_facts.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/model/serve/load/tail_objective.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
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
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Statistic over the requests of a run.
enum class RunStatistic : std::uint8_t { mean, p50, p90, p95, p99 };
inline constexpr std::size_t run_statistics = 5;

/// Results as benchmark clients report them: times in seconds, indexed by RunStatistic; rates per second from the first
/// request sent to the last answer.
struct ClientReport {
  std::array<double, run_statistics> ttft{}, tpot{}, e2e{};
  std::array<double, run_statistics> gaps{};  ///< between any two tokens of a request
  double requests_per_s = 0.0, output_tokens_per_s = 0.0, total_tokens_per_s = 0.0;
  [[nodiscard]] double of(ServingMetric metric, RunStatistic statistic) const noexcept;
};

/// Times of the requests of all runs of a load as one sample, as clients that repeat a run count them: the mean of
/// runs' own percentiles lies above where few requests of a run make them.
class TimesOfRuns {
 public:
  void add(const RequestLoad& load, const FleetResult& result);
  void report(ClientReport& to);

 private:
  std::vector<double> ttft_, tpot_, e2e_;
};

/// A row as a run to simulate: everything that does not depend on fitted numbers.
struct SimulatedQuestion {
  PlacedRow placed;
  ClientLoad load;
  ServingLimits limits;  ///< limits of the placed row, with the sequences of the load
  ServingMemory memory;
  ServingMetric metric = ServingMetric::output_rate;
  RunStatistic statistic = RunStatistic::mean;
  std::string run;       ///< key of the run; rows with equal keys share one simulation
  double to_unit = 1.0;  ///< factor from seconds, or from a rate per second, to the row's unit
  ClientFacts client;
  Seconds parse{};              ///< in which the front end parses the chat template of a request
  SchedulerRules rules;         ///< of the engine, or of the policy that its launch states
  std::optional<bool> chunked;  ///< whether prompts may be split over iterations; nullopt: the engine's default
  bool token_gaps = false;      ///< times between tokens are those of all gaps, not means of requests
  /// The prefilling workers of a deployment in pools, of which `placed` is the decoding one; and what a prompt's cache
  /// takes to travel between them.
  std::shared_ptr<const SimulatedQuestion> prefill;
  CacheTransfer transfer;
  /// What the publication kept (MLPerf's server); a load that keeps limits is of one replica, `share` of the whole.
  std::vector<TailObjective> limits_kept;
  double share = 1.0;
  void name_run();  ///< sets `run` anew, after a change
  /// Asks for drafts of which others are accepted than the mean of the published ones.
  void set_accepted(const RowDrafts::Accepted& accepted);
  [[nodiscard]] bool rate_at_limits() const noexcept;     ///< asks for the rate at which the limits are just kept
  [[nodiscard]] bool rate_of_open_load() const noexcept;  ///< asks how much of an open load is answered
  [[nodiscard]] ServingQuantity quantity() const noexcept;
  [[nodiscard]] std::string engine() const;  ///< key of the engine, which rows with equal keys share
};

/// Whether a row's load and metric need a simulation instead of a closed form.
[[nodiscard]] bool asks_for_run(const ServingConfiguration& run, std::string_view metric);

/// The run of a row; nullopt, with the reason in `refusal`, when there is none.
[[nodiscard]] std::optional<SimulatedQuestion> simulated_question(const ServingConfiguration& run,
                                                                  std::string_view metric,
                                                                  std::string_view unit,
                                                                  ServingPlaces& places,
                                                                  RowPrediction& refusal);

/// Engine of a run. `terms`: kernels of the replica if priced before, in the order in which the tables use them.
[[nodiscard]] SimulatedReplica simulated_engine(const SimulatedQuestion& question,
                                                const IterationStack& stack,
                                                const IterationPhysics& physics,
                                                const MixTerms& terms = {});

/// Mean report over the repeats of the load; deterministic. `prefill`: the engine of prefilling workers, if apart.
[[nodiscard]] ClientReport simulated_report(const SimulatedQuestion& question,
                                            const SimulatedReplica& replica,
                                            const IterationStack& stack,
                                            const PublishedLoads& loads,
                                            const SimulatedReplica* prefill = nullptr);

/// A run at the highest rate at which the replica keeps the limits: requests per second, and what its clients saw.
struct RunAtLimits {
  double rate = 0.0;
  ClientReport report;
};

/// Starts at the rate of closed forms (model/serve/screen) and simulates higher or lower ones, to 4 %; no further than
/// three times as much or a third, where a replica that keeps the limits at no rate is left. Each run lasts four
/// answers at least, or has 60,000 requests.
[[nodiscard]] RunAtLimits run_at_limits(const SimulatedQuestion& question,
                                        const SimulatedReplica& replica,
                                        const IterationStack& stack,
                                        const PublishedLoads& loads,
                                        const SimulatedReplica* prefill = nullptr);

/// Predictions of a lone request or a full engine from the datasheet alone, and the bound that no run beats, in the
/// row's unit.
[[nodiscard]] double simulated_sheet(const SimulatedQuestion& question);
[[nodiscard]] double simulated_fastest(const SimulatedQuestion& question);

}  // namespace headroom
