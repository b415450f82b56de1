// SPDX-License-Identifier: Apache-2.0
// A parsed document as a plain tree: what TOML and JSON files, overlays and --set values all become.
#pragma once

#include <headroom/core/diagnostic.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

struct ConfigEntry;

/// One value with the place it was written at. Tables keep the order of the file.
struct ConfigValue {
  enum class Kind : std::uint8_t { null, boolean, integer, number, text, array, table };

  Kind kind = Kind::table;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0.0;
  std::string text;
  std::vector<ConfigValue> items;    ///< array
  std::vector<ConfigEntry> entries;  ///< table

  std::shared_ptr<const std::string> file;  ///< shared by all values of one file
  Position at;                              ///< of the value
  Position key_at;                          ///< of its key; unset in arrays

  [[nodiscard]] const ConfigValue* find(std::string_view key) const noexcept;
  [[nodiscard]] ConfigValue* find(std::string_view key) noexcept;
};

/// One key of a table.
struct ConfigEntry {
  std::string key;
  ConfigValue value;
};

/// "a table", "a string": for messages.
[[nodiscard]] std::string_view kind_name(ConfigValue::Kind kind) noexcept;

/// Lays `top` over `bottom`: tables merge key by key, everything else is replaced.
void overlay(ConfigValue& bottom, const ConfigValue& top);

}  // namespace headroom
