// SPDX-License-Identifier: Apache-2.0
// The time of one step's passes through a pipeline: what a stage costs, which questions are legal, closed forms for the
// search. schedule_simulation.hpp has the exact event simulation that they are tested against.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/train/strategy/strategy.hpp>

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
  /// DualPipe: this stage's forward and a whole backward of the GPU's other stage, overlapped (DeepSeek-AI 2024,
  /// DeepSeek-V3, figure 4). Unused by the others.
  Seconds forward_with_backward{};

  [[nodiscard]] constexpr Seconds backward() const noexcept { return backward_input + backward_weight; }
  [[nodiscard]] constexpr Seconds compute() const noexcept { return forward + backward(); }
};

/// Stages, chunks and micro-batches of one pipeline. `chunks` counts virtual stages a GPU holds of one model replica:
/// vpp of the interleaved schedule, 2 for ZB-V (virtual stages i and 2p - 1 - i), else 1. DualPipe counts 1: its second
/// copy serves the other direction, and micro-batches are those of both directions together.
struct PipelineShape {
  Schedule schedule = Schedule::one_f_one_b;
  std::int32_t stages = 1;
  std::int32_t chunks = 1;
  std::int32_t micro_batches = 1;
  bool blocking_sends = false;  ///< a send keeps the sender's stage busy; else it runs beside compute

  /// Virtual stages that a micro-batch passes.
  [[nodiscard]] constexpr std::int32_t positions() const noexcept { return stages * chunks; }
};

/// A schedule's chunks for this strategy.
[[nodiscard]] constexpr std::int32_t chunks_of(const Strategy& s) noexcept {
  if (s.schedule == Schedule::zb_v) {
    return 2;
  }
  return s.schedule == Schedule::one_f_one_b ? s.vpp : 1;
}

/// What a published order asks of its shape, the first rule broken.
enum class ScheduleRule : std::uint8_t {
  none,
  counts_positive,            ///< stages, chunks, micro-batches are at least 1
  chunks_fixed,               ///< only the interleaved schedule chooses its chunks
  stages_even,                ///< DualPipe
  micro_batches_even,         ///< DualPipe: the same number each way
  micro_batches_twice_stages  ///< DualPipe: at least 2p
};
[[nodiscard]] ScheduleRule broken_rule(const PipelineShape& shape) noexcept;

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
