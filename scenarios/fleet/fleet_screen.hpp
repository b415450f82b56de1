// SPDX-License-Identifier: Apache-2.0
// A fleet's question as the screen takes it.
#pragma once

#include <headroom/model/serve/load/tail_objective.hpp>
#include <headroom/model/serve/screen/screen.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// Of all requests together: of several classes the loosest limit of each time and quantile.
[[nodiscard]] std::vector<TailObjective> all_objectives(const ServingTraffic& traffic);

/// Moments of the classes, or of a trace's lengths and gaps. `answers_kept`: as SessionFlow's.
[[nodiscard]] ScreenTraffic screened_traffic(const ServingTraffic& traffic, bool answers_kept = true);

/// The same on replicas of this question: of sessions with what session_hits() finds at the number of replicas that is
/// stated, or else screened. Without sessions the caches are assumed to find all that can be found.
[[nodiscard]] ScreenTraffic screened_traffic(const ServeScenario& scenario, const ServedReplica& served);

/// One replica, and one that prefills for it where prompts are apart, whatever the question states.
[[nodiscard]] ServingFleet unit_of(const ServeScenario& scenario, const ServedReplica& served);

/// The least number of replicas that closed forms find enough; nullopt where none is. `slow` times longer iterations
/// are the same as requests that come `slow` times as fast with promises as many times shorter: time has no other
/// scale.
[[nodiscard]] std::optional<std::int64_t> screened_replicas(const ServeScenario& scenario,
                                                            const ServedReplica& served,
                                                            ScreenTraffic traffic,
                                                            double slow = 1.0);

/// Of the time that a replica iterates, what prompts take, at the batch that the screen finds.
[[nodiscard]] double prompt_share(const ServeScenario& scenario, const ServingScreen& screened);

/// Several models on one pool, in closed form: engines that take turns need at least the time that each would need with
/// the device to itself and its batches as full as its places and KV blocks allow.
struct MixScreen {
  std::int64_t replicas = 1;  ///< the fewest that could do: a lower bound
  Hertz saturation{};         ///< of one replica, of all requests together: an upper bound
  double prompt_share = 0.0;  ///< of the time that a replica iterates
};
/// ConfigError beyond most_replicas.
[[nodiscard]] MixScreen screen_mix(const ServeScenario& scenario, const ServedReplica& served);

/// Where a search for the number of replicas begins: the screen's, or the fewest that are not overloaded.
[[nodiscard]] std::int64_t first_size(const ServeScenario& scenario, const ServedReplica& served);

/// The fewest that are not overloaded, by closed forms. ConfigError beyond most_replicas.
[[nodiscard]] std::int64_t busy_replicas(const ServeScenario& scenario,
                                         const ServedReplica& served,
                                         const ScreenTraffic& traffic);

}  // namespace headroom
