// SPDX-License-Identifier: Apache-2.0
// One key of a scenario as a row of a table: the type and bounds of its value, and the meaning of its absence.
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

/// Set of kinds of questions that may state a key, one bit a kind; `modelled`: those of one model; `served`, `batches`:
/// those that serve a language model, those that the word batch asks; `all`: those of one SKU. A cluster has questions
/// instead. `any`: of a row, all that its table is of.
enum class Kinds : std::uint16_t {
  none = 0,
  train = 1,
  serve = 2,
  network = 4,
  training = 5,
  placed = 7,
  batch = 8,
  token_job = 16,
  served = 18,
  batches = 24,
  modelled = 31,
  sharing = 32,
  all = 831,
  cluster = 128,
  post_train = 256,
  classic = 512,
  any = 65535
};
[[nodiscard]] constexpr Kinds operator&(Kinds a, Kinds b) noexcept {
  return static_cast<Kinds>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
[[nodiscard]] constexpr Kinds operator|(Kinds a, Kinds b) noexcept {
  return static_cast<Kinds>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool meet(Kinds a, Kinds b) noexcept {
  return (a & b) != Kinds::none;
}

/// Words of `kind` with the questions that each may ask. A document of any but the first two is a kind of its own
/// (answers/door).
struct KindWord {
  std::string_view word;
  Kinds kinds;
};
inline constexpr std::array kind_words{KindWord{"train", Kinds::training},       KindWord{"serve", Kinds::serve},
                                       KindWord{"batch", Kinds::batches},        KindWord{"sharing", Kinds::sharing},
                                       KindWord{"cluster", Kinds::cluster},      KindWord{"classic", Kinds::classic},
                                       KindWord{"post_train", Kinds::post_train}};
/// Kinds::none: an unknown word.
[[nodiscard]] constexpr Kinds kinds_of_word(std::string_view word) noexcept {
  for (const KindWord& known : kind_words) {
    if (known.word == word) {
      return known.kinds;
    }
  }
  return Kinds::none;
}

/// Kinds of questions as descriptions tell them.
struct KindName {
  Kinds kind;
  std::string_view name;
};
inline constexpr std::array kind_names{KindName{Kinds::train, "training"},
                                       KindName{Kinds::serve, "serving"},
                                       KindName{Kinds::network, "networks of ops"},
                                       KindName{Kinds::batch, "batch inference"},
                                       KindName{Kinds::token_job, "jobs of language models"},
                                       KindName{Kinds::sharing, "tenants of one card"},
                                       KindName{Kinds::cluster, "clusters"},
                                       KindName{Kinds::classic, "classic machine learning"},
                                       KindName{Kinds::post_train, "post-training"}};
inline constexpr Kinds every_kind = [] {
  Kinds every = Kinds::none;
  for (const KindName& known : kind_names) {
    every = every | known.kind;
  }
  return every;
}();

/// Type of a key's value.
enum class KeyType : std::uint8_t {
  integer,
  number,
  boolean,
  text,        ///< any; `choices` are examples
  choice,      ///< one of `choices`
  quantity,    ///< text with a unit, or one of `choices`
  percentage,  ///< "5 %"
  month,       ///< "2026-08" or "2026-08-15"
  date,        ///< "2026-08-15"
  deadline,    ///< a time with its unit, or a date
  model,       ///< an id, a path, or a table of its own form (docs/catalog-format.md)
  integers,
  texts,  ///< each one of `choices` where there are any
  // Values of an axis of [search]: a list, a single value, or "any" where the row allows it; of numbers also a range
  // such as "1..8 x2".
  number_axis,
  real_axis,
  text_axis,  ///< each one of `choices` where there are any
  boolean_axis,
  quantity_axis,
  table,
  tables,  ///< an array of them
  // Tables whose keys are names of the document: of texts, of whole numbers.
  text_map,
  count_map
};

inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// Origin of a key's value, as KeyOrigin in include/headroom/headroom.hpp documents each.
enum class KeySource : std::uint8_t { stated, checkpoint, publication, standard, unknown };

/// Rows are written with the functions of rows.hpp.
struct Key {
  std::string_view path;  ///< whole, "strategy.tp"; in a row of a KeyTable the last part alone, "tp"
  KeyType type = KeyType::text;
  Kinds kinds = Kinds::any;  ///< of those of its table
  // Bounds of a number, of each number of a list, and of a quantity in its SI unit.
  double low = 0.0;
  double high = unbounded;
  bool above_low = false;      ///< whether a value must be above `low`; else it may equal it
  Dimension dimension{};       ///< of a quantity
  std::string_view example{};  ///< of a quantity, where that of its dimension speaks of something else
  std::span<const std::string_view> choices{};
  bool any = false;       ///< whether an axis takes "any"
  bool length = false;    ///< whether it holds tokens of a sequence or of a step: k is 1024 of them, of all else 1000
  bool required = false;  ///< whether its table may not lack it
  /// Default of an absent key, if it is a constant: a number in the unit of the bounds, the place of a choice, 1 for
  /// true. Of text the default is `blank`.
  std::optional<double> usual{};
  KeySource source = KeySource::unknown;  ///< where the value of an absent key comes from
  std::string_view source_named_by{};     ///< key, of the same table or a whole path, without which `source` is unknown
  std::string_view blank{};               ///< phrase: what an absent key means, where `usual` does not say it
  std::string_view meaning{};             ///< sentence: what the key is
  std::string_view caution{};             ///< sentences: what else must hold, and what to know of it
  std::string_view refusal{};             ///< clause printed in place of the bounds when a value is outside of them
  // The command-line option with the same meaning: "--tp", its value's name "N", and its help; empty: none.
  std::string_view option{}, option_value{}, option_help{};

  /// "tp" of "strategy.tp".
  [[nodiscard]] constexpr std::string_view name() const noexcept { return path.substr(path.rfind('.') + 1); }
  /// "strategy" of "strategy.tp"; empty for a key of the root.
  [[nodiscard]] constexpr std::string_view table() const noexcept {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
  }

  // Each of the following returns a copy of the row with one member set.
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
  /// A default of text that is always the same.
  [[nodiscard]] constexpr Key usually_named(std::string_view text, KeySource where = KeySource::standard) const {
    Key key = usually(0.0);
    key.source = where;
    key.blank = text;
    return key;
  }
  /// A default that depends on other keys, on the software or on the catalog, as a phrase.
  [[nodiscard]] constexpr Key blank_is(std::string_view what) const { return blank_from(KeySource::standard, what); }
  /// No default: an absent key means that `what` holds.
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
  /// The default is taken from what key `other` names; without `other` there is no default.
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

/// Origin of a key's value in a document that asks a question of `kind`, a single kind.
[[nodiscard]] KeySource source_of(const ConfigValue& document, const Key& key, Kinds kind);

/// Meaning of an absent key as a phrase: "1", "the software's"; empty for a key that is required.
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
