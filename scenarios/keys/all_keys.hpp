// SPDX-License-Identifier: Apache-2.0
// Every key of a scenario: from these rows come what readers check, the options of the quick form, the schema, the
// manual and the order in which a scenario is written.
#pragma once

#include <headroom/scenarios/keys/key.hpp>

#include <span>
#include <string>
#include <string_view>

namespace headroom {

/// One each of a path, but that a search and a fleet free axes of their own under one name.
[[nodiscard]] std::span<const KeyTable> all_key_tables() noexcept;

/// All of them with their whole paths, in the order in which people write them. A path stands in several rows where
/// kinds of questions take it differently; no two of these know the same kind.
[[nodiscard]] std::span<const Key> all_keys();

/// nullptr: that kind has no such key.
[[nodiscard]] const Key* find_key(std::string_view path, Kinds kind);
/// For readers, which know that it is there: std::logic_error where it is not.
[[nodiscard]] const Key& key_of(std::string_view path, Kinds kind);

/// "1 ns", "50 $": a bound as people write it.
[[nodiscard]] std::string bound_text(double value, Dimension dimension);

}  // namespace headroom
