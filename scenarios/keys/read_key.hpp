// SPDX-License-Identifier: Apache-2.0
// Keys read with the bounds and words of their rows: as the getters of ConfigTable of the same names.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace headroom {

/// Bounds of a row of integers.
[[nodiscard]] Range<std::int64_t> integers_of(const Key& key) noexcept;

std::int64_t integer_at(ConfigTable& table, const Key& key);
std::optional<std::int64_t> maybe_integer_at(ConfigTable& table, const Key& key);
double number_at(ConfigTable& table, const Key& key);
std::optional<double> maybe_number_at(ConfigTable& table, const Key& key);
std::size_t choice_at(ConfigTable& table, const Key& key);
std::optional<std::size_t> maybe_choice_at(ConfigTable& table, const Key& key);

/// Precondition: the row has an upper bound, and is not open at the lower one.
template <class Q>
Q quantity_at(ConfigTable& table, const Key& key) {
  return table.quantity<Q>(key.name(), Range<Q>{Q{key.low}, Q{key.high}});
}
template <class Q>
std::optional<Q> maybe_quantity_at(ConfigTable& table, const Key& key) {
  return table.maybe_quantity<Q>(key.name(), Range<Q>{Q{key.low}, Q{key.high}});
}

}  // namespace headroom
