// SPDX-License-Identifier: Apache-2.0
// The highest rate at which a fleet answers.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <cstdint>
#include <span>

namespace headroom {

/// Requests finished per second between the 20th and the 80th percentile of the finishes, which excludes the first
/// prompts and the emptying batch; 0 if every request was refused.
[[nodiscard]] Hertz finish_rate(const FleetResult& result);

/// Requests per second that a fleet answers while its queues never empty: all `count` requests of the classes, mixed by
/// their rates, wait at time 0, and the rate is finish_rate()'s. Use at least 20 requests per place for a steady
/// result. 0 if every request is refused. Precondition: problems() of fleet and classes are empty, and rates are finite
/// if there are several classes.
[[nodiscard]] Hertz saturation(const ServingFleet& fleet,
                               std::span<const TrafficClass> classes,
                               std::int64_t count,
                               std::uint64_t seed);

}  // namespace headroom
