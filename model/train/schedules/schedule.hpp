// SPDX-License-Identifier: Apache-2.0
// The time of one step's passes through a pipeline: what a stage costs, which questions are legal, closed forms for the
// search. schedule_simulation.hpp has the exact event simulation that they are tested against, schedule_model.hpp what
// a schedule is.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/train/schedules/schedule_list.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace headroom {

/// What one micro-batch takes on one virtual stage. A backward pass of schedules that do not split it is
/// backward_input + backward_weight, and the gradient leaves at its end.
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

/// Stages, chunks and micro-batches of one pipeline. `chunks` counts virtual stages a GPU holds of one model replica,
/// as chunks_of has them. A schedule that runs from both ends counts one copy: its second serves the other direction,
/// and micro-batches are those of both directions together.
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

/// What a published order asks of its shape.
enum class ScheduleRule : std::uint8_t {
  none,
  counts_positive,         ///< stages, chunks, micro-batches are at least 1
  chunks_fixed,            ///< the strategy chooses them for some schedules only
  stages_multiple,         ///< of the schedule's number
  micro_batches_multiple,  ///< of the schedule's number
  micro_batches_a_stage    ///< at least the schedule's number
};
/// The first rule broken.
[[nodiscard]] ScheduleRule broken_rule(const PipelineShape& shape) noexcept;

/// A rule of the order with the number that is asked for it and what that must divide by, or at least be.
struct BrokenRule {
  ScheduleRule rule = ScheduleRule::none;
  std::int64_t number = 0;
  std::int64_t limit = 0;
};
/// What the order asks of stages and micro-batches, rule by rule; `none` where it is kept. No micro-batches, for a
/// batch that is not whole: their rules are not asked.
[[nodiscard]] std::array<BrokenRule, 3> order_rules(Schedule schedule,
                                                    std::int64_t stages,
                                                    std::int64_t micro_batches) noexcept;

/// The time of one step's passes when all virtual stages cost the same. Precondition: no broken rule. Within 1 % of the
/// simulation for sends up to a tenth of a forward pass that run beside compute; docs/train-model.md has the equations,
/// the ratios of costs that were tested, and what blocking sends and partial interleaved groups add.
[[nodiscard]] Seconds pipeline_time(const PipelineShape& shape, const StageCosts& stage) noexcept;

/// Uneven stages: the simulated time lies between. `costs` has one entry for each virtual stage, in the order in which
/// a micro-batch meets them. Linear in their number.
struct TimeBounds {
  Seconds low{};
  Seconds high{};
};
[[nodiscard]] TimeBounds pipeline_bounds(const PipelineShape& shape, std::span<const StageCosts> costs) noexcept;

}  // namespace headroom
