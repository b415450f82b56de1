// SPDX-License-Identifier: Apache-2.0
// One step's passes through a pipeline, pass by pass: exact for any stage costs, linear in the number of passes.
#pragma once

#include <headroom/model/train/schedules/schedule.hpp>

#include <vector>

namespace headroom {

/// Kind of a pass. `pair` is a forward and a whole backward of a GPU's mirrored virtual stages, overlapped.
enum class PassKind : std::uint8_t { forward, backward, backward_input, backward_weight, pair };

/// One pass of one micro-batch through one virtual stage.
struct Pass {
  PassKind kind = PassKind::forward;
  std::int32_t position = 0;              ///< of the virtual stage on a micro-batch's way, from 0
  std::int32_t micro_batch = 0;           ///< from 0
  std::int32_t backward_micro_batch = 0;  ///< of a pair; its position is the mirrored one
};

/// The passes of each stage, in the order in which it runs them. Precondition: no broken rule. All are fixed orders:
/// costs shift the passes and never reorder them, where Qi et al. 2023 search for an order by costs.
[[nodiscard]] std::vector<std::vector<Pass>> pass_order(const PipelineShape& shape);

/// The stage, from 0, that runs a pass. In a two-way schedule micro-batches of the second half enter at the last stage.
[[nodiscard]] std::int32_t stage_of(const PipelineShape& shape,
                                    std::int32_t position,
                                    std::int32_t micro_batch) noexcept;

/// The place of a pass's virtual stage among its stage's chunks, from 0; in a two-way schedule the direction, 0 or 1.
[[nodiscard]] std::int32_t chunk_of(const PipelineShape& shape,
                                    std::int32_t position,
                                    std::int32_t micro_batch) noexcept;

struct TimedPass {
  Pass pass;
  Seconds start{};
  Seconds end{};
};

/// An activation or a gradient on its way to another stage.
struct TimedSend {
  bool forward = true;
  std::int32_t position = 0;  ///< of the virtual stage that sends
  std::int32_t micro_batch = 0;
  Seconds start{};
  Seconds end{};
};

struct SimulatedStage {
  std::vector<TimedPass> passes;
  std::vector<TimedSend> sends;
  Seconds busy{};
  Seconds bubble{};        ///< total - busy
  double in_flight = 0.0;  ///< most micro-batches whose activations it kept at once; a chunk's counts as 1 / chunks
};

struct SimulatedStep {
  Seconds total{};
  std::vector<SimulatedStage> stages;
};

/// A pass starts when its stage is free and its input has arrived. Each stage sends outputs and gradients on a stream
/// each, one after another. `costs` has an entry for each virtual stage, or one for all. Precondition: no broken rule.
[[nodiscard]] SimulatedStep simulate_schedule(const PipelineShape& shape, std::span<const StageCosts> costs);

}  // namespace headroom
