// SPDX-License-Identifier: Apache-2.0
// Strict reading of configuration. Keys that are never read are errors, and all problems of a file are reported
// together.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/quantity_text.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// Parses TOML 1.0. Throws ConfigError at the first syntax error: the parser cannot continue after one.
[[nodiscard]] ConfigValue parse_toml(std::string_view text, const std::string& file);

/// Finds the source that `base = "ID"` names in `file`; nullopt if there is no such base.
using BaseResolver = std::function<std::optional<ConfigSource>(std::string_view id, const std::string& file)>;

/// Parses `source` and overlays it on its chain of bases. ConfigError if a base is unknown or the chain cyclic.
[[nodiscard]] ConfigValue load_with_bases(const ConfigSource& source, const BaseResolver& resolve);

/// "path.to.key=value" as it was typed.
struct Assignment {
  std::string text;
  std::string place;  ///< of its value's problems: "--set strategy.tp=8", "--tp 8"

  explicit Assignment(std::string set) : text{std::move(set)}, place{"--set " + text} {}
  Assignment(std::string assigned, std::string typed_as) : text{std::move(assigned)}, place{std::move(typed_as)} {}
};

/// Sets the assigned key. The value is parsed as TOML; if that fails it is taken as a string, so that `--set
/// model=llama3-70b` needs no inner quotes. An assignment that is none is a problem of the file name "--set".
void apply_override(ConfigValue& root, const Assignment& assignment, Diagnostics& diagnostics);
void apply_override(ConfigValue& root, std::string_view assignment, Diagnostics& diagnostics);

/// Inclusive bounds of a number or a quantity.
template <class T>
struct Range {
  T low = std::numeric_limits<T>::lowest();
  T high = std::numeric_limits<T>::max();
};
/// Default bounds of integers. 2^52 keeps every accepted integer exact as a double.
inline constexpr Range<std::int64_t> positive{1, std::int64_t{1} << 52};
inline constexpr Range<std::int64_t> not_negative{0, std::int64_t{1} << 52};

/// A cursor on one table of a document, which must outlive it. A getter without "maybe" in its name adds a diagnostic
/// when the key is missing and returns a neutral value, so that reading continues and every problem is found: check
/// Diagnostics before using any value. Every getter marks its key as read.
class ConfigTable {
 public:
  ConfigTable(const ConfigValue& table, std::string path, Diagnostics& diagnostics);

  [[nodiscard]] bool has(std::string_view key) const noexcept;
  [[nodiscard]] Position at() const noexcept { return table_->at; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& file() const noexcept;
  [[nodiscard]] Diagnostics& diagnostics() const noexcept { return *diagnostics_; }

  std::string text(std::string_view key);
  std::optional<std::string> maybe_text(std::string_view key);
  std::vector<std::string> texts(std::string_view key);      ///< Array of strings; empty if the key is missing.
  std::vector<std::int64_t> integers(std::string_view key);  ///< Array of integers; a missing key is a diagnostic.
  std::int64_t integer(std::string_view key, Range<std::int64_t> range = positive);
  std::optional<std::int64_t> maybe_integer(std::string_view key, Range<std::int64_t> range = positive);
  std::optional<double> maybe_number(std::string_view key, Range<double> range);
  double number(std::string_view key, Range<double> range);
  std::optional<bool> maybe_boolean(std::string_view key);
  bool boolean(std::string_view key);

  /// The index of the value in `names`. The diagnostic for any other word lists the names.
  std::size_t choice(std::string_view key, std::span<const std::string_view> names);
  std::optional<std::size_t> maybe_choice(std::string_view key, std::span<const std::string_view> names);

  /// A physical quantity, written as a string with a unit. Must be positive, or zero if `zero_allowed`.
  template <class Q>
  Q quantity(std::string_view key, bool zero_allowed = false) {
    return Q{raw_quantity(key, dimension_of<Q>, zero_allowed, true).value_or(1.0)};
  }
  template <class Q>
  std::optional<Q> maybe_quantity(std::string_view key, bool zero_allowed = false) {
    const std::optional<double> raw = raw_quantity(key, dimension_of<Q>, zero_allowed, false);
    return raw ? std::optional<Q>{Q{*raw}} : std::nullopt;
  }

  /// A physical quantity within inclusive bounds. Zero is allowed where the lower bound is zero.
  template <class Q>
  Q quantity(std::string_view key, Range<Q> range) {
    return within(key, raw_quantity(key, dimension_of<Q>, range.low == Q{}, true), range).value_or(range.high);
  }
  template <class Q>
  std::optional<Q> maybe_quantity(std::string_view key, Range<Q> range) {
    return within(key, raw_quantity(key, dimension_of<Q>, range.low == Q{}, false), range);
  }

  std::optional<ConfigTable> maybe_table(std::string_view key);
  ConfigTable table(std::string_view key);  ///< A missing key is a diagnostic; the result is then an empty table.
  std::vector<ConfigTable> tables(std::string_view key);

  /// Keys in file order, without marking them as read: for tables whose keys are data (dtypes, source tags).
  [[nodiscard]] std::vector<std::string_view> keys() const;
  /// The raw value of a key, marked as read; nullptr if the key is missing.
  const ConfigValue* value(std::string_view key);

  /// Adds a problem at the value of `key`, or at the table if the key is missing.
  void problem(std::string_view key, std::string message);
  /// The problem of a key that is not there, at the table: "missing key 'gpu'" and what follows.
  void missing(std::string_view key, std::string_view rest);
  /// Adds a problem at the key itself instead of its value.
  void problem_at_key(std::string_view key, std::string message);

  /// Reports every key that was never read as "unknown key ..." with the nearest known key. Call last.
  void finish();

 private:
  const ConfigValue* take(std::string_view key, bool required, std::string_view what);
  /// The value where it is there and of that kind; a problem and nullptr for one of another kind.
  const ConfigValue* take_kind(std::string_view key, ConfigValue::Kind kind, std::string_view what);
  std::optional<double> raw_quantity(std::string_view key, Dimension dimension, bool zero_allowed, bool required);
  template <class Q>
  std::optional<Q> within(std::string_view key, std::optional<double> raw, Range<Q> range) {
    if (raw && (Q{*raw} < range.low || Q{*raw} > range.high)) {
      out_of_bounds(key, range.low == Q{} ? "at most " : format(range.low) + " to ", format(range.high));
      return std::nullopt;
    }
    return raw ? std::optional<Q>{Q{*raw}} : std::nullopt;
  }
  void out_of_bounds(std::string_view key, const std::string& low, const std::string& high);
  [[nodiscard]] std::string where() const;

  const ConfigValue* table_;
  std::string path_;
  Diagnostics* diagnostics_;
  std::set<std::string, std::less<>> asked_;
};

/// While it lives, told of every key that a table is asked for on this thread, there or not: for tests that hold a
/// reader against what is said of its keys.
class KeyWatch {
 public:
  using Told = std::function<void(const ConfigTable& table, std::string_view key)>;
  explicit KeyWatch(Told told);
  ~KeyWatch();
  KeyWatch(const KeyWatch&) = delete;
  KeyWatch& operator=(const KeyWatch&) = delete;

 private:
  Told told_;
  const Told* before_;
};

/// Reports a problem unless the root of a document states `schema` = `supported`.
void require_schema(ConfigTable& root, std::int64_t supported = 1);

}  // namespace headroom
