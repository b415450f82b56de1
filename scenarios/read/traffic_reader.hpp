// SPDX-License-Identifier: Apache-2.0
// Tables [traffic], [slo] and [fleet] of a serving question.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Reads [traffic] with its classes and [slo]; `isl` and `osl` of [serving] stand for lengths that [traffic] leaves
/// out, 0 where they are not stated. What is left open is told in `assumptions`.
[[nodiscard]] std::optional<ServingTraffic> read_traffic(ConfigTable& root,
                                                         std::int64_t isl,
                                                         std::int64_t osl,
                                                         std::vector<std::string>& assumptions);

/// `gpus` of a replica.
[[nodiscard]] FleetQuestion read_fleet(ConfigTable& root, std::int64_t gpus, std::vector<std::string>& assumptions);

}  // namespace headroom
