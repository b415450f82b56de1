// SPDX-License-Identifier: Apache-2.0
// Layers of the end stages of a pipeline that make its slowest stage the shortest: what a planner gives software that
// takes any number of them, where the embedding and the head leave the end stages more or less to do than the others.
#pragma once

#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/memory/held_stages.hpp>

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

/// The splits of strategies that differ in ZeRO stage and shards alone: which there are, what breaks a rule whatever
/// the shards, and what their stages hold alike, each worked out once. Not safe to call from several threads.
class SharedSplits {
 public:
  /// All are like this one from here on; `compiled` and `table` must outlive that.
  void begin(const CompiledTraining& compiled, const LayerTable& table, const Strategy& strategy);
  /// Whether every one of them breaks a rule.
  [[nodiscard]] bool broken() const noexcept { return rules_[0].verdict != Verdict::feasible; }

  /// Whether one of a strategy's splits breaks no rule and surely fits `room`; all that follow are of this strategy.
  [[nodiscard]] bool fits(const Strategy& strategy, Bytes room, Bytes known = any_room);
  /// The strategy as it stands, its time left out; its memory beyond `known` as evaluate_memory() tells it.
  [[nodiscard]] const StageSplit& own() const noexcept { return own_; }
  /// Whether it fits, and no other split does.
  [[nodiscard]] bool fits_alone(Bytes room);
  /// Of the splits that fit `room` the one whose whole step is the shortest, timed, of those alike the first. A
  /// threshold instead, in favour of even stages, would let a faster machine lose what the threshold asks for.
  /// `traffic`: traffic_of() the strategy. Precondition: one fits.
  [[nodiscard]] StageSplit shortest(const LayerTable& table, Bytes room, const StepTraffic& traffic);

 private:
  void open();
  /// The strategy's i-th split with its memory; 0 is the strategy as it stands.
  [[nodiscard]] StageSplit split(std::size_t i, Bytes known);
  [[nodiscard]] std::size_t count() const noexcept { return 1 + others_.count; }
  [[nodiscard]] Strategy strategy_of(std::size_t i) const noexcept;
  [[nodiscard]] bool legal(std::size_t i) const noexcept { return rules_[i].verdict == Verdict::feasible; }
  [[nodiscard]] const StageSplit& first() const noexcept { return first_at_ == 0 ? own_ : later_; }

  const CompiledTraining* compiled_ = nullptr;
  const LayerTable* table_ = nullptr;
  Strategy alike_;  ///< without shards
  OpenSplits others_;
  bool opened_ = false;
  std::array<Legality, 1 + most_splits> rules_;  ///< of the strategy without shards, and of its other splits
  std::array<HeldStages, 1 + most_splits> held_;
  bool uses_host_ = false;        ///< what a split moves to the host is part of its time
  bool shards_only_add_ = false;  ///< no split needs less where fewer ranks share its states
  int beyond_ = -1;               ///< ZeRO stage at which no split fitted with states over all data ranks
  Bytes least_beyond_{};          ///< what the least of them needs, or less
  // Of the strategy that was asked for
  StageSplit own_, later_;
  std::size_t first_at_ = 0;  ///< of the first that fits: `own_`, else `later_`
};

/// The shortest split of one strategy; where none fits the strategy as it stands, timed.
[[nodiscard]] StageSplit shortest(const CompiledTraining& compiled,
                                  const LayerTable& table,
                                  const Strategy& strategy,
                                  Bytes room);

/// Without the layers of end stages that nobody stated.
[[nodiscard]] constexpr Strategy with_open_stages(Strategy s) noexcept {
  if (s.stages_open) {
    s.first_stage_layers = s.last_stage_layers = 0;
    s.stages_open = false;
  }
  return s;
}

}  // namespace headroom
