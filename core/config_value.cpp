// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_value.hpp>

#include <algorithm>

namespace headroom {

const ConfigValue* ConfigValue::find(std::string_view key) const noexcept {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

ConfigValue* ConfigValue::find(std::string_view key) noexcept {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

std::string_view kind_name(ConfigValue::Kind kind) noexcept {
  switch (kind) {
    case ConfigValue::Kind::null: return "null";
    case ConfigValue::Kind::boolean: return "a boolean";
    case ConfigValue::Kind::integer: return "an integer";
    case ConfigValue::Kind::number: return "a number";
    case ConfigValue::Kind::text: return "a string";
    case ConfigValue::Kind::array: return "an array";
    case ConfigValue::Kind::table: return "a table";
  }
  return "a value";
}

void overlay(ConfigValue& bottom, const ConfigValue& top) {
  for (const auto& [key, value] : top.entries) {
    ConfigValue* below = bottom.find(key);
    if (below == nullptr) {
      bottom.entries.emplace_back(key, value);
    } else if (below->kind == ConfigValue::Kind::table && value.kind == ConfigValue::Kind::table) {
      below->key_at = value.key_at;
      below->at = value.at;
      below->file = value.file;
      overlay(*below, value);
    } else {
      *below = value;
    }
  }
}

}  // namespace headroom
