// SPDX-License-Identifier: Apache-2.0
// Strict JSON (RFC 8259), read into the same tree as TOML, with the place of every value.
#pragma once

#include <headroom/core/config_value.hpp>

#include <string>
#include <string_view>

namespace headroom {

/// Parses JSON whose root is an object. Throws ConfigError with line and column for a syntax error, trailing text,
/// invalid UTF-8, a number outside the range of a double or nesting deeper than 256, and for every duplicate key.
[[nodiscard]] ConfigValue parse_json(std::string_view text, const std::string& file);

}  // namespace headroom
