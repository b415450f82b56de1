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
/// schedule runs the stages in one line, and its slowest stage gets shorter than as the software splits. Else the
/// strategy as it is. A step has more to it than its slowest stage: see shortest().
[[nodiscard]] Strategy with_balanced_stages(const CompiledTraining& compiled,
                                            const LayerTable& table,
                                            const Strategy& strategy) noexcept;

/// A strategy with one split of its layers, and what it needs and takes.
struct StageSplit {
  Strategy strategy;
  Estimate estimate;
};

/// A strategy as it stands, of any size, and balanced, where that is another split and surely fits.
struct StageSplits {
  StageSplit own;
  std::optional<StageSplit> balanced;
};

/// evaluate_memory() of both splits. Beyond `known` the memory of the strategy as it stands is told as
/// evaluate_memory() tells it.
[[nodiscard]] StageSplits stage_splits(const CompiledTraining& compiled,
                                       const LayerTable& table,
                                       const Strategy& strategy,
                                       Bytes room,
                                       Bytes known = any_room) noexcept;

/// Of the splits that fit `room` the one whose whole step is the shorter, timed; the strategy as it stands where both
/// take as long or none fits. A threshold instead, in favour of even stages, would let a faster machine lose what
/// the threshold asks for.
[[nodiscard]] StageSplit shortest(const CompiledTraining& compiled,
                                  const LayerTable& table,
                                  Bytes room,
                                  StageSplits splits) noexcept;

/// Without the layers of end stages that nobody stated.
[[nodiscard]] constexpr Strategy with_open_stages(Strategy s) noexcept {
  if (s.stages_open) {
    s.first_stage_layers = s.last_stage_layers = 0;
    s.stages_open = false;
  }
  return s;
}

}  // namespace headroom
