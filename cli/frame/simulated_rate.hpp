// SPDX-License-Identifier: Apache-2.0
// The rate that a fleet is simulated at in place of its traffic's own.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <string>
#include <string_view>

namespace headroom::cli {

/// A rate as it was typed; a bare number is in requests per second. ConfigError for what is none, is not above 0, or is
/// above what can be simulated. `spelled`: "--rate ", before the value in messages.
[[nodiscard]] Hertz rate_of(const std::string& typed, std::string_view spelled);

/// What the rates of all classes are multiplied by for it. ConfigError where too few requests would be left.
[[nodiscard]] double rate_factor(Hertz rate,
                                 const ServingTraffic& traffic,
                                 const std::string& typed,
                                 std::string_view spelled);

/// What the answer tells of it.
[[nodiscard]] std::string rate_assumption(const std::string& typed, double factor);

}  // namespace headroom::cli
