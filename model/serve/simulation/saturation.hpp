// SPDX-License-Identifier: Apache-2.0
// The most that a fleet answers, whatever waits.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <cstdint>
#include <span>

namespace headroom {

/// Requests per second that finish between the 20th and the 80th percentile of the finishes, so that neither the first
/// prompts nor the emptying batch count; 0 when every request was refused.
[[nodiscard]] Hertz finish_rate(const FleetResult& result);

/// Requests per second that a fleet answers while its queues never empty. All `count` requests of the classes, mixed by
/// their rates, wait at time 0; the rate is finish_rate()'s. The more requests for each place the steadier: 20 and
/// above. 0 when every request is refused. Precondition: no problems() of fleet or classes, and finite rates when there
/// are several.
[[nodiscard]] Hertz saturation(const ServingFleet& fleet,
                               std::span<const TrafficClass> classes,
                               std::int64_t count,
                               std::uint64_t seed);

}  // namespace headroom
