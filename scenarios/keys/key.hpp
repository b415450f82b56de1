// SPDX-License-Identifier: Apache-2.0
// One key of a scenario as a row of a table: what it takes, within which bounds, what a blank one means.
#pragma once

#include <headroom/core/quantity_text.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headroom {

struct ConfigValue;

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

/// Where the value of a key comes from: KeyOrigin of the library's public face, which tells what each means.
enum class KeySource : std::uint8_t { stated, checkpoint, publication, standard, unknown };

/// Rows are written with the functions of rows.hpp.
struct Key {
  std::string_view path;  ///< "strategy.tp", "traffic.class.name"; in the row of a KeyTable what follows its path
  KeyType type = KeyType::text;
  Kinds kinds = Kinds::all;
  // Bounds of numbers, of each of several, and of quantities in the unit that the reader holds them in.
  double low = 0.0;
  double high = unbounded;
  bool above_low = false;      ///< the lower bound itself is refused
  Dimension dimension{};       ///< of a quantity
  std::string_view example{};  ///< of a quantity, where that of its dimension speaks of something else
  std::span<const std::string_view> choices{};
  bool any = false;       ///< an axis that knows "any"
  bool length = false;    ///< tokens of a sequence or of a step: k is 1024 of them, of all else 1000
  bool required = false;  ///< a document without it is refused, if it has the table that holds it
  /// What a blank one is, where that is always the same: a number in the unit of the bounds, the place of a choice, 1
  /// for true; of text it is `blank`.
  std::optional<double> usual{};
  KeySource source = KeySource::unknown;  ///< of a blank one
  std::string_view source_named_by{};     ///< the key that must be stated for it, of the same table or a whole path
  std::string_view blank{};               ///< what a blank one means, where `usual` does not say it: a phrase
  std::string_view meaning{};             ///< a sentence
  std::string_view caution{};             ///< sentences on what else must hold, and what to know of it
  std::string_view refusal{};             ///< what a value outside of the bounds is told, in place of them: a clause
  // The option of the quick form that is another spelling of it: "--tp", "N" and its help; empty: there is none.
  std::string_view option{}, option_value{}, option_help{};

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
  /// A default that is always the same.
  [[nodiscard]] constexpr Key usually(double value) const {
    Key key = *this;
    key.usual = value;
    key.source = KeySource::standard;
    return key;
  }
  /// The same of text.
  [[nodiscard]] constexpr Key usually_named(std::string_view text, KeySource where = KeySource::standard) const {
    Key key = usually(0.0);
    key.source = where;
    key.blank = text;
    return key;
  }
  /// One that hangs on other keys, on the software or on the catalog.
  [[nodiscard]] constexpr Key blank_is(std::string_view what) const { return blank_from(KeySource::standard, what); }
  /// Nothing stands for it.
  [[nodiscard]] constexpr Key or_nothing(std::string_view what) const { return blank_from(KeySource::unknown, what); }
  [[nodiscard]] constexpr Key blank_from(KeySource where, std::string_view what) const {
    Key key = *this;
    key.source = where;
    key.blank = what;
    return key;
  }
  [[nodiscard]] constexpr Key such_as(std::string_view text) const {
    Key key = *this;
    key.example = text;
    return key;
  }
  [[nodiscard]] constexpr Key of_tokens() const {
    Key key = *this;
    key.length = true;
    return key;
  }
  /// What a blank one is taken from is named by another key: without that nothing stands for it.
  [[nodiscard]] constexpr Key named_by(std::string_view other) const {
    Key key = *this;
    key.source_named_by = other;
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
  [[nodiscard]] constexpr Key refused_as(std::string_view clause) const {
    Key key = *this;
    key.refusal = clause;
    return key;
  }
  [[nodiscard]] constexpr Key typed_as(std::string_view option_name,
                                       std::string_view value_name,
                                       std::string_view help) const {
    Key key = *this;
    key.option = option_name;
    key.option_value = value_name;
    key.option_help = help;
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

/// Where the value of a key of a document comes from, of a question of that one kind.
[[nodiscard]] KeySource source_of(const ConfigValue& document, const Key& key, Kinds kind);

/// What a blank one means, as a phrase: "1", "the software's"; empty for a key that is required.
[[nodiscard]] std::string blank_text(const Key& key);

/// Rows of one table of a scenario, in the order in which people write them.
struct KeyTable {
  std::string_view path;  ///< "strategy"; of an array of tables the path of one of them; empty: the root
  Kinds kinds = Kinds::all;
  std::span<const Key> rows;

  /// "prefill" of "fleet.prefill".
  [[nodiscard]] constexpr std::string_view name() const noexcept { return path.substr(path.rfind('.') + 1); }
};

}  // namespace headroom
