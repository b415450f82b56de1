// SPDX-License-Identifier: Apache-2.0
// A run on other numbers of GPUs with its global batch kept, so that losses stay comparable: GPUs lost, or won.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/training/train_answer.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

/// The plan's layout with another dp: global batch = dp x micro-batch x accumulation.
struct ElasticCount {
  std::int64_t gpus = 1;
  std::string why_not;                        ///< empty: it runs
  std::vector<std::int64_t> nearest_batches;  ///< that would do, the nearest first, where the batch is what breaks
  std::int64_t usable_gpus = 0;               ///< of them, with the global batch kept; 0: none
  // Where it runs:
  Strategy strategy;
  std::int64_t accumulation = 1;
  Estimate estimate;
  std::string verdict;  ///< of its memory
  Interval<Seconds> step;
  Interval<double> tokens_per_s;
  double kept = 0.0;  ///< of the plan's throughput
};

/// What the plan in question answers, and how wide.
struct ElasticBasis {
  Strategy strategy;
  Seconds step{};
  PlanPart part = PlanPart::all;
  TermSet without;
  double width = 0.0;
};
/// Keeps tp, pp, cp, recomputation and, where it divides and fits, the micro-batch; else the fastest of 1 to 8 that
/// does, or the one of least memory.
[[nodiscard]] ElasticCount replan(const TrainScenario& train, const ElasticBasis& basis, std::int64_t gpus);

/// Nearest GPU counts, below and above, whose dp divides the global batch at this layout; 0 where there is none up to
/// twice the count.
[[nodiscard]] std::pair<std::int64_t, std::int64_t> usable_counts(const Architecture& architecture,
                                                                  const TrainingShape& shape,
                                                                  const Strategy& strategy);

}  // namespace headroom
