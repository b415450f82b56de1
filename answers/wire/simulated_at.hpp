// SPDX-License-Identifier: Apache-2.0
// A simulation at another rate than the scenario's.
#pragma once

#include <headroom/answers/door/question.hpp>
#include <headroom/core/quantity.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// "12 req/s", or a bare number of them. ConfigError, which calls it `name`, unless it is above 0 and can be simulated.
[[nodiscard]] Hertz request_rate(std::string_view name, const std::string& typed);

/// The fleet of a serving scenario, with the rate of its traffic where one is given; told under `name` as it was typed.
/// ConfigError where the traffic has too few requests for it.
[[nodiscard]] asked::SimulatedFleet simulated_at(Scenario scenario,
                                                 std::optional<Hertz> rate,
                                                 std::string_view name,
                                                 const std::string& typed);

}  // namespace headroom
