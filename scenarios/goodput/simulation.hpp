// SPDX-License-Identifier: Apache-2.0
// The same run event by event: when it ends, and how far that differs between runs.
#pragma once

#include <headroom/scenarios/goodput/goodput.hpp>

#include <cstdint>

namespace headroom::goodput {

struct SimulationOptions {
  std::uint64_t seed = 1;
  std::int64_t runs = 1000;
  unsigned threads = 0;  ///< 0: as many as the machine has. They do not change the answer.
};

struct SimulatedRuns {
  Interval<Seconds> completion;  ///< tenth, fiftieth and ninetieth percentile
  Seconds mean{};
  Seconds standard_error{};  ///< of the mean
  double ratio = 0.0;        ///< work over the mean
  double failures = 0.0;     ///< of a run, mean
};

/// Failures exponential, at any moment but while the job waits for a host; those during a recovery start it anew. A
/// failure drops the save under way. Repairs are exponential, all at once. A host that comes back to a job that goes on
/// without it is taken in at once, after a save, with a restart. The run ends when its last save is whole. Run i draws
/// from a stream of its own, so that the same seed gives the same answer on any number of threads. ConfigError with all
/// of run_problems, for less than one run, or for more than 2e9 events.
[[nodiscard]] SimulatedRuns simulate(const Run& run, const SimulationOptions& options);

}  // namespace headroom::goodput
