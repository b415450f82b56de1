// SPDX-License-Identifier: Apache-2.0
// Trees as text: scenario documents as TOML 1.0, which parse_toml reads back to the same tree, and documents as
// YAML 1.2.
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/launch/launch_plan.hpp>

#include <algorithm>
#include <array>
#include <utility>

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

/// Whether YAML 1.1 and 1.2 read an unquoted scalar as this text: a word, a path or a flag, and none of their names of
/// other values.
bool plain_in_yaml(std::string_view text) {
  constexpr std::array<std::string_view, 9> values{"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::string lower;
  for (const char c : text) {
    lower += letter(c) ? static_cast<char>(c | 0x20) : c;
  }
  const std::size_t first = text.find_first_not_of('-');
  return first <= 2 && letter(text[first]) && std::find(values.begin(), values.end(), lower) == values.end() &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/';
         });
}

/// A scalar of YAML: plain where plain_in_yaml(), else double-quoted with every byte that is no printable ASCII or
/// printable character escaped, so that a text never ends its line or its quotes. A byte outside UTF-8 becomes U+FFFD.
std::string yaml_scalar(std::string_view text) {
  if (plain_in_yaml(text)) {
    return std::string{text};
  }
  constexpr std::string_view digits = "0123456789abcdef";
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, length));
    const auto byte = static_cast<unsigned char>(text.front());
    if (length == 0) {
      quoted += "\\uFFFD";
    } else if (character == "\"" || character == "\\") {
      quoted += "\\" + std::string{character};
    } else if (length == 1 && (byte < 0x20 || byte == 0x7f)) {
      quoted += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
    } else if (first_unprintable(character) || character == "\xEF\xBB\xBF") {
      quoted += "\\uFFFD";
    } else {
      quoted += character;
    }
    text.remove_prefix(character.size());
  }
  return quoted + "\"";
}

std::string yaml_leaf(const ConfigValue& value) {
  return value.kind == Kind::text    ? yaml_scalar(value.text)
         : value.kind == Kind::array ? "[]"
         : value.kind == Kind::table ? "{}"
                                     : value_text(value);
}

/// Whether a text is lines of printable ASCII, which a literal block keeps as they are.
bool is_lines(const ConfigValue& value) {
  return value.kind == Kind::text && value.text.ends_with('\n') && value.text.front() > ' ' &&
         value.text.find("\n\n") == std::string::npos &&
         std::all_of(value.text.begin(), value.text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

std::string literal_block(std::string_view lines, const std::string& indent) {
  std::string text = " |\n";
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n') + 1;
    text += indent + std::string{lines.substr(0, end)};
    lines.remove_prefix(end);
  }
  return text;
}

bool is_leaf(const ConfigValue& value) {
  return (value.kind != Kind::table || value.entries.empty()) && (value.kind != Kind::array || value.items.empty());
}

/// Block style; `lead` precedes the first line, which is indented already.
void write_yaml(const ConfigValue& value, const std::string& indent, std::string lead, std::string& text) {
  const auto below = [&](const ConfigValue& child, const std::string& head) {
    text += std::exchange(lead, indent) + head;
    if (is_lines(child)) {
      text += literal_block(child.text, indent + "  ");
    } else if (is_leaf(child)) {
      text += " " + yaml_leaf(child) + "\n";
    } else if (head == "-") {
      write_yaml(child, indent + "  ", " ", text);
    } else {
      text += "\n";
      write_yaml(child, indent + "  ", indent + "  ", text);
    }
  };
  for (const ConfigEntry& entry : value.entries) {
    below(entry.value, yaml_scalar(entry.key) + ":");
  }
  for (const ConfigValue& item : value.items) {
    below(item, "-");
  }
}

}  // namespace

ConfigValue table_value(std::vector<ConfigEntry> entries) {
  ConfigValue table;
  for (ConfigEntry& entry : entries) {
    table.entries.push_back(std::move(entry));
  }
  return table;
}

ConfigValue list_value(std::vector<ConfigValue> items) {
  ConfigValue list;
  list.kind = Kind::array;
  list.items = std::move(items);
  return list;
}

std::string yaml_text(const ConfigValue& table) {
  std::string text;
  write_yaml(table, "", "", text);
  return text;
}

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
