// SPDX-License-Identifier: Apache-2.0
// What prefix caches and the tiers below them did for a fleet.
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
  std::array<bool, PrefixHits::most_tiers> tiers{};    ///< those that there are
  std::array<Bytes, PrefixHits::most_tiers> loaded{};  ///< by the counted requests
  TimeSummary ttft_without;                            ///< of the same requests on the same fleet that keeps nothing
  bool overloaded_without = false;                     ///< it falls behind
  std::vector<std::string> notes;  ///< where a tier is of no use, or cannot be filled as fast as is assumed
  /// "prefix cache: 41 % of the prompt tokens are found, 30 % in the KV cache, 11 % in cpu".
  [[nodiscard]] std::string text() const;
};

/// Of a run; nullopt where no request says what it shares. Simulates the same requests once more, without.
[[nodiscard]] std::optional<FoundPrefixes> found_prefixes(const ServeScenario& scenario,
                                                          const ServedReplica& served,
                                                          const ServingFleet& fleet,
                                                          const RequestLoad& load,
                                                          const FleetResult& result,
                                                          std::int64_t warm_up);

}  // namespace headroom
