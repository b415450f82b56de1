// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/pipeline/loader_queue.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace headroom {

LoaderOutcome simulate_loader(const LoaderQueue& queue, std::int64_t steps, std::uint64_t seed) {
  RandomStream random{seed};
  const double load = queue.load.raw(), step = queue.step.raw();
  const double shape = queue.spread > 0.0 ? 1.0 / (queue.spread * queue.spread) : 0.0;
  const auto workers = static_cast<std::size_t>(queue.workers);
  const auto ahead = workers * static_cast<std::size_t>(queue.prefetch);
  std::vector<double> free(workers, 0.0);  // when each worker ends what it has
  std::vector<double> taken(ahead, 0.0);   // when the last `ahead` batches were taken: each makes room for one
  std::vector<double> stalls;
  stalls.reserve(static_cast<std::size_t>(steps));
  const auto filling = static_cast<std::int64_t>(ahead) + 100;
  double gpu = 0.0, waited = 0.0;
  for (std::int64_t i = 0; i < filling + steps; ++i) {
    double& worker = free[static_cast<std::size_t>(i) % workers];
    double& room = taken[static_cast<std::size_t>(i) % ahead];
    const double time = shape > 0.0 ? load / shape * random.gamma(shape) : load;
    worker = std::max(worker, room) + time;
    const double begins = std::max(gpu, worker);
    if (i >= filling) {
      stalls.push_back(begins - gpu);
      waited += begins - gpu;
    }
    room = begins;
    gpu = begins + step;
  }
  LoaderOutcome outcome;
  outcome.stall = Seconds{waited / real(steps)};
  outcome.busy = step / (step + outcome.stall.raw());
  const auto late = std::count_if(stalls.begin(), stalls.end(), [&](double stall) { return stall > 1e-3 * step; });
  outcome.waiting = real(late) / real(steps);
  const auto at = stalls.begin() + static_cast<std::ptrdiff_t>(0.99 * real(steps - 1));
  std::nth_element(stalls.begin(), at, stalls.end());
  outcome.stall_p99 = Seconds{*at};
  return outcome;
}

}  // namespace headroom
