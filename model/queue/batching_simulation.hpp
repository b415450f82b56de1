// SPDX-License-Identifier: Apache-2.0
// Requests through a batching server, one by one: tails, misses of deadlines, priorities, instances.
#pragma once

#include <headroom/model/queue/batching.hpp>
#include <headroom/model/serve/time/random_stream.hpp>
#include <headroom/model/serve/time/time_histogram.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

/// Requests of one priority. `periodic` ones come at equal distances: frames of a camera, a control loop.
struct QueuedClass {
  double rate = 0.0;  ///< a second
  bool periodic = false;
  Seconds deadline{};    ///< of wait and call; 0: none
  bool rejects = false;  ///< a request past its deadline when its batch leaves is dropped, not called
};

struct ClassOutcome {
  FineTimeHistogram latency;  ///< of requests that were called
  double seconds = 0.0;       ///< of the same, all latencies together
  std::int64_t requests = 0;
  std::int64_t late = 0;  ///< beyond the deadline, dropped ones among them
  std::int64_t dropped = 0;
};

struct BatchingOutcome {
  std::vector<ClassOutcome> classes;
  std::vector<std::int64_t> batches;  ///< calls by samples, index b - 1
  std::int64_t calls = 0;
  double span = 0.0;  ///< seconds of arrivals
  double busy = 0.0;  ///< seconds of calls, all instances; of a shared GPU its own
  /// Another run of the same rule and classes.
  void add(const BatchingOutcome& other);
  [[nodiscard]] double mean_batch() const noexcept;
  /// Of the instances' time.
  [[nodiscard]] double utilisation(std::int64_t instances) const noexcept;
};

/// Serves `requests` requests of all classes together, the first class first: a batch takes the oldest of the highest
/// priority, then of the next. Spread of a call's time: gamma with the coefficient of variation `call_spread`, 0 for
/// none. One stream of random numbers a class, so that a class's arrivals do not depend on others.
/// Preconditions: classes and their rates above 0.
[[nodiscard]] BatchingOutcome simulate_batching(const CallCurve& curve,
                                                const BatchingRule& rule,
                                                std::span<const QueuedClass> classes,
                                                std::int64_t requests,
                                                std::uint64_t seed,
                                                double call_spread = 0.0);

}  // namespace headroom
