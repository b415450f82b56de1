// SPDX-License-Identifier: Apache-2.0
// Scenario documents as TOML 1.0: what parse_toml reads back to the same tree.
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/launch/launch_plan.hpp>

#include <array>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;

/// Shortest form that reads back exactly, and that TOML reads as a float: 15e12, 0.5, 3.0.
std::string number_text(double number) {
  std::string text = shortest_text(number);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

bool is_nested(const ConfigEntry& entry) {
  const bool tables =
      entry.value.kind == Kind::array && !entry.value.items.empty() && entry.value.items.front().kind == Kind::table;
  return entry.value.kind == Kind::table || tables;
}

void write_table(const ConfigValue& table, const std::string& path, std::string& text) {
  for (const ConfigEntry& entry : table.entries) {
    if (!is_nested(entry)) {
      text += entry.key + " = " + value_text(entry.value) + "\n";
    }
  }
  for (const ConfigEntry& entry : table.entries) {
    if (!is_nested(entry)) {
      continue;
    }
    const std::string below = path.empty() ? entry.key : path + "." + entry.key;
    if (entry.value.kind == Kind::table) {
      text += "\n[" + below + "]\n";
      write_table(entry.value, below, text);
      continue;
    }
    for (const ConfigValue& item : entry.value.items) {
      text += "\n[[" + below + "]]\n";
      write_table(item, below, text);
    }
  }
}

}  // namespace

std::string value_text(const ConfigValue& value) {
  switch (value.kind) {
    case Kind::boolean: return value.boolean ? "true" : "false";
    case Kind::integer: return std::to_string(value.integer);
    case Kind::number: return number_text(value.number);
    case Kind::text: return toml_string(value.text);
    case Kind::array: {
      const std::string list = joined(value.items, [&](const ConfigValue& item) { return value_text(item); });
      return "[" + list + "]";
    }
    case Kind::table: {
      std::string list;
      for (const ConfigEntry& entry : value.entries) {
        list += (list.empty() ? " " : ", ") + entry.key + " = " + value_text(entry.value);
      }
      return "{" + list + " }";
    }
    case Kind::null: break;
  }
  return "null";
}

std::string document_text(const ConfigValue& document, const std::vector<std::string>& comments) {
  std::string text;
  for (const std::string& comment : comments) {
    text += "# " + comment + "\n";
  }
  write_table(document, "", text);
  return text;
}

}  // namespace headroom::launch
