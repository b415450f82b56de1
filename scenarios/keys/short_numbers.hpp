// SPDX-License-Identifier: Apache-2.0
// Numbers of a scenario as people type them, by the rows of its keys: "15T" tokens, a prompt of "128k", a rate of 347,
// a SKU called 4090.
#pragma once

#include <headroom/core/config_value.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Where a key takes a number, "15T", "1.5 B" and "8k" become it (k is 1024 where the key holds tokens of a sequence or
/// of a step, else 1000; Ki is 1024 everywhere); where it takes requests a time, a number without a unit becomes
/// requests a second; where it takes text, a number of the command line becomes the text that was typed. What is
/// nothing of the kind stays as it is, for the reader to refuse.
void take_short_numbers(ConfigValue& scenario);

/// "serving.isl = 131072 (128k; k is 1024 of the tokens of a sequence or a step)": of each key whose suffix could have
/// been meant otherwise.
[[nodiscard]] std::vector<std::string> short_lengths(const ConfigValue& scenario);

}  // namespace headroom
