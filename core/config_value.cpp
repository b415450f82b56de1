// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_value.hpp>

#include <algorithm>
#include <functional>

namespace headroom {

namespace {

/// Number of keys below which a linear scan is as fast as the hash index.
constexpr std::size_t few_keys = 16;

}  // namespace

std::size_t ConfigEntries::size() const noexcept {
  return list_.size();
}
ConfigEntry* ConfigEntries::end() noexcept {
  return list_.data() + list_.size();
}
const ConfigEntry* ConfigEntries::end() const noexcept {
  return list_.data() + list_.size();
}
ConfigEntry& ConfigEntries::back() noexcept {
  return list_.back();
}

ConfigEntry& ConfigEntries::emplace_back(std::string key, ConfigValue value) {
  push_back({std::move(key), std::move(value)});
  return list_.back();
}

void ConfigEntries::push_back(ConfigEntry entry) {
  list_.push_back(std::move(entry));
  if (list_.size() <= few_keys) {
    return;
  }
  if (2 * list_.size() > slots_.size()) {
    index();
  } else {
    note(list_.size() - 1);
  }
}

const ConfigEntry* ConfigEntries::find(std::string_view key) const noexcept {
  if (slots_.empty()) {
    const ConfigEntry* const found =
        std::find_if(begin(), end(), [&](const ConfigEntry& entry) { return entry.key == key; });
    return found == end() ? nullptr : found;
  }
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = std::hash<std::string_view>{}(key)&mask; slots_[at] != 0; at = (at + 1) & mask) {
    if (const ConfigEntry& entry = list_[slots_[at] - 1]; entry.key == key) {
      return &entry;
    }
  }
  return nullptr;
}

ConfigEntry* ConfigEntries::find(std::string_view key) noexcept {
  return const_cast<ConfigEntry*>(std::as_const(*this).find(key));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

/// Enters one entry of the list into the index; of duplicate keys the first is kept.
void ConfigEntries::note(std::size_t position) {
  const std::string& key = list_[position].key;
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = std::hash<std::string_view>{}(key)&mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    if (list_[slots_[at] - 1].key == key) {
      return;
    }
  }
  slots_[at] = static_cast<std::uint32_t>(position + 1);
}

void ConfigEntries::index() {
  slots_.clear();
  if (list_.size() <= few_keys) {
    return;
  }
  std::size_t size = 4 * few_keys;
  while (size < 4 * list_.size()) {
    size *= 2;
  }
  slots_.assign(size, 0);
  for (std::size_t i = 0; i < list_.size(); ++i) {
    note(i);
  }
}

const ConfigValue* ConfigValue::find(std::string_view key) const noexcept {
  const ConfigEntry* const found = entries.find(key);
  return found == nullptr ? nullptr : &found->value;
}

ConfigValue* ConfigValue::find(std::string_view key) noexcept {
  ConfigEntry* const found = entries.find(key);
  return found == nullptr ? nullptr : &found->value;
}

std::string too_many_values() {
  return "more than " + std::to_string(most_document_values) +
         " values, the most that a document may hold; split it, or give what is a table of numbers as CSV";
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

ConfigValue count_value(std::int64_t count) {
  ConfigValue value;
  value.kind = ConfigValue::Kind::integer;
  value.integer = count;
  return value;
}

ConfigValue number_value(double number) {
  ConfigValue value;
  value.kind = ConfigValue::Kind::number;
  value.number = number;
  return value;
}

ConfigValue word_value(std::string_view word) {
  ConfigValue value;
  value.kind = ConfigValue::Kind::text;
  value.text = word;
  return value;
}

ConfigValue flag_value(bool flag) {
  ConfigValue value;
  value.kind = ConfigValue::Kind::boolean;
  value.boolean = flag;
  return value;
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
