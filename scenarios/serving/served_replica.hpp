// SPDX-License-Identifier: Apache-2.0
// From a serving question to the input of simulation and screen: one replica with its tables, and the fleet.
#pragma once

#include <headroom/core/diagnostic.hpp>
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

/// What keeps a way to serve out of a fleet's plan.
enum class DropCause : std::uint8_t {
  rule,    ///< of the question or of what was measured: the sentence says which
  hosts,   ///< its tensor ranks lie in several hosts
  memory,  ///< a GPU's has no room for a request of the mean length
  promise  ///< it runs, but not even an idle replica keeps what is promised, be it at the slow end
};

/// A replica that cannot serve, for another cause than a rule.
class Unserved : public ConfigError {
 public:
  Unserved(DropCause of, const std::string& why) : ConfigError{why}, cause{of} {}
  DropCause cause;
};

/// One priced replica. With several models on it this is the scenario's own; the others are in `beside`.
struct ServedReplica {
  SimulatedReplica simulated;
  std::optional<SimulatedReplica> prefill;  ///< present when prompts run on separate replicas
  ServingEstimate memory;                   ///< result of serve_memory() at the mean request's length
  Bytes cache_per_token{};                  ///< KV cache of one token on all ranks, which disaggregated prefill sends
  Seconds least_first_token{};        ///< lower bound for the mean prompt, from the datasheet's peak and bandwidth
  Seconds least_token{};              ///< lower bound per token of a lone sequence, with every drafted token accepted
  std::vector<std::string> sources;   ///< sources of the measured kernels in use
  double kv_share = 1.0;              ///< share of the GPUs' KV cache that belongs to this model, 0 to 1
  std::vector<ServedReplica> beside;  ///< the other models, in the order of ServeScenario::beside
  [[nodiscard]] const ServedReplica& of(std::size_t model) const noexcept {
    return model == 0 ? *this : beside[model - 1];
  }
  /// Memory of one GPU, all models together.
  [[nodiscard]] MemoryBreakdown terms() const noexcept;
};

/// Prices the replica of a question with traffic; several models share the KV cache as beside_memory() divides it.
/// Throws ConfigError where the layout breaks a rule or a kernel (the draft's included) is not measured, Unserved where
/// a request does not fit.
[[nodiscard]] ServedReplica served_replica(const ServeScenario& scenario);

/// Fleet of equal replicas under the question's routing, with the stated number of prefill replicas or else
/// `prefill_replicas`. `served` must outlive the fleet.
[[nodiscard]] ServingFleet serving_fleet(const ServeScenario& scenario,
                                         const ServedReplica& served,
                                         std::int64_t replicas,
                                         std::int64_t prefill_replicas = 1);

}  // namespace headroom
