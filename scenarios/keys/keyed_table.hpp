// SPDX-License-Identifier: Apache-2.0
// A table of a document whose keys are read by their rows: each value comes with the type, the bounds, the words and
// the default of its row. A name that no row has does not compile.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/literal.hpp>
#include <headroom/scenarios/keys/key.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// Bounds of a row of integers.
[[nodiscard]] Range<std::int64_t> integers_of(const Key& key) noexcept;

// As the getters of ConfigTable of the same names, with the bounds and words of the row.
std::int64_t integer_at(ConfigTable& table, const Key& key);
std::optional<std::int64_t> maybe_integer_at(ConfigTable& table, const Key& key);
double number_at(ConfigTable& table, const Key& key);
std::optional<double> maybe_number_at(ConfigTable& table, const Key& key);

/// A value outside of the bounds is told as the row says, and taken all the same.
void refuse_beyond(ConfigTable& table, const Key& key, double value, const std::string& text);

/// The row of a name for those kinds of question.
[[nodiscard]] consteval const Key& row_named(const KeyTable& rows, Kinds kinds, std::string_view name) {
  for (const Key& row : rows.rows) {
    if (row.path == name && meet(row.kinds & rows.kinds, kinds)) {
      return row;
    }
  }
  throw "no row of the table has this name";
}

template <const KeyTable& rows, Kinds kinds>
class KeyedTable : public ConfigTable {
 public:
  explicit KeyedTable(ConfigTable table) : ConfigTable{std::move(table)} {}

  /// Of the table that it stands in; a problem where it is missing.
  [[nodiscard]] static KeyedTable of(ConfigTable& parent) { return KeyedTable{parent.table(rows.name())}; }
  [[nodiscard]] static std::optional<KeyedTable> maybe(ConfigTable& parent) {
    std::optional<ConfigTable> table = parent.maybe_table(rows.name());
    return table ? std::optional{KeyedTable{*std::move(table)}} : std::nullopt;
  }
  /// Every key is blank where it is missing.
  [[nodiscard]] static KeyedTable or_blank(ConfigTable& parent) {
    static const ConfigValue nothing;
    std::optional<KeyedTable> table = maybe(parent);
    return table ? *std::move(table) : KeyedTable{ConfigTable{nothing, std::string{rows.name()}, parent.diagnostics()}};
  }

  template <Literal name>
  static constexpr const Key& row = row_named(rows, kinds, name.view());

  /// As stated. A value that is refused is told, and is none.
  template <Literal name, class Choice = std::size_t>
  auto stated() {
    constexpr const Key& key = row<name>;
    if constexpr (key.type == KeyType::integer) {
      return maybe_integer_at(*this, key);
    } else if constexpr (key.type == KeyType::number) {
      return maybe_number_at(*this, key);
    } else if constexpr (key.type == KeyType::boolean) {
      return maybe_boolean(key.path);
    } else if constexpr (key.type == KeyType::choice) {
      const std::optional<std::size_t> place = maybe_choice(key.path, key.choices);
      return place ? std::optional{static_cast<Choice>(*place)} : std::nullopt;
    } else if constexpr (key.type == KeyType::quantity) {
      using Q = decltype(quantity_of<key.dimension>());
      const std::optional<Q> value = is_closed(key) ? maybe_quantity<Q>(key.path, {Q{key.low}, Q{key.high}})
                                                    : maybe_quantity<Q>(key.path, !key.above_low && key.low == 0.0);
      return checked(key, value);
    } else {
      return maybe_text(key.path);
    }
  }

  /// The same, as a field of what is asked holds it.
  template <Literal name, class T>
  void take(std::optional<T>& field) {
    const auto value = stated<name>();
    field = value ? std::optional{static_cast<T>(*value)} : std::nullopt;
  }

  /// A key that is required, or one with a default that is always the same.
  template <Literal name, class Choice = std::size_t>
  auto get() {
    constexpr const Key& key = row<name>;
    static_assert(key.required || key.usual);
    if constexpr (key.required) {
      return needed<name, Choice>();
    } else if constexpr (key.type == KeyType::quantity) {
      return stated<name>().value_or(decltype(quantity_of<key.dimension>()){*key.usual});
    } else if constexpr (key.type == KeyType::integer) {
      return stated<name>().value_or(static_cast<std::int64_t>(*key.usual));
    } else if constexpr (key.type == KeyType::boolean) {
      return stated<name>().value_or(*key.usual != 0.0);
    } else if constexpr (key.type == KeyType::choice) {
      return stated<name, Choice>().value_or(static_cast<Choice>(static_cast<std::size_t>(*key.usual)));
    } else if constexpr (key.type == KeyType::number) {
      return stated<name>().value_or(*key.usual);
    } else {
      return stated<name>().value_or(std::string{key.blank});
    }
  }

  /// A key that this question cannot do without, whatever its row says of others.
  template <Literal name, class Choice = std::size_t>
  auto needed() {
    constexpr const Key& key = row<name>;
    if constexpr (key.type == KeyType::integer) {
      return integer_at(*this, key);
    } else if constexpr (key.type == KeyType::number) {
      return number_at(*this, key);
    } else if constexpr (key.type == KeyType::choice) {
      return static_cast<Choice>(choice(key.path, key.choices));
    } else if constexpr (key.type == KeyType::quantity) {
      using Q = decltype(quantity_of<key.dimension>());
      const Q value = is_closed(key) ? quantity<Q>(key.path, {Q{key.low}, Q{key.high}})
                                     : quantity<Q>(key.path, !key.above_low && key.low == 0.0);
      return has(key.path) ? *checked(key, std::optional{value}) : value;
    } else {
      return text(key.path);
    }
  }

 private:
  template <Dimension d>
  static Quantity<d.second, d.byte, d.flop, d.dollar, d.joule> quantity_of();

  /// Bounds that a message tells: both ends.
  static constexpr bool is_closed(const Key& key) {
    return !key.above_low && key.high < unbounded && key.refusal.empty();
  }
  template <class Q>
  std::optional<Q> checked(const Key& key, std::optional<Q> value) {
    if (value && !key.refusal.empty()) {
      refuse_beyond(*this, key, value->raw(), format(*value));
    }
    return value;
  }
};

}  // namespace headroom
