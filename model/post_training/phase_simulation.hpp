// SPDX-License-Identifier: Apache-2.0
// Steps of post-training event by event: samples of an engine pool, a buffer that bounds their age, and a trainer.
#pragma once

#include <headroom/model/post_training/step_phases.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

/// Steps as they run, batches whole: each phase takes its pool, waits for what it needs, and the next step's rollout
/// for the weights that its order asks for. The mean of `steps` after a first that fills the pipe.
[[nodiscard]] Seconds simulate_steps(const PhaseTimes& phases, const PostTrainFlow& flow, std::int64_t steps);

/// Samples one by one.
struct SampleFlow {
  std::span<const double> times;  ///< seconds that samples take, in the order in which they start, used in turn
  std::int64_t slots = 1;         ///< samples under way at most
  std::int64_t batch = 1;         ///< samples of a step
  double staleness = 0.0;         ///< steps of age at most: floor(staleness) whole steps, its fraction of a batch more
  bool partial = false;           ///< whether samples under way outlast new weights; else a sync waits for them all
  Seconds train{};                ///< of a step
  Seconds sync{};                 ///< stops engines and trainer
};
struct SampleCounts {
  Seconds step{};  ///< mean of the steps after the first
  std::int64_t started = 0, trained = 0, under_way = 0, buffered = 0;
  std::int64_t oldest = 0;    ///< most versions between the weights that began a sample and those that it trains
  double trainer_idle = 0.0;  ///< share of the time after the first step
};
/// A sample starts only where it will be trained no more than `staleness` steps after the version that begins it:
/// of started, not yet trained samples no more than batch (1 + staleness) exist (Fu et al. 2025, AReaL, eq. 3). The
/// trainer takes the oldest finished samples first, and waits for one under way that the next step would find too old.
[[nodiscard]] SampleCounts simulate_samples(const SampleFlow& flow, std::int64_t steps);

}  // namespace headroom
