// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>

#include <cctype>
#include <cmath>

namespace headroom {
namespace {

/// Bounds that a message tells; what the row refuses in words of its own is judged when it is read.
Range<double> numbers_of(const Key& key) noexcept {
  return key.refusal.empty() ? Range<double>{key.low, key.high} : Range<double>{};
}

/// 90 of "90 %".
std::optional<double> number_before_sign(std::string_view text) {
  text.remove_suffix(1);
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return whole_real(text);
}

/// What is meant by text in place of a number: "15t" by 15T, "0.9" in quotes by 0.9.
std::string number_meant(const Key& key, const std::string& text) {
  if (whole_real(text)) {
    return "; write " + text + " without quotes";
  }
  if (const std::optional<double> share = text.ends_with('%') ? number_before_sign(text) : std::nullopt) {
    return "; write " + general_text(0.01 * *share, 6);
  }
  std::string upper = text;
  upper.back() = static_cast<char>(std::toupper(static_cast<unsigned char>(upper.back())));
  const std::optional<double> meant =
      upper == text ? std::nullopt : parse_short_number(upper, key.length ? 1024.0 : 1000.0);
  if (meant && (key.type == KeyType::number || *meant == std::floor(*meant))) {
    return "; did you mean " + quoted(upper) + "?";
  }
  return key.high >= 1e4 ? ", such as 512 or 8k" : "";
}

/// Tells of text where a number belongs; false where there is none.
bool refuses_text(ConfigTable& table, const Key& key, std::string_view what) {
  const ConfigValue* const found = table.value(key.name());
  if (found == nullptr || found->kind != ConfigValue::Kind::text || found->text.empty()) {
    return false;
  }
  table.problem(key.name(), quoted(key.name()) + " is " + quoted(found->text) + "; it must be " + std::string{what} +
                                number_meant(key, found->text));
  return true;
}

}  // namespace

Range<std::int64_t> integers_of(const Key& key) noexcept {
  return {static_cast<std::int64_t>(key.low), static_cast<std::int64_t>(key.high)};
}

std::int64_t integer_at(ConfigTable& table, const Key& key) {
  return refuses_text(table, key, "an integer") ? integers_of(key).low : table.integer(key.name(), integers_of(key));
}

std::optional<std::int64_t> maybe_integer_at(ConfigTable& table, const Key& key) {
  return refuses_text(table, key, "an integer") ? std::nullopt : table.maybe_integer(key.name(), integers_of(key));
}

double number_at(ConfigTable& table, const Key& key) {
  if (refuses_text(table, key, "a number")) {
    return key.low;
  }
  const double value = table.number(key.name(), numbers_of(key));
  if (table.has(key.name())) {
    refuse_beyond(table, key, value, format_number(value));
  }
  return value;
}

std::optional<double> maybe_number_at(ConfigTable& table, const Key& key) {
  const std::optional<double> value =
      refuses_text(table, key, "a number") ? std::nullopt : table.maybe_number(key.name(), numbers_of(key));
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
