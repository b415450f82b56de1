// SPDX-License-Identifier: Apache-2.0
// Short forms of numbers in a scenario, such as "15T" tokens or a prompt of "128k".
#pragma once

#include <headroom/core/config_value.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Replaces short forms by the type of each key. A key of a number accepts "15T", "1.5 B" and "8k"; k means 1024 for
/// the tokens of a sequence or a step and 1000 otherwise, and Ki always means 1024. A key of a request rate accepts a
/// number without a unit, which then means requests per second. A key of a share, which is 1 at the most, accepts
/// "80 %". A key of text accepts a number of the command line as it was typed, such as the SKU 4090. Other values are
/// left for the reader to refuse.
void take_short_numbers(ConfigValue& scenario);

/// Says how each ambiguous suffix was read: "serving.isl = 131072 (128k; k is 1024 of the tokens of a sequence or a
/// step)".
[[nodiscard]] std::vector<std::string> short_lengths(const ConfigValue& scenario);

}  // namespace headroom
