// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>

#include <algorithm>
#include <string>

namespace headroom {
namespace {

/// Whether a document has a key; of an array of tables whether one of them has it.
bool states(const ConfigValue& table, std::string_view path) {
  const std::size_t dot = path.find('.');
  const ConfigValue* const found = table.find(path.substr(0, dot));
  if (found == nullptr || dot == std::string_view::npos) {
    return found != nullptr;
  }
  const std::string_view rest = path.substr(dot + 1);
  return found->kind == ConfigValue::Kind::array ? std::any_of(found->items.begin(), found->items.end(),
                                                               [&](const ConfigValue& t) { return states(t, rest); })
                                                 : states(*found, rest);
}

/// Whether [search] frees a key of the root or of a table of it: by its name, or with all of [strategy].
bool is_searched(const ConfigValue& document, const Key& key, Kinds kind) {
  if (key.table() == "search" || key.table().find('.') != std::string_view::npos) {
    return false;
  }
  const std::string axis = "search." + std::string{key.name()};
  const Key* const row = find_key(axis, kind);
  return row != nullptr && row->type != KeyType::choice &&
         (states(document, axis) || (key.table() == "strategy" && states(document, "search.strategy")));
}

/// Whether a table around the key is missing, and nothing stands for it.
bool lies_in_nothing(const ConfigValue& document, const Key& key, Kinds kind) {
  for (std::string_view path = key.table(); !path.empty();) {
    const Key* const table = find_key(path, kind);
    if (table != nullptr && table->source == KeySource::unknown && !states(document, path)) {
      return true;
    }
    path = table == nullptr ? std::string_view{} : table->table();
  }
  return false;
}

}  // namespace

KeySource source_of(const ConfigValue& document, const Key& key, Kinds kind) {
  if (states(document, key.path)) {
    return KeySource::stated;
  }
  if (is_searched(document, key, kind) || lies_in_nothing(document, key, kind)) {
    return KeySource::unknown;
  }
  if (!key.source_named_by.empty()) {
    const bool whole = key.source_named_by.find('.') != std::string_view::npos;
    const std::string other = (whole ? "" : std::string{key.table()} + ".") + std::string{key.source_named_by};
    return states(document, other) ? key.source : KeySource::unknown;
  }
  return key.source;
}

}  // namespace headroom
