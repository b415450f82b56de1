// SPDX-License-Identifier: Apache-2.0
// Slices of cards as `catalog` shows them: the profiles of a card, and a slice as an entry of its own.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/hardware/catalog/catalog.hpp>

#include <string>

namespace headroom {

/// The profiles of every card that can be cut, one a line.
[[nodiscard]] std::string list_partitions(const Catalog& catalog);
/// Those of one card, as comments below its entry; empty where it cannot be cut.
[[nodiscard]] std::string partitions_comment(const Catalog& catalog, const Device& card);

/// "partitions" of `catalog list`: the cards that can be cut, with their profiles.
[[nodiscard]] Value partitions_value(const Catalog& catalog);
/// "partitions" of `catalog show` a card: its profiles; absent where it cannot be cut.
[[nodiscard]] Value profiles_value(const Catalog& catalog, const Device& card);

/// A slice written as a file of the catalog would be: TOML, each number with its source in words.
[[nodiscard]] std::string slice_toml(const Device& slice);

}  // namespace headroom
