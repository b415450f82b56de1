// SPDX-License-Identifier: Apache-2.0
// Layers of the end stages of a pipeline that make its slowest stage the shortest: what a planner gives software that
// takes any number of them, where the embedding and the head leave the end stages more or less to do than the others.
#pragma once

#include <headroom/model/train/evaluate/training.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace headroom {

/// Layers of the first and of the last stage.
struct EndStages {
  std::int64_t first = 0, last = 0;
};

/// How many other splits of a pipeline are looked at.
inline constexpr std::size_t most_splits = 4;

/// Splits by their slowest stage, the shortest first, in layers.
struct EndSplits {
  std::array<EndStages, most_splits> ends{};
  std::array<double, most_splits> slowest{};
  std::size_t count = 0;
};

/// Of `layers` on `stages`, of which the last also computes what takes as long as `beside` layers: the splits with the
/// shortest slowest stages, all stages between the ends alike and none empty, each below `below` layers.
[[nodiscard]] EndSplits short_splits(std::int64_t layers, std::int64_t stages, double beside, double below) noexcept;

/// The strategy with other end stages, marked as open, the likeliest first.
struct OpenSplits {
  std::array<Strategy, most_splits> strategies{};
  std::size_t count = 0;
};

/// Those whose slowest stage is shorter than as the software splits, or hardly longer, where the software takes any
/// number of layers for its end stages, the strategy leaves them open, and its schedule runs the stages in one line.
/// Which of them is the fastest the whole step tells: see shortest().
[[nodiscard]] OpenSplits open_splits(const CompiledTraining& compiled,
                                     const LayerTable& table,
                                     const Strategy& strategy) noexcept;

/// A strategy with one split of its layers, and what it needs and takes.
struct StageSplit {
  Strategy strategy;
  Estimate estimate;
};

/// A strategy as it stands, of any size, and its other splits that surely fit.
struct StageSplits {
  StageSplit own;
  std::array<StageSplit, most_splits> others;
  std::size_t count = 0;
};

/// evaluate_memory() of all splits. Beyond `known` the memory of the strategy as it stands is told as evaluate_memory()
/// tells it.
[[nodiscard]] StageSplits stage_splits(const CompiledTraining& compiled,
                                       const LayerTable& table,
                                       const Strategy& strategy,
                                       Bytes room,
                                       Bytes known = any_room) noexcept;

/// Of the splits that fit `room` the one whose whole step is the shortest, timed, of those alike the first; the
/// strategy as it stands where none fits. A threshold instead, in favour of even stages, would let a faster machine
/// lose what the threshold asks for.
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
