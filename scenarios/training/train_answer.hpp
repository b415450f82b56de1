// SPDX-License-Identifier: Apache-2.0
// A training question compiled and its open axes closed: what plans and remedies share, so that both judge alike.
#pragma once

#include <headroom/scenarios/question/scenario.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace headroom {

/// What of a plan is asked for; `memory` alone needs no peak, no sustained rate, no bandwidth and no price.
enum class PlanPart : std::uint8_t { all, memory };

struct TrainQuestion {
  CompiledTraining compiled;
};
/// Memory alone closes open axes as the whole plan does where that can be priced, else by FLOP. ConfigError when the
/// whole is asked and the SKU has no peak for the recipe. `groups`: of the same job, built anew when there are none.
[[nodiscard]] TrainQuestion compile_question(const TrainScenario& train,
                                             PlanPart part,
                                             std::shared_ptr<const JobGroups> groups = nullptr,
                                             TermSet without = {});
/// The scenario's workload with what its hosts add: their link to a GPU, and the GPUs that share one.
[[nodiscard]] TrainingWorkload workload_of(const TrainScenario& train);
/// The groups of a scenario's GPUs on its hosts.
[[nodiscard]] std::shared_ptr<const JobGroups> groups_of(const TrainScenario& train);

/// What fits counts as: the central value for runs that are known to have run, the upper end for plans.
enum class FitRule : std::uint8_t { likely, surely };

/// Sequences of a pass that are tried where nobody states them: those that fit and divide the batch. Published recipes
/// of decoders have eight at the most; images and short sequences of encoders fill a GPU with some hundred.
inline constexpr std::array<std::uint16_t, 10> micro_batches_of_encoders{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
[[nodiscard]] constexpr std::span<const std::uint16_t> blank_micro_batches(const Architecture& architecture) noexcept {
  const std::span<const std::uint16_t> all{micro_batches_of_encoders};
  return architecture.kind == ArchitectureKind::encoder ? all : all.first(4);
}

/// Fills the open axes with the fastest legal values that fit, else those that need the least memory.
struct OpenStrategy {
  Strategy strategy;
  bool micro_batch = false, recompute = false, vpp = false;  ///< open
};
[[nodiscard]] OpenStrategy open_strategy(const TrainScenario& train) noexcept;
[[nodiscard]] Strategy close_open_axes(const CompiledTraining& compiled, const OpenStrategy& open, FitRule rule);

/// The strategy's table. Stages that it states are simulated pass by pass, up to 10 million of them; else a closed form
/// stands.
[[nodiscard]] LayerTable table_for(const CompiledTraining& compiled, const Strategy& strategy);

/// The closed strategy and its price.
struct TrainAnswer {
  Strategy strategy;
  Estimate estimate;
};
[[nodiscard]] TrainAnswer answer_question(const CompiledTraining& compiled, const OpenStrategy& open);

}  // namespace headroom
