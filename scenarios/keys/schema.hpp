// SPDX-License-Identifier: Apache-2.0
// The table of keys as a JSON Schema (draft 2020-12), for editors that check and complete scenarios as they are typed.
#pragma once

#include <headroom/scenarios/keys/key.hpp>

#include <span>
#include <string>
#include <string_view>

namespace headroom {

/// Accepts every scenario that the readers accept, as far as the table knows them; what only the catalog or another key
/// shows wrong passes. Keys that are required may stand in a base or be freed by [search] instead: a document with
/// either is not held to them, but for those of arrays. Precondition: rows of one path are of one type.
[[nodiscard]] std::string scenario_schema(std::span<const Key> keys);

/// A number that is not negative, as text with a unit has it.
inline constexpr std::string_view number_pattern = "(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?";

/// What a quantity of that dimension looks like, as a regular expression (ECMA-262): units of quantity_text, up to
/// three of them with strokes between.
[[nodiscard]] std::string quantity_pattern(Dimension dimension);

}  // namespace headroom
