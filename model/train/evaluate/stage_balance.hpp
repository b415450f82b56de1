// SPDX-License-Identifier: Apache-2.0
// Layers of the end stages of a pipeline that make its slowest stage the shortest: what a planner gives software that
// takes any number of them, where the embedding and the head leave the end stages more or less to do than the others.
#pragma once

#include <headroom/model/train/evaluate/training.hpp>

#include <cstdint>
#include <optional>

namespace headroom {

/// Layers of the first and of the last stage.
struct EndStages {
  std::int64_t first = 0, last = 0;
};

/// Of `layers` on `stages`, of which the last also computes what takes as long as `beside` layers: the split whose
/// slowest stage is the shortest, all stages between the ends alike and none empty. None where there is none.
[[nodiscard]] std::optional<EndStages> balanced_ends(std::int64_t layers, std::int64_t stages, double beside) noexcept;

/// The strategy with such end stages, marked as open, where its software takes them, the strategy leaves them open, its
/// schedule runs the stages in one line, and its slowest stage gets a twentieth shorter than as the software splits:
/// even stages are simpler. Else the strategy as it is.
[[nodiscard]] Strategy with_balanced_stages(const CompiledTraining& compiled,
                                            const LayerTable& table,
                                            const Strategy& strategy) noexcept;

/// evaluate_memory() of the strategy with balanced stages where those surely fit `room`, else as it stands; `strategy`
/// becomes what was evaluated. Beyond `known` memory is told as evaluate_memory() tells it.
[[nodiscard]] Estimate settle_stages(const CompiledTraining& compiled,
                                     const LayerTable& table,
                                     Bytes room,
                                     Strategy& strategy,
                                     Bytes known = any_room) noexcept;

/// Without the layers of end stages that nobody stated.
[[nodiscard]] constexpr Strategy with_open_stages(Strategy s) noexcept {
  if (s.stages_open) {
    s.first_stage_layers = s.last_stage_layers = 0;
    s.stages_open = false;
  }
  return s;
}

}  // namespace headroom
