// SPDX-License-Identifier: Apache-2.0
// The part of YAML 1.2 that programs write, read into the same tree as TOML and JSON, with the place of every value.
#pragma once

#include <headroom/core/config_value.hpp>

#include <string>
#include <string_view>

namespace headroom {

/// Parses a document whose root is a mapping: block and flow mappings and sequences, plain, quoted and literal scalars,
/// comments. Plain scalars are of the core schema (YAML 1.2.2, section 10.3.2), so that `yes` and dates are texts.
/// Throws ConfigError with line and column for what is none of it, for tabs that indent, invalid UTF-8, more than one
/// document, nesting deeper than 256, for anchors, aliases, tags and directives, which no file read here has, and for
/// every duplicate key.
[[nodiscard]] ConfigValue parse_yaml(std::string_view text, const std::string& file);

}  // namespace headroom
