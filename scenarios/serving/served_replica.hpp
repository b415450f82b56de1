// SPDX-License-Identifier: Apache-2.0
// From a serving question to what the simulation and the screen take: one replica with its tables, and the fleet.
#pragma once

#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/simulated_replica.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// One replica, priced; of several models on it the scenario's, the others in `beside`.
struct ServedReplica {
  SimulatedReplica simulated;
  std::optional<SimulatedReplica> prefill;  ///< where prompts have replicas of their own
  ServingEstimate memory;                   ///< serve_memory()'s, at the mean request's length
  Bytes cache_per_token{};                  ///< of all ranks: what a disaggregated prompt sends
  Seconds least_first_token{};       ///< of the mean prompt, at the datasheet's peak and bandwidth: no engine is faster
  Seconds least_token{};             ///< of one sequence, likewise; with a draft that is accepted whole
  std::vector<std::string> sources;  ///< the measured kernels behind it
  double kv_share = 1.0;             ///< of the KV cache that its GPUs hold for all models
  std::vector<ServedReplica> beside;  ///< as ServeScenario::beside
  [[nodiscard]] const ServedReplica& of(std::size_t model) const noexcept {
    return model == 0 ? *this : beside[model - 1];
  }
  /// Memory of one GPU, all models together.
  [[nodiscard]] MemoryBreakdown terms() const noexcept;
};

/// Of a question with traffic. ConfigError where the layout breaks a rule, nothing fits, or no measured kernel
/// serves, be it the draft's. Several models as beside_memory() divides the KV cache; ConfigError where it does.
[[nodiscard]] ServedReplica served_replica(const ServeScenario& scenario);

/// Equal replicas of it under the question's routing; prefill replicas as stated, or `prefill_replicas`. `served` must
/// outlive the fleet.
[[nodiscard]] ServingFleet serving_fleet(const ServeScenario& scenario,
                                         const ServedReplica& served,
                                         std::int64_t replicas,
                                         std::int64_t prefill_replicas = 1);

}  // namespace headroom
