// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/keys/foreign_keys.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace headroom {

bool is_table(const ConfigValue* value) noexcept {
  return value != nullptr && value->kind == ConfigValue::Kind::table;
}

bool states(const ConfigValue& document, std::string_view table, std::string_view key) {
  const ConfigValue* const found = document.find(table);
  return is_table(found) && found->find(key) != nullptr;
}

void erase_key(ConfigValue& table, std::string_view key) {
  table.entries.erase_if([&](const ConfigEntry& entry) { return entry.key == key; });
}

void refuse_foreign(const ConfigValue& document, std::span<const ForeignKey> foreign, ConfigTable& root) {
  for (const ForeignKey& each : foreign) {
    if (each.key.empty()) {
      if (root.has(each.table)) {
        root.problem_at_key(each.table, std::string{each.why});
      }
    } else if (states(document, each.table, each.key)) {
      ConfigTable{*document.find(each.table), std::string{each.table}, root.diagnostics()}.problem_at_key(
          each.key, std::string{each.why});
    }
  }
}

ConfigValue without_foreign(ConfigValue document, std::span<const ForeignKey> foreign) {
  for (const ForeignKey& each : foreign) {
    if (each.key.empty()) {
      erase_key(document, each.table);
    } else if (is_table(document.find(each.table))) {
      erase_key(*document.find(each.table), each.key);
    }
  }
  return document;
}

}  // namespace headroom
