// SPDX-License-Identifier: Apache-2.0
// From a measured serving row's configuration to its time, rate or latency: which replica, under which load, by which
// engine.
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

/// What a row measures, of a load that closed forms answer.
enum class ServingLoad : std::uint8_t { fixed_batch, saturated, closed };
enum class ServingMetric : std::uint8_t { output_rate, total_rate, request_rate, input_rate, ttft, tpot, e2e };

/// A row made into a question: everything that does not depend on fitted numbers.
struct ServingTimeQuestion {
  std::shared_ptr<const Replica> replica;
  const ServingStack* stack = nullptr;
  SteadyLoad load;
  ServingLoad kind = ServingLoad::saturated;
  RowPool pool = RowPool::whole;
  ServingMetric metric = ServingMetric::output_rate;
  double replicas = 1.0;
  double to_unit = 1.0;  ///< from seconds, or from a rate, to the row's unit
  bool experts = false;
  std::shared_ptr<const LeastIteration> least;
};

/// In the row's unit. `kernels` gives the terms of a mix, so that a fit computes them once.
using KernelTerms = std::function<IterationTerms(const IterationMix&)>;
[[nodiscard]] double predict_time(const ServingTimeQuestion& question,
                                  const KernelTerms& kernels,
                                  const IterationStack& stack,
                                  const IterationPhysics& physics);

/// What the datasheet alone says, and what no run beats, in the row's unit.
[[nodiscard]] double sheet_time(const ServingTimeQuestion& question);
[[nodiscard]] double fastest_time(const ServingTimeQuestion& question);

/// Rows that closed forms answer.
class ServingTimeModel {
 public:
  explicit ServingTimeModel(const Sources& sources);
  /// nullopt: `refusal` says why.
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
