// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/short_numbers.hpp>

#include <cmath>
#include <optional>
#include <string_view>

namespace headroom {
namespace {

using Kind = ConfigValue::Kind;

bool is_number(const ConfigValue& value) {
  return value.kind == Kind::integer || value.kind == Kind::number;
}

/// "80 %" of a number that is a share.
std::optional<double> share_of(const ConfigValue& value, const Key& key) {
  const bool percent = value.kind == Kind::text && value.text.ends_with('%');
  if (!percent || key.type != KeyType::number || key.high > 1.0) {
    return std::nullopt;
  }
  std::string_view text{value.text};
  text.remove_suffix(1);
  text.remove_suffix(text.ends_with(' ') ? 1 : 0);
  const std::optional<double> number = whole_real(text);
  return number ? std::optional{*number / 100.0} : std::nullopt;
}

/// The typed text stays beside the number, from which short_lengths() tells it.
void take_number(ConfigValue& value, const Key& key) {
  if (const std::optional<double> share = share_of(value, key)) {
    value.kind = Kind::number;
    value.number = *share;
    return;
  }
  const std::optional<double> number =
      value.kind == Kind::text ? parse_short_number(value.text, key.length ? 1024.0 : 1000.0) : std::nullopt;
  if (!number) {
    return;
  }
  const bool whole = *number == std::floor(*number) && std::abs(*number) <= static_cast<double>(positive.high);
  if (whole) {
    value.kind = Kind::integer;
    value.integer = static_cast<std::int64_t>(*number);
  } else if (key.type == KeyType::number) {
    value.kind = Kind::number;
    value.number = *number;
  }
}

void take_rate(ConfigValue& value) {
  std::optional<double> number;
  if (is_number(value)) {
    number = value.kind == Kind::integer ? static_cast<double>(value.integer) : value.number;
  } else if (value.kind == Kind::text) {
    number = parse_short_number(value.text);
  }
  if (number && std::isfinite(*number)) {
    value.kind = Kind::text;
    value.text = shortest_text(*number) + " req/s";
  }
}

/// A price that is typed as a number is in dollars an hour, as prices of GPUs are told everywhere.
void take_price(ConfigValue& value) {
  if (is_number(value) && !value.text.empty()) {
    value.kind = Kind::text;
    value.text += " $/h";
  }
}

/// A number of the command line has the text that was typed beside it; one of a file has none.
void take_name(ConfigValue& value) {
  if (is_number(value) && !value.text.empty()) {
    value.kind = Kind::text;
  }
}

void take(ConfigValue& value, const Key& key) {
  switch (key.type) {
    case KeyType::integers:
    case KeyType::number_axis:
      if (value.kind == Kind::array) {
        for (ConfigValue& item : value.items) {
          take_number(item, key);
        }
        return;
      }
      [[fallthrough]];
    case KeyType::integer:
    case KeyType::number: take_number(value, key); return;
    case KeyType::quantity:
      if (key.dimension == dimension_of<Hertz>) {
        take_rate(value);
      } else if (key.dimension == dimension_of<DollarsPerSecond>) {
        take_price(value);
      }
      return;
    case KeyType::text:
    case KeyType::choice:
    case KeyType::text_axis:
    case KeyType::model: take_name(value); return;
    default: return;
  }
}

/// `see` of each value that a row speaks of, but tables and arrays of them.
template <class Value, class See>
void for_each_value(Value& table, const std::string& path, const See& see) {
  for (auto& entry : table.entries) {
    const std::string below = path.empty() ? entry.key : path + "." + entry.key;
    const Key* key = find_key(below, every_kind);
    if (key == nullptr) {
      continue;
    }
    if (key->type == KeyType::table || key->type == KeyType::tables) {
      for_each_value(entry.value, below, see);
      for (auto& item : entry.value.items) {  // of an array of tables
        for_each_value(item, below, see);
      }
    } else {
      see(entry.value, *key);
    }
  }
}

}  // namespace

void take_short_numbers(ConfigValue& scenario) {
  for_each_value(scenario, "", [](ConfigValue& value, const Key& key) { take(value, key); });
}

std::vector<std::string> short_lengths(const ConfigValue& scenario) {
  std::vector<std::string> told;
  for_each_value(scenario, "", [&](const ConfigValue& value, const Key& key) {
    if (key.length && is_number(value) && parse_short_number(value.text) && value.text.find('i') == std::string::npos) {
      const double number = value.kind == Kind::integer ? static_cast<double>(value.integer) : value.number;
      told.push_back(std::string{key.path} + " = " + shortest_text(number) + " (" + value.text +
                     "; k is 1024 of the tokens of a sequence or a step)");
    }
  });
  return told;
}

}  // namespace headroom
