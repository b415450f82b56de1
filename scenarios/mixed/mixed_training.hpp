// SPDX-License-Identifier: Apache-2.0
// One training job whose data-parallel ranks are of unlike SKUs: what the wait for the slowest costs, and what a split
// of the batch by speed wins back.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/train/strategy/strategy.hpp>
#include <headroom/scenarios/mixed/mixed_question.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// How the micro-batches of a step are given to data-parallel ranks.
enum class BatchSplit : std::uint8_t {
  equal,     ///< as many to each
  balanced,  ///< whole micro-batches, so that the slowest rank is done as early as it can be
};
inline constexpr std::array<std::string_view, 2> batch_split_names{"equal", "balanced"};

/// A pool's ranks in a step.
struct PoolStep {
  std::int64_t micro_batches = 0;  ///< of its fullest rank
  Seconds own{};                   ///< its compute and its own links' exposed data-parallel traffic
  double idle = 0.0;               ///< share of the step that it waits
};

struct SplitStep {
  BatchSplit split = BatchSplit::equal;
  std::string why;              ///< why it cannot be; empty: it can
  std::vector<PoolStep> pools;  ///< in the order of the question
  std::size_t slowest = 0;      ///< pool that the others wait for
  std::size_t slowest_links = 0;
  Interval<Seconds> step;
  double tokens_per_s = 0.0;
  double loss = 0.0;                     ///< of the rate that the pools would have each at its own pace, side by side
  std::int64_t idle_slots = 0;           ///< micro-batches that ranks have fewer than the fullest of their pool
  std::optional<Seconds> duration;       ///< of the run, where its tokens are stated
  std::optional<double> lost_gpu_hours;  ///< of the run
  std::optional<Dollars> cost;           ///< of the run
  std::optional<Dollars> per_million_tokens;
};

/// One pool of the answer.
struct TrainedPool {
  std::int64_t dp = 1;          ///< its data-parallel ranks
  Interval<Bytes> memory;       ///< of a GPU
  double fits_probability = 0;  ///< of that memory
  // The whole batch on this pool by itself.
  std::string alone_verdict;  ///< why it cannot be; empty: it can
  Interval<Seconds> alone_step;
  double alone_tokens_per_s = 0.0;
};

struct MixedTraining {
  MixedQuestion question;
  std::string why;  ///< why no split can be; empty: one can
  Strategy strategy;
  std::int64_t dp = 1, global_batch = 1;
  double tokens = 0.0;  ///< of the run; 0: not asked
  std::vector<TrainedPool> pools;
  std::vector<SplitStep> splits;
  std::vector<std::string> notes;

  [[nodiscard]] bool feasible() const noexcept { return why.empty(); }
  /// The fastest; nullptr without one.
  [[nodiscard]] const SplitStep* best() const noexcept;
  [[nodiscard]] const SplitStep* of(BatchSplit split) const noexcept;
  /// The pool that trains faster by itself than the best split; nullopt: none does.
  [[nodiscard]] std::optional<std::size_t> better_alone() const noexcept;
};

/// With T_i(m) the time in which a rank of pool i runs m micro-batches (compute, its replica's own collectives,
/// optimizer) and C_i what of the data-parallel collective of all ranks it exposes over its links,
/// @code
/// step = max_i T_i(m_i) + max_i C_i(m_i)
/// @endcode
/// for a collective ends when the last rank has come and its narrowest link is through (the barrier of synchronous SGD:
/// Chen et al. 2016, "Revisiting Distributed Synchronous SGD", section 2); the sum is an upper bound where the slowest
/// compute and the narrowest links are of unlike pools. Equal: every m_i is the batch over dp and micro-batch.
/// Balanced: the whole m_i >= 1 of least max_i T_i(m_i) with sum_i dp_i m_i of at least the batch. The loss is 1 - rate
/// / sum_i dp_i m b / (T_i(m) + C_i(m)), m the equal split's. ConfigError where a pool's step has no time.
[[nodiscard]] MixedTraining plan_mixed_training(MixedQuestion question);

}  // namespace headroom
