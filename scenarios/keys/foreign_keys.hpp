// SPDX-License-Identifier: Apache-2.0
// Tables and keys that other questions take and one kind of question does not, each with the reason.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/config_value.hpp>

#include <span>
#include <string_view>

namespace headroom {

struct ForeignKey {
  std::string_view table, key, why;  ///< an empty key: the table
};

[[nodiscard]] bool is_table(const ConfigValue* value) noexcept;
/// Whether a key is stated. What is no table is told by who reads it.
[[nodiscard]] bool states(const ConfigValue& document, std::string_view table, std::string_view key);
void erase_key(ConfigValue& table, std::string_view key);

/// A problem at each of them that the document states.
void refuse_foreign(const ConfigValue& document, std::span<const ForeignKey> foreign, ConfigTable& root);
/// The document without them.
[[nodiscard]] ConfigValue without_foreign(ConfigValue document, std::span<const ForeignKey> foreign);

}  // namespace headroom
