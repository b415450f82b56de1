// SPDX-License-Identifier: Apache-2.0
// How fast a fleet answers, from which follows how many sessions are open when as many end as begin.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <vector>

namespace headroom {

struct ServedReplica;
struct ServeScenario;

/// The mean time per token of the answers of each model, in the order of ServedReplica::of(), where `replicas` share
/// `factor` times the rate; empty where requests do not come in sessions. With lambda requests a second on a replica,
/// d(b) the time of an iteration of b decodes and p what the part of a prompt that no cache holds (session_hits()) adds
/// to it:
/// @code
/// T = d(b) + (b / osl) p,   b = min(lambda osl T, places)
/// @endcode
/// the smallest such b (Little 1961). Models that share replicas are taken each by itself.
[[nodiscard]] std::vector<Seconds> session_pace(const ServeScenario& scenario,
                                                const ServedReplica& served,
                                                std::int64_t replicas,
                                                double factor = 1.0);

}  // namespace headroom
