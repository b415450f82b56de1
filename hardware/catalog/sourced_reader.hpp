// SPDX-License-Identifier: Apache-2.0
// The common parts of catalog files: the heading, [sources], and numbers written `{ value = ..., source = "TAG" }`.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/device.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The source tags of one file, read from its [sources] table before any number is read.
class SourceTags {
 public:
  explicit SourceTags(ConfigTable& root);

  /// A physical quantity above zero. A bare number or a string without source is a problem that shows the remedy.
  template <class Q>
  std::optional<Sourced<Q>> quantity(ConfigTable& table, std::string_view key) {
    std::optional<Opened> opened = open(table, key);
    if (!opened) {
      return std::nullopt;
    }
    const std::optional<Q> value = opened->table.maybe_quantity<Q>("value");
    return close(*opened, value);
  }
  std::optional<Sourced<std::int64_t>> count(ConfigTable& table, std::string_view key);
  std::optional<Sourced<std::vector<std::int64_t>>> counts(ConfigTable& table, std::string_view key);
  /// A value of any other form: `read` takes 'value' from its table, or returns nullopt after adding a diagnostic.
  template <class Read>
  auto other(ConfigTable& table, std::string_view key, Read read)
      -> std::optional<Sourced<typename decltype(read(table))::value_type>> {
    std::optional<Opened> opened = open(table, key);
    if (!opened) {
      return std::nullopt;
    }
    const auto value = read(opened->table);
    return close(*opened, value);
  }

  [[nodiscard]] std::vector<std::string> unused() const;

 private:
  struct Opened {
    ConfigTable table;
    std::string source;
    bool recalled;
    Position at;
  };
  std::optional<Opened> open(ConfigTable& table, std::string_view key);

  template <class T>
  std::optional<Sourced<T>> close(Opened& opened, const std::optional<T>& value) {
    if (!value && !opened.table.has("value")) {
      opened.table.problem("value", "missing key 'value' in [" + opened.table.path() + "]");
    }
    opened.table.finish();
    if (!value) {
      return std::nullopt;
    }
    return Sourced<T>{*value, opened.source, opened.recalled, opened.table.file(), opened.at};
  }

  std::map<std::string, std::string, std::less<>> tags_;
  std::set<std::string, std::less<>> used_;
};

struct EntryHeading {
  std::string id, name, notes;
  std::vector<std::string> aliases;
};

/// Reads schema, base, id, name, notes and aliases. The id must be the stem of `file`.
[[nodiscard]] EntryHeading read_heading(ConfigTable& root, const std::string& file);

}  // namespace headroom
