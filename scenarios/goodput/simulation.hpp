// SPDX-License-Identifier: Apache-2.0
// Event simulation of a long run: its completion time and the spread over runs.
#pragma once

#include <headroom/scenarios/goodput/goodput.hpp>

#include <cstdint>

namespace headroom::goodput {

struct SimulationOptions {
  std::uint64_t seed = 1;
  std::int64_t runs = 1000;
  unsigned threads = 0;  ///< 0: one per hardware thread. The answer does not depend on it.
};

struct SimulatedRuns {
  Interval<Seconds> completion;  ///< tenth, fiftieth and ninetieth percentile
  Seconds mean{};
  Seconds standard_error{};  ///< standard error of `mean`
  double ratio = 0.0;        ///< work over the mean completion time, 0 to 1
  double failures = 0.0;     ///< mean number of failures per run
};

/// Failures are exponential and can come at any moment except while the job waits for a host; a failure during recovery
/// starts the recovery anew and drops a save under way. Repairs are exponential and run in parallel. A returning host
/// joins a running job at once, after a save, with a restart. The run ends when its last save is complete. Run i draws
/// from its own random stream, so the same seed gives the same answer on any number of threads. Throws ConfigError with
/// all run_problems, for less than one run, or for more than 2e9 events.
[[nodiscard]] SimulatedRuns simulate(const Run& run, const SimulationOptions& options);

}  // namespace headroom::goodput
