// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/keys/keyed_table.hpp>

namespace headroom {
namespace {

/// Bounds that a message tells; what the row refuses in words of its own is judged when it is read.
Range<double> numbers_of(const Key& key) noexcept {
  return key.refusal.empty() ? Range<double>{key.low, key.high} : Range<double>{};
}

}  // namespace

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
  const double value = table.number(key.name(), numbers_of(key));
  if (table.has(key.name())) {
    refuse_beyond(table, key, value, format_number(value));
  }
  return value;
}

std::optional<double> maybe_number_at(ConfigTable& table, const Key& key) {
  const std::optional<double> value = table.maybe_number(key.name(), numbers_of(key));
  if (value) {
    refuse_beyond(table, key, *value, format_number(*value));
  }
  return value;
}

void refuse_beyond(ConfigTable& table, const Key& key, double value, const std::string& text) {
  if (!key.refusal.empty() && (value < key.low || value > key.high)) {
    table.problem(key.name(), quoted(key.name()) + " is " + text + "; " + std::string{key.refusal});
  }
}

}  // namespace headroom
