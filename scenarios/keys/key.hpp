// SPDX-License-Identifier: Apache-2.0
// One key of a scenario as a row of a table: what it takes, within which bounds, what a blank one means.
#pragma once

#include <headroom/core/quantity_text.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace headroom {

/// Questions that know a key, as bits.
enum class Kinds : std::uint8_t { none = 0, train = 1, serve = 2, network = 4, training = 5, all = 7 };
[[nodiscard]] constexpr Kinds operator&(Kinds a, Kinds b) noexcept {
  return static_cast<Kinds>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
[[nodiscard]] constexpr Kinds operator|(Kinds a, Kinds b) noexcept {
  return static_cast<Kinds>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool meet(Kinds a, Kinds b) noexcept {
  return (a & b) != Kinds::none;
}

/// What a key takes.
enum class KeyType : std::uint8_t {
  integer,
  number,
  boolean,
  text,        ///< of which `choices` are some that it may be
  choice,      ///< one of `choices`
  quantity,    ///< text with a unit, or one of `choices`
  percentage,  ///< "5 %"
  month,       ///< "2026-08" or "2026-08-15"
  date,        ///< "2026-08-15"
  deadline,    ///< a time with its unit, or a date
  model,       ///< an id, a path, or a table of its own form (docs/catalog-format.md)
  integers,
  texts,  ///< each one of `choices` where there are any
  // Axes of a search: a list of these, one of them, or "any" where the row has it. Numbers as ranges, too.
  number_axis,
  text_axis,  ///< each one of `choices` where there are any
  boolean_axis,
  quantity_axis,
  table,
  tables  ///< an array of them
};

inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// Rows are written with the functions of rows.hpp.
struct Key {
  std::string_view path;  ///< "strategy.tp", "traffic.class.name"; in the row of a KeyTable what follows its path
  KeyType type = KeyType::text;
  Kinds kinds = Kinds::all;
  // Bounds of numbers, of each of several, and of quantities in the unit that the reader holds them in.
  double low = 0.0;
  double high = unbounded;
  bool above_low = false;  ///< the lower bound itself is refused
  Dimension dimension{};   ///< of a quantity
  std::span<const std::string_view> choices{};
  bool any = false;            ///< an axis that knows "any"
  bool required = false;       ///< a document without it is refused, if it has the table that holds it
  std::string_view blank{};    ///< what a blank one means: follows "A blank means "
  std::string_view meaning{};  ///< a sentence
  std::string_view caution{};  ///< a sentence on what else must hold

  /// "tp" of "strategy.tp".
  [[nodiscard]] constexpr std::string_view name() const noexcept { return path.substr(path.rfind('.') + 1); }
  /// "strategy" of "strategy.tp"; empty for a key of the root.
  [[nodiscard]] constexpr std::string_view table() const noexcept {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
  }

  // The same row, with one thing more said of it.
  [[nodiscard]] constexpr Key of(Kinds which) const {
    Key key = *this;
    key.kinds = which;
    return key;
  }
  [[nodiscard]] constexpr Key needed() const {
    Key key = *this;
    key.required = true;
    return key;
  }
  [[nodiscard]] constexpr Key blank_is(std::string_view what) const {
    Key key = *this;
    key.blank = what;
    return key;
  }
  [[nodiscard]] constexpr Key says(std::string_view sentence) const {
    Key key = *this;
    key.meaning = sentence;
    return key;
  }
  [[nodiscard]] constexpr Key but(std::string_view sentence) const {
    Key key = *this;
    key.caution = sentence;
    return key;
  }
  [[nodiscard]] constexpr Key from(double least, double most) const {
    Key key = *this;
    key.low = least;
    key.high = most;
    key.above_low = false;
    return key;
  }
  [[nodiscard]] constexpr Key above(double least, double most) const {
    Key key = from(least, most);
    key.above_low = true;
    return key;
  }
  [[nodiscard]] constexpr Key or_one_of(std::span<const std::string_view> names) const {
    Key key = *this;
    key.choices = names;
    return key;
  }
  [[nodiscard]] constexpr Key or_any() const {
    Key key = *this;
    key.any = true;
    return key;
  }
};

/// Rows of one table of a scenario. Rows that several tables share stand once.
struct KeyTable {
  std::string_view path;  ///< "strategy"; of an array of tables the path of one of them; empty: the root
  Kinds kinds = Kinds::all;
  std::span<const Key> rows;
};

}  // namespace headroom
