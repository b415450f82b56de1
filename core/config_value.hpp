// SPDX-License-Identifier: Apache-2.0
// A parsed document as a plain tree: the common form of TOML and JSON files, overlays and --set values.
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

/// The entries of a table in file order, with a hash index, so that reading a table of n keys takes time linear in n.
/// Do not change keys through the iterators: the index would not follow.
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

  /// The first entry with this key, or nullptr.
  [[nodiscard]] const ConfigEntry* find(std::string_view key) const noexcept;
  [[nodiscard]] ConfigEntry* find(std::string_view key) noexcept;

 private:
  void note(std::size_t position);
  void index();

  std::vector<ConfigEntry> list_;
  /// Hash index by open addressing: position in list_ + 1, 0 = free; empty for short tables, where a scan is as fast.
  std::vector<std::uint32_t> slots_;
};

/// One value and its place in the file. Tables keep the order of the file.
struct ConfigValue {
  enum class Kind : std::uint8_t { null, boolean, integer, number, text, array, table };

  Kind kind = Kind::table;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0.0;
  std::string text;                ///< of a number of the command line as it was typed; of one of a file empty
  std::vector<ConfigValue> items;  ///< elements, if kind is array
  ConfigEntries entries;           ///< members, if kind is table

  std::shared_ptr<const std::string> file;  ///< name of the file, shared by all its values
  Position at;                              ///< place of the value
  Position key_at;                          ///< place of the value's key; unset for elements of arrays

  [[nodiscard]] const ConfigValue* find(std::string_view key) const noexcept;
  [[nodiscard]] ConfigValue* find(std::string_view key) noexcept;
};

/// Values without a place in a file, for keys that the program sets itself.
[[nodiscard]] ConfigValue count_value(std::int64_t count);
[[nodiscard]] ConfigValue number_value(double number);
[[nodiscard]] ConfigValue word_value(std::string_view word);
[[nodiscard]] ConfigValue flag_value(bool flag);

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

/// Upper bound on the values of a document, counting tables and arrays: each value takes some hundred bytes of memory.
inline constexpr std::size_t most_document_values = 500'000;
/// The message for a document with more than `most_document_values` values.
[[nodiscard]] std::string too_many_values();

/// A kind as messages name it: "a table", "a string".
[[nodiscard]] std::string_view kind_name(ConfigValue::Kind kind) noexcept;

/// Overlays `top` on `bottom`: tables merge key by key; any other value is replaced.
void overlay(ConfigValue& bottom, const ConfigValue& top);

}  // namespace headroom
