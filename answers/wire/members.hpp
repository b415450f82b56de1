// SPDX-License-Identifier: Apache-2.0
// The members of a request, one table for its readers' tests, for OpenAPI and for the manual.
#pragma once

#include <headroom/answers/wire/request.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace headroom {

enum class WireType : std::uint8_t {
  scenario,   ///< an object of a scenario's tables, or the text of its TOML
  scenarios,  ///< a list of them
  object,
  config,  ///< a config.json as an object or as its text
  text,
  texts,
  quantity,        ///< text with a unit
  number_or_text,  ///< a number, or text with a unit
  number,
  integer,
  boolean,
  format  ///< word of a format
};

struct WireMember {
  std::string_view name;
  WireType type = WireType::text;
  std::uint32_t verbs = 0;  ///< whose requests have it, one bit a verb
  bool needed = false;
  std::string_view meaning;  ///< sentence
  std::string_view example;  ///< as JSON

  [[nodiscard]] constexpr bool of(WireVerb verb) const noexcept {
    return (verbs >> static_cast<unsigned>(verb) & 1U) != 0;
  }
};

/// In the order in which people write them.
[[nodiscard]] std::span<const WireMember> wire_members() noexcept;

}  // namespace headroom
