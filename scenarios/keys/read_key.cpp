// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/keys/read_key.hpp>

namespace headroom {

Range<std::int64_t> integers_of(const Key& key) noexcept {
  return {static_cast<std::int64_t>(key.low), static_cast<std::int64_t>(key.high)};
}

std::int64_t integer_at(ConfigTable& table, const Key& key) {
  return table.integer(key.name(), integers_of(key));
}

std::optional<std::int64_t> maybe_integer_at(ConfigTable& table, const Key& key) {
  return table.maybe_integer(key.name(), integers_of(key));
}

double number_at(ConfigTable& table, const Key& key) {
  return table.number(key.name(), {key.low, key.high});
}

std::optional<double> maybe_number_at(ConfigTable& table, const Key& key) {
  return table.maybe_number(key.name(), {key.low, key.high});
}

std::size_t choice_at(ConfigTable& table, const Key& key) {
  return table.choice(key.name(), key.choices);
}

std::optional<std::size_t> maybe_choice_at(ConfigTable& table, const Key& key) {
  return table.maybe_choice(key.name(), key.choices);
}

}  // namespace headroom
