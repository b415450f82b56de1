// SPDX-License-Identifier: Apache-2.0
// Plain scalars and characters of YAML.
#pragma once

#include <headroom/core/config_value.hpp>

#include <cstdint>
#include <string>

namespace headroom {

/// A plain scalar by the core schema (YAML 1.2.2, section 10.3.2), without a place.
[[nodiscard]] ConfigValue plain_yaml_value(const std::string& text);

/// Appends a character as UTF-8. Precondition: `code` <= 0x10FFFF.
void append_code_point(std::string& text, std::uint32_t code);

}  // namespace headroom
