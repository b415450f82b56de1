// SPDX-License-Identifier: Apache-2.0
// What a training scenario asks beside the plan of one run: another batch, a sweep over settings, fewer GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// A recipe that was tuned at another batch than the scenario's.
struct BatchChange {
  std::int64_t base = 1;                ///< sequences of the tuned recipe's step
  std::optional<double> rate;           ///< its peak learning rate
  std::optional<double> critical;       ///< sequences: a measured noise scale, or read off a sweep
  std::optional<double> loss;           ///< nats a token that the run is to reach
  std::optional<double> epoch_samples;  ///< sequences of one pass over the data
};

/// Configurations of which the better ones go on (successive halving). One unit of resource is 1 / `most` of the run.
struct SweepQuestion {
  std::int64_t configurations = 1;
  std::int64_t most = 1;      ///< units of a whole run
  std::int64_t least = 1;     ///< units below which nothing is told apart
  std::int64_t eta = 3;       ///< of so many one goes on
  std::int64_t parallel = 1;  ///< configurations that run at a time, each on all of the scenario's GPUs
  bool resume = false;        ///< those that go on do so from their checkpoint
};

struct TrainQuestions {
  std::optional<BatchChange> batch;
  std::optional<SweepQuestion> sweep;
  std::vector<std::int64_t> elastic;  ///< GPU counts to survive
};

}  // namespace headroom
