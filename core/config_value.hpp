// SPDX-License-Identifier: Apache-2.0
// A parsed document as a plain tree: what TOML and JSON files, overlays and --set values all become.
#pragma once

#include <headroom/core/diagnostic.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct ConfigEntry;
struct ConfigValue;

/// The keys of a table in the order of the file. A key is found without walking the others, so that a table of n keys
/// is read in a time that grows with n. Keys are not to be changed through the iterators: the index would not know.
class ConfigEntries {
 public:
  [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] ConfigEntry* begin() noexcept { return list_.data(); }
  [[nodiscard]] ConfigEntry* end() noexcept;
  [[nodiscard]] const ConfigEntry* begin() const noexcept { return list_.data(); }
  [[nodiscard]] const ConfigEntry* end() const noexcept;
  [[nodiscard]] ConfigEntry& front() noexcept { return *list_.data(); }
  [[nodiscard]] ConfigEntry& back() noexcept;

  ConfigEntry& emplace_back(std::string key, ConfigValue value);
  void push_back(ConfigEntry entry);
  template <class Predicate>
  void erase_if(Predicate predicate);

  /// The first entry of that key, or nullptr.
  [[nodiscard]] const ConfigEntry* find(std::string_view key) const noexcept;
  [[nodiscard]] ConfigEntry* find(std::string_view key) noexcept;

 private:
  void note(std::size_t position);
  void index();

  std::vector<ConfigEntry> list_;
  std::vector<std::uint32_t> slots_;  ///< open addressing, position + 1; none while a walk is as fast
};

/// One value with the place it was written at. Tables keep the order of the file.
struct ConfigValue {
  enum class Kind : std::uint8_t { null, boolean, integer, number, text, array, table };

  Kind kind = Kind::table;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0.0;
  std::string text;
  std::vector<ConfigValue> items;  ///< array
  ConfigEntries entries;           ///< table

  std::shared_ptr<const std::string> file;  ///< shared by all values of one file
  Position at;                              ///< of the value
  Position key_at;                          ///< of its key; unset in arrays

  [[nodiscard]] const ConfigValue* find(std::string_view key) const noexcept;
  [[nodiscard]] ConfigValue* find(std::string_view key) noexcept;
};

/// Values without a place, for keys that a program sets.
[[nodiscard]] ConfigValue count_value(std::int64_t count);
[[nodiscard]] ConfigValue number_value(double number);
[[nodiscard]] ConfigValue word_value(std::string_view word);
[[nodiscard]] ConfigValue flag_value(bool flag);

/// One key of a table.
struct ConfigEntry {
  std::string key;
  ConfigValue value;
};

template <class Predicate>
void ConfigEntries::erase_if(Predicate predicate) {
  if (std::erase_if(list_, predicate) > 0) {
    index();
  }
}

/// The most values that a document may hold, tables and arrays among them: each takes some hundred bytes.
inline constexpr std::size_t most_document_values = 500'000;
/// What is said of a document with more.
[[nodiscard]] std::string too_many_values();

/// "a table", "a string": for messages.
[[nodiscard]] std::string_view kind_name(ConfigValue::Kind kind) noexcept;

/// Lays `top` over `bottom`: tables merge key by key, everything else is replaced.
void overlay(ConfigValue& bottom, const ConfigValue& top);

}  // namespace headroom
