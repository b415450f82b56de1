// SPDX-License-Identifier: Apache-2.0
// The time of one step's passes through a pipeline in closed form: the costs of a stage, the shapes that a schedule
// allows, and the time of equal and of uneven stages. schedule_simulation.hpp simulates the same step exactly.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/train/schedules/schedule_list.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace headroom {

/// Seconds of one micro-batch on one virtual stage; each >= 0. Schedules that do not split the backward pass run
/// backward_input + backward_weight as one pass, and send the gradient at its end.
struct StageCosts {
  Seconds forward{};
  Seconds backward_input{};   ///< gradient of the stage's input, "B" of Qi et al. 2023
  Seconds backward_weight{};  ///< gradient of its weights, "W" of Qi et al. 2023
  Seconds send_forward{};     ///< output to the next virtual stage, when that is on another GPU
  Seconds send_backward{};    ///< gradient to the previous one
  /// This virtual stage's forward and a whole backward of the one mirrored on the same GPU, overlapped (DeepSeek-AI
  /// 2024, DeepSeek-V3, figure 4). Unused by schedules that overlap no passes.
  Seconds forward_with_backward{};

  [[nodiscard]] constexpr Seconds backward() const noexcept { return backward_input + backward_weight; }
  [[nodiscard]] constexpr Seconds compute() const noexcept { return forward + backward(); }
};

/// Stages, chunks and micro-batches of one pipeline, each >= 1. `chunks` is the number of virtual stages that a GPU
/// holds of one copy of the network (chunks_of()). A schedule that runs from both ends holds two copies: `chunks`
/// counts those of one, `micro_batches` those of both directions.
struct PipelineShape {
  Schedule schedule = usual_schedule;
  std::int32_t stages = 1;
  std::int32_t chunks = 1;
  std::int32_t micro_batches = 1;
  bool blocking_sends = false;  ///< a send keeps the sender's stage busy; else it runs beside compute

  /// Virtual stages that a micro-batch passes.
  [[nodiscard]] constexpr std::int32_t positions() const noexcept { return stages * chunks; }
  /// The virtual stage as far from the last as this one is from the first.
  [[nodiscard]] constexpr std::int32_t mirrored(std::int32_t position) const noexcept {
    return positions() - 1 - position;
  }
};

/// A requirement of a schedule's published order on the shape of the pipeline.
enum class ScheduleRule : std::uint8_t {
  none,
  counts_positive,         ///< stages, chunks, micro-batches are at least 1
  chunks_fixed,            ///< the strategy chooses them for some schedules only
  stages_multiple,         ///< of the schedule's number
  micro_batches_multiple,  ///< of the schedule's number
  micro_batches_a_stage    ///< at least the schedule's number
};
/// The first rule that the shape breaks; `none` for a legal shape.
[[nodiscard]] ScheduleRule broken_rule(const PipelineShape& shape) noexcept;

struct BrokenRule {
  ScheduleRule rule = ScheduleRule::none;
  std::int64_t number = 0;  ///< stages or micro-batches of the question
  std::int64_t limit = 0;   ///< what `number` must be a multiple of, or at least
};
/// The order's rules on stages, on multiples of micro-batches and on their least number, in this order; `none` for each
/// that is kept. With `micro_batches` 0, for a batch that does not divide, the latter two are kept.
[[nodiscard]] std::array<BrokenRule, 3> order_rules(Schedule schedule,
                                                    std::int64_t stages,
                                                    std::int64_t micro_batches) noexcept;

/// The time of one step's passes when all virtual stages cost the same. Precondition: no broken rule. Within 1 % of the
/// simulation for sends up to a tenth of a forward pass that run beside compute; docs/train-model.md has the equations,
/// the ratios of costs that were tested, and what blocking sends and partial interleaved groups add.
[[nodiscard]] Seconds pipeline_time(const PipelineShape& shape, const StageCosts& stage) noexcept;

/// Lower and upper bound of the simulated time of a step.
struct TimeBounds {
  Seconds low{};
  Seconds high{};
};
/// Bounds for uneven stages. `costs` has one entry for each virtual stage, in the order in which a micro-batch passes
/// them. Takes time linear in their number. Precondition: no broken rule.
[[nodiscard]] TimeBounds pipeline_bounds(const PipelineShape& shape, std::span<const StageCosts> costs) noexcept;

}  // namespace headroom
