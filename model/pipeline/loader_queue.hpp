// SPDX-License-Identifier: Apache-2.0
// Worker processes that load batches ahead of a GPU, one by one: how long its steps wait for them.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>

namespace headroom {

/// Workers take batches in turn and deliver them in order; each holds `prefetch` of them that are loading or wait
/// (PyTorch, torch.utils.data.DataLoader: num_workers, prefetch_factor).
struct LoaderQueue {
  std::int64_t workers = 1;
  std::int64_t prefetch = 2;
  Seconds load{};       ///< of a batch by one worker, mean
  double spread = 0.0;  ///< standard deviation of that over its mean; loads are gamma-distributed
  Seconds step{};       ///< of the GPU for a batch that is there
};

struct LoaderOutcome {
  double busy = 1.0;     ///< share of the GPU's time in steps
  double waiting = 0.0;  ///< share of steps that wait for their batch, by more than a thousandth of a step
  Seconds stall{};       ///< of a step, mean
  Seconds stall_p99{};
};

/// Steps after the first fill. Preconditions: load, step, steps, workers and prefetch above 0.
[[nodiscard]] LoaderOutcome simulate_loader(const LoaderQueue& queue, std::int64_t steps, std::uint64_t seed);

}  // namespace headroom
