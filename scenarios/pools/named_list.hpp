// SPDX-License-Identifier: Apache-2.0
// Names of a document's tables, found by hashing, and references to them with the problem told where they stand.
#pragma once

#include <headroom/core/config_reader.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headroom::pools {

/// Names of tables of one kind: "pool", "tenant", "job".
class NamedList {
 public:
  /// `kind`: what one of them is called.
  explicit NamedList(std::string_view kind) : kind_{kind} {}

  /// The name of a table, told where it stands already.
  std::string take(ConfigTable& table) {
    std::string name = table.text("name");
    if (!name.empty() && !places_.emplace(name, names_.size()).second) {
      table.problem("name",
                    "'name' is " + quoted(name) + " of two; each " + std::string{kind_} + " needs a name of its own");
    }
    names_.push_back(name);
    return name;
  }

  /// The place of a name; nullopt, with the problem at `value`, where nothing has it.
  std::optional<std::size_t> find(ConfigTable& table,
                                  const ConfigValue& value,
                                  std::string_view key,
                                  const std::string& name) const {
    const auto found = places_.find(name);
    if (found != places_.end()) {
      return found->second;
    }
    table.diagnostics().add(value.file ? *value.file : table.file(), value.at, [&] {
      const std::vector<std::string_view> known(names_.begin(), names_.end());
      constexpr std::size_t most_told = 12;
      return "'" + std::string{key} + "' names " + quoted(name) + ", and no " + std::string{kind_} + " has that name" +
             suggestion(name, known) +
             (known.empty() || known.size() > most_told ? "" : "; there are " + listed_names());
    });
    return std::nullopt;
  }
  /// The same of a key that holds one name; nullopt where it is missing.
  std::optional<std::size_t> find_at(ConfigTable& table, std::string_view key) const {
    const std::optional<std::string> name = table.maybe_text(key);
    return name && !name->empty() ? find(table, *table.value(key), key, *name) : std::nullopt;
  }
  /// The same of a key that holds a list of them, those that are found.
  std::vector<std::size_t> find_all(ConfigTable& table, std::string_view key) const {
    std::vector<std::size_t> found;
    if (table.texts(key).empty()) {
      return found;
    }
    for (const ConfigValue& item : table.value(key)->items) {
      if (item.kind == ConfigValue::Kind::text) {
        if (const std::optional<std::size_t> place = find(table, item, key, item.text)) {
          found.push_back(*place);
        }
      }
    }
    return found;
  }

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  [[nodiscard]] std::string listed_names() const {
    std::string text;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto found = places_.find(names_[i]);
      if (found != places_.end() && found->second == i) {  // of one name the first
        text += (text.empty() ? "" : ", ") + names_[i];
      }
    }
    return text;
  }

  std::string_view kind_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace headroom::pools
