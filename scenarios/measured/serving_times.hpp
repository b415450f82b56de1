// SPDX-License-Identifier: Apache-2.0
// From a measured serving row's configuration to its time, rate or latency in closed form: replica, load and engine.
#pragma once

#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/serve/fixed_load/steady_state.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/measured/serving_place.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace headroom {

/// Loads with a closed form.
enum class ServingLoad : std::uint8_t { fixed_batch, saturated, closed };
enum class ServingMetric : std::uint8_t { output_rate, total_rate, request_rate, input_rate, ttft, tpot, e2e, running };

/// Load of a row as its options name it; blank with a number of requests in flight: a closed loop.
[[nodiscard]] std::string scenario_of(const ServingConfiguration& run);
/// Whether a row's requests come at a rate with which its publication kept limits of times (MLPerf's server).
[[nodiscard]] bool keeps_limits(const ServingConfiguration& run);

/// Whether a row's requests come at random, or all at once as a set that ends: no steady load.
[[nodiscard]] bool comes_as_queue(const ServingConfiguration& run);

/// Whether a metric is a time.
[[nodiscard]] constexpr bool is_time(ServingMetric m) noexcept {
  return m == ServingMetric::ttft || m == ServingMetric::tpot || m == ServingMetric::e2e;
}

/// A row as a question: everything that does not depend on fitted numbers.
struct ServingTimeQuestion {
  std::shared_ptr<const Replica> replica;
  const ServingStack* stack = nullptr;
  SteadyLoad load;
  ServingLoad kind = ServingLoad::saturated;
  RowPool pool = RowPool::whole;
  ServingMetric metric = ServingMetric::output_rate;
  double replicas = 1.0;
  double clock = 1.0;    ///< of what multiplies under a power cap, over the uncapped clock
  double to_unit = 1.0;  ///< factor from seconds, or from a rate per second, to the row's unit
  bool experts = false;
  RowDrafts drafts;
  std::shared_ptr<const LeastIteration> least;
};

/// What drafting adds to an iteration that decodes: RowDrafts::share of `engine`'s time for its decodes alone, each one
/// token, and the host's time where the launch does not overlap drafts. Seconds; 0 without drafts.
[[nodiscard]] double drafting_seconds(const RowDrafts& drafts,
                                      const Replica& replica,
                                      const IterationStack& stack,
                                      const IterationCost& engine,
                                      const IterationMix& mix);

/// Gives the kernel terms of a mix, which a fit computes once.
using KernelTerms = std::function<IterationTerms(const IterationMix&)>;
[[nodiscard]] double predict_time(const ServingTimeQuestion& question,
                                  const KernelTerms& kernels,
                                  const IterationStack& stack,
                                  const IterationPhysics& physics);

/// The state of one replica behind the answer.
[[nodiscard]] SteadyState steady_state_of(const ServingTimeQuestion& question,
                                          const KernelTerms& kernels,
                                          const IterationStack& stack,
                                          const IterationPhysics& physics);

/// Predictions from the datasheet alone, and the bound that no run beats, in the row's unit.
[[nodiscard]] double sheet_time(const ServingTimeQuestion& question);
[[nodiscard]] double fastest_time(const ServingTimeQuestion& question);

/// Predicts the rows that have a closed form.
class ServingTimeModel {
 public:
  explicit ServingTimeModel(const Sources& sources);
  /// The question of a row; nullopt, with the reason in `refusal`, when there is none.
  [[nodiscard]] std::optional<ServingTimeQuestion> question(const ServingConfiguration& run,
                                                            std::string_view metric,
                                                            std::string_view unit,
                                                            RowPrediction& refusal);
  [[nodiscard]] const std::vector<ServingStack>& stacks() const noexcept { return places_.stacks(); }
  [[nodiscard]] ServingPlaces& places() noexcept { return places_; }
  [[nodiscard]] std::size_t kept() const noexcept { return places_.kept(); }

 private:
  ServingPlaces places_;
};

}  // namespace headroom
