// SPDX-License-Identifier: Apache-2.0
// One step of post-training as phases on one or two pools of GPUs, in closed form.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headroom {

/// Where phases run: all on the same GPUs in turn, rollouts on GPUs of their own, or on GPUs of their own that train as
/// well once the rollout is over.
enum class PostTrainPlacement : std::uint8_t { colocated, split, hybrid };
inline constexpr std::array<std::string_view, 3> post_train_placement_names{"colocated", "split", "hybrid"};

[[nodiscard]] constexpr std::string_view name_of(PostTrainPlacement placement) noexcept {
  return post_train_placement_names[static_cast<std::size_t>(placement)];
}

/// What waits for what: the whole batch of this step's weights; the batch of the step before, sampled beside training;
/// answers as they come, no more than `staleness` steps old.
enum class PostTrainOrder : std::uint8_t { synchronous, one_step_off, asynchronous };
inline constexpr std::array<std::string_view, 3> post_train_order_names{"synchronous", "one-step-off", "asynchronous"};

[[nodiscard]] constexpr std::string_view name_of(PostTrainOrder order) noexcept {
  return post_train_order_names[static_cast<std::size_t>(order)];
}

enum class Phase : std::uint8_t { rollout, reward, logprob, reference, critic, train, sync, swap, other };
inline constexpr std::size_t phase_count = 9;
inline constexpr std::array<std::string_view, phase_count> phase_names{
    "rollout", "reward", "logprob", "reference", "critic", "train", "sync", "swap", "other"};

struct PhaseTimes {
  std::array<Seconds, phase_count> of{};
  [[nodiscard]] constexpr Seconds& operator[](Phase phase) noexcept { return of[static_cast<std::size_t>(phase)]; }
  [[nodiscard]] constexpr Seconds operator[](Phase phase) const noexcept { return of[static_cast<std::size_t>(phase)]; }
  [[nodiscard]] constexpr Seconds total() const noexcept {
    Seconds sum{};
    for (const Seconds each : of) {
      sum += each;
    }
    return sum;
  }
};

struct PostTrainFlow {
  PostTrainPlacement placement = PostTrainPlacement::colocated;
  PostTrainOrder order = PostTrainOrder::synchronous;
  double staleness = 0.0;    ///< steps that a sample may be old at most, asynchronous; fractions of a batch count
  bool partial = false;      ///< whether answers under way outlast new weights
  double parts = 1.0;        ///< in which the trainer takes a step's batch as it comes, asynchronous; at least 1
  Seconds rollout_steady{};  ///< a batch of engines that never empty; asynchronous
  Seconds group{};           ///< that a group is under way, to its longest answer; asynchronous; 0: unknown
};

/// Where a step's time goes.
struct StepPhases {
  Seconds step{};
  Seconds rollout_busy{}, train_busy{};         ///< of one step, each pool
  double rollout_idle = 0.0, train_idle = 0.0;  ///< shares of the step; colocated: none of either
  Seconds waits{};                              ///< of the trainer for samples
  bool rollout_binds = false;                   ///< split: whether the rollout is the longer side
  bool age_binds = false;                       ///< asynchronous: whether the bound on age is longer than both
};

/// colocated, hybrid:    T = sum of all phases
/// split, synchronous:   T = rollout + reward + logprob + reference + critic + train + sync + other
/// one step off:         T = max(rollout, reward + ... + train) + sync + other
/// asynchronous:         T = max(g, t) + (1 - o) min(g, t) + sync + other, with t = reward + ... + train and
///   o = min(1, staleness + 1 - 1 / parts)   the share of both sides that runs beside each other: samples of the next
///                                           batch that may be under way while one is trained, and parts of a batch
///                                           that are trained while the others are sampled
///       and T >= (group + t / parts) / (1 + staleness) + sync + other: of a batch B no more than B (1 + staleness)
///                                           samples are under way, wait or are trained (Fu et al. 2025, eq. 3), each
///                                           of them for as long as its group and its part of the training take, so
///                                           that a step lasts at least as long as Little's law (1961) says
///   g = rollout - h (rollout - rollout_steady), h = 1 with partial rollouts, else staleness - 1 within 0 and 1: the
///                                           second step of age lets a batch begin while the one before empties
/// (Noukhovitch et al. 2024, section 2; Fu et al. 2025, AReaL, section 4.) Asynchronous with one part and staleness 0
/// is synchronous on two pools, with staleness 1 one step off.
[[nodiscard]] StepPhases step_of_phases(const PhaseTimes& phases, const PostTrainFlow& flow) noexcept;

}  // namespace headroom
