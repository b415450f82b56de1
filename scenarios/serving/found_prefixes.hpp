// SPDX-License-Identifier: Apache-2.0
// Effect of prefix caches, and of the tiers below them, on a fleet.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/prefix_metrics.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct ServeScenario;

struct FoundPrefixes {
  PrefixMetrics metrics;
  std::array<bool, PrefixHits::most_tiers> tiers{};    ///< tiers that the fleet has
  std::array<Bytes, PrefixHits::most_tiers> loaded{};  ///< bytes that the counted requests loaded from each tier
  TimeSummary ttft_without;         ///< time to first token of the same requests on the same fleet without caches
  bool overloaded_without = false;  ///< true when the fleet without caches cannot keep up
  std::vector<std::string> notes;   ///< tiers that are slower than computing, or cannot be filled as fast as assumed
  /// "prefix cache: 41 % of the prompt tokens are found, 30 % in the KV cache, 11 % in cpu".
  [[nodiscard]] std::string text() const;
};

/// Prefixes found in a run; nullopt when no request has shared prefixes. Simulates the same requests again without
/// caches.
[[nodiscard]] std::optional<FoundPrefixes> found_prefixes(const ServeScenario& scenario,
                                                          const ServedReplica& served,
                                                          const ServingFleet& fleet,
                                                          const RequestLoad& load,
                                                          const FleetResult& result,
                                                          std::int64_t warm_up);

}  // namespace headroom
