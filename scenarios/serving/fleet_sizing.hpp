// SPDX-License-Identifier: Apache-2.0
// The fewest replicas that keep what a fleet promises, by simulation.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/scenarios/scenario.hpp>
#include <headroom/scenarios/serving/promises.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/serving/traffic.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

/// How many replicas, and what they do under the load.
struct SizedFleet {
  std::int64_t replicas = 0;          ///< that keep the promises; the question's where it states them
  std::int64_t spare = 0;             ///< on top
  std::int64_t prefill_replicas = 0;  ///< 0: replicas do both
  std::int64_t gpus = 0;              ///< of all of them
  ServingMetrics metrics;             ///< with the spare replicas down
  std::vector<KeptPromise> promises;
  Hertz rate{};        ///< that was asked
  Hertz saturation{};  ///< requests/s that these replicas answer at most
  Hertz knee{};        ///< the most at which the promises are kept; 0: at none that was tried
  /// No faster than its load, and seen to fall behind: in a short simulation answers lag behind requests anyhow, and
  /// queues that never empty are slower than those that do.
  [[nodiscard]] bool overloaded() const noexcept {
    return metrics.unanswered > 0 || (rate >= saturation && metrics.overloaded);
  }
  [[nodiscard]] bool keeps() const noexcept;
};

/// Simulates the load at `factor` times its rate on a fleet. The first warm_up_of() are not counted.
[[nodiscard]] ServingMetrics simulate_fleet(const ServeScenario& scenario,
                                            const ServedReplica& served,
                                            std::int64_t replicas,
                                            std::int64_t prefill_replicas,
                                            double factor = 1.0);

/// Why no number of replicas keeps the promises: one lies below what the datasheet allows, or an idle replica misses
/// it. Empty: some number does.
[[nodiscard]] std::string out_of_reach(const ServeScenario& scenario, const ServedReplica& served);

/// Replicas that a question may have.
inline constexpr std::int64_t most_replicas = 1'000'000;

/// Sized from `start` on, up or down, each size simulated with the same requests; the question's own number where it
/// states one; `start` replicas that miss where none up to 16 x start + 64 keep them. Saturation and knee are those of
/// the replicas without the spare ones. Precondition: out_of_reach() is empty.
[[nodiscard]] SizedFleet size_fleet(const ServeScenario& scenario, const ServedReplica& served, std::int64_t start);

}  // namespace headroom
