// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace headroom {
namespace {

template <class T>
std::string bound_text(T value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}

template <class T>
std::string range_text(Range<T> range) {
  constexpr T far = T{1} << 52;
  if (range.high >= static_cast<T>(far)) {
    return "at least " + bound_text(range.low);
  }
  return bound_text(range.low) + " to " + bound_text(range.high);
}

template <>
std::string range_text(Range<double> range) {
  if (range.high >= 1e300) {
    return "at least " + bound_text(range.low);
  }
  return bound_text(range.low) + " to " + bound_text(range.high);
}

/// Describes the first unprintable character of a text; empty if there is none.
std::string unprintable_in(std::string_view text) {
  const std::optional<std::string_view> character = first_unprintable(text);
  return character ? "is " + quoted(text) + "; it must be one line of printable text, without " + quoted(*character)
                   : std::string{};
}

/// Whom KeyWatch has set.
thread_local const KeyWatch::Told* watching = nullptr;

ConfigValue load(const ConfigSource& source, const BaseResolver& resolve, std::vector<std::string>& chain) {
  ConfigValue root = parse_toml(source.text, source.file);
  const ConfigValue* base = root.find("base");
  if (base == nullptr) {
    return root;
  }
  const auto fail = [&](std::string message) -> ConfigError {
    return ConfigError{{Diagnostic{source.file, base->at, std::move(message)}}};
  };
  if (base->kind != ConfigValue::Kind::text) {
    throw fail("'base' must be a string with the id of an entry, not " + std::string{kind_name(base->kind)});
  }
  chain.push_back(source.file);
  const std::optional<ConfigSource> below = resolve(base->text, source.file);
  if (!below) {
    throw fail("base " + quoted(base->text) + " is unknown");
  }
  if (std::find(chain.begin(), chain.end(), below->file) != chain.end()) {
    throw fail("base " + quoted(base->text) + " leads back to " + below->file + ": bases form a cycle");
  }
  ConfigValue bottom = load(*below, resolve, chain);
  overlay(bottom, root);
  bottom.at = root.at;
  bottom.file = root.file;
  return bottom;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Splits "a.b.c" into its keys; the caller refuses empty ones.
std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> keys;
  while (true) {
    const std::size_t dot = path.find('.');
    keys.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) {
      return keys;
    }
    path.remove_prefix(dot + 1);
  }
}

ConfigValue override_value(std::string_view text, const std::string& name) {
  try {
    ConfigValue parsed = parse_toml("value = " + std::string{text}, name);
    if (parsed.entries.size() == 1) {
      return std::move(parsed.entries.front().value);
    }
  } catch (const ConfigError&) {  // NOLINT(bugprone-empty-catch): the exception is the answer.
    // Not a TOML value: a bare word such as a model's id, taken as a string below.
  }
  ConfigValue value;
  value.kind = ConfigValue::Kind::text;
  value.text = text;
  value.file = std::make_shared<const std::string>(name);
  return value;
}

void forget_positions(ConfigValue& value) {
  value.at = {};
  value.key_at = {};
  for (ConfigValue& item : value.items) {
    forget_positions(item);
  }
  for (auto& entry : value.entries) {
    forget_positions(entry.value);
  }
}

}  // namespace

ConfigValue load_with_bases(const ConfigSource& source, const BaseResolver& resolve) {
  std::vector<std::string> chain;
  return load(source, resolve, chain);
}

void apply_override(ConfigValue& root, std::string_view assignment, Diagnostics& diagnostics) {
  apply_override(root, Assignment{std::string{assignment}}, diagnostics);
}

void apply_override(ConfigValue& root, const Assignment& given, Diagnostics& diagnostics) {
  const std::string_view assignment = given.text;
  const std::size_t equals = assignment.find('=');
  const std::string_view path = trimmed(assignment.substr(0, equals));
  if (equals == std::string_view::npos || path.empty()) {
    diagnostics.add("--set", {}, quoted(assignment) + " is not of the form path.to.key=value, e.g. strategy.tp=8");
    return;
  }
  const std::vector<std::string> keys = split_path(path);
  ConfigValue* table = &root;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    ConfigValue* next = table->find(keys[i]);
    if (next == nullptr) {
      ConfigValue fresh;
      fresh.file = root.file;  // a table has no text of its own; the keys it lacks are missing from the document
      table->entries.emplace_back(keys[i], std::move(fresh));
      next = &table->entries.back().value;
    }
    if (next->kind != ConfigValue::Kind::table) {
      diagnostics.add("--set", {}, quoted(assignment) + ": " + quoted(keys[i]) + " is no table");
      return;
    }
    table = next;
  }
  ConfigValue value = override_value(trimmed(assignment.substr(equals + 1)), given.place);
  forget_positions(value);
  if (ConfigValue* old = table->find(keys.back())) {
    *old = std::move(value);
  } else {
    table->entries.emplace_back(keys.back(), std::move(value));
  }
}

ConfigTable::ConfigTable(const ConfigValue& table, std::string path, Diagnostics& diagnostics)
    : table_{&table}, path_{std::move(path)}, diagnostics_{&diagnostics} {}

const std::string& ConfigTable::file() const noexcept {
  static const std::string none;
  return table_->file ? *table_->file : none;
}

std::string ConfigTable::where() const {
  return path_.empty() ? "" : " in [" + path_ + "]";
}

bool ConfigTable::has(std::string_view key) const noexcept {
  return table_->find(key) != nullptr;
}

KeyWatch::KeyWatch(Told told) : told_{std::move(told)}, before_{watching} {
  watching = &told_;
}

KeyWatch::~KeyWatch() {
  watching = before_;
}

const ConfigValue* ConfigTable::value(std::string_view key) {
  asked_.emplace(key);
  if (watching != nullptr) {
    (*watching)(*this, key);
  }
  return table_->find(key);
}

const ConfigValue* ConfigTable::take(std::string_view key, bool required, std::string_view what) {
  const ConfigValue* found = value(key);
  if (found == nullptr && required) {
    missing(key, where() + ", " + std::string{what});
  }
  return found;
}

const ConfigValue* ConfigTable::take_kind(std::string_view key, ConfigValue::Kind kind, std::string_view what) {
  const ConfigValue* found = take(key, false, "");
  if (found != nullptr && found->kind != kind) {
    problem(key,
            "'" + std::string{key} + "' must be " + std::string{what} + ", not " + std::string{kind_name(found->kind)});
    return nullptr;
  }
  return found;
}

void ConfigTable::problem(std::string_view key, std::string message) {
  const ConfigValue* found = table_->find(key);
  const bool known = found != nullptr && found->file;
  diagnostics_->add(known ? *found->file : file(), found != nullptr ? found->at : table_->at, std::move(message));
}

void ConfigTable::missing(std::string_view key, std::string_view rest) {
  diagnostics_->add(
      Diagnostic{file(), table_->at, "missing key '" + std::string{key} + "'" + std::string{rest}, std::string{key}});
}

void ConfigTable::problem_at_key(std::string_view key, std::string message) {
  const ConfigValue* found = table_->find(key);
  const bool known = found != nullptr && found->file;
  diagnostics_->add(known ? *found->file : file(), found != nullptr ? found->key_at : table_->at, std::move(message));
}

std::optional<std::string> ConfigTable::maybe_text(std::string_view key) {
  const ConfigValue* found = take_kind(key, ConfigValue::Kind::text, "a string");
  if (found == nullptr) {
    return std::nullopt;
  }
  if (found->text.empty()) {
    problem(key, "'" + std::string{key} + "' is empty; write what it says between the quotes");
    return std::nullopt;
  }
  if (const std::string wrong = unprintable_in(found->text); !wrong.empty()) {
    problem(key, "'" + std::string{key} + "' " + wrong);
    return std::nullopt;
  }
  return found->text;
}

std::string ConfigTable::text(std::string_view key) {
  return take(key, true, "a string") == nullptr ? std::string{} : maybe_text(key).value_or("");
}

std::vector<std::string> ConfigTable::texts(std::string_view key) {
  std::vector<std::string> result;
  const ConfigValue* found = take(key, false, "");
  if (found == nullptr) {
    return result;
  }
  if (found->kind != ConfigValue::Kind::array) {
    problem(key, "'" + std::string{key} + "' must be an array of strings");
    return result;
  }
  for (const ConfigValue& item : found->items) {
    if (item.kind != ConfigValue::Kind::text) {
      diagnostics_->add(item.file ? *item.file : file(), item.at,
                        "'" + std::string{key} + "' must hold strings, not " + std::string{kind_name(item.kind)});
    } else if (const std::string wrong = unprintable_in(item.text); !wrong.empty()) {
      diagnostics_->add(item.file ? *item.file : file(), item.at, "'" + std::string{key} + "' " + wrong);
    } else {
      result.push_back(item.text);
    }
  }
  return result;
}

std::vector<std::int64_t> ConfigTable::integers(std::string_view key) {
  std::vector<std::int64_t> result;
  const ConfigValue* found = take(key, true, "an array of integers");
  if (found == nullptr) {
    return result;
  }
  if (found->kind != ConfigValue::Kind::array) {
    problem(key, "'" + std::string{key} + "' must be an array of integers");
    return result;
  }
  for (const ConfigValue& item : found->items) {
    if (item.kind != ConfigValue::Kind::integer) {
      diagnostics_->add(item.file ? *item.file : file(), item.at,
                        "'" + std::string{key} + "' must hold integers, not " + std::string{kind_name(item.kind)});
    } else {
      result.push_back(item.integer);
    }
  }
  return result;
}

std::optional<std::int64_t> ConfigTable::maybe_integer(std::string_view key, Range<std::int64_t> range) {
  const ConfigValue* found = take_kind(key, ConfigValue::Kind::integer, "an integer");
  if (found == nullptr) {
    return std::nullopt;
  }
  if (found->integer < range.low || found->integer > range.high) {
    problem(key,
            "'" + std::string{key} + "' is " + std::to_string(found->integer) + "; it must be " + range_text(range));
    return std::nullopt;
  }
  return found->integer;
}

std::int64_t ConfigTable::integer(std::string_view key, Range<std::int64_t> range) {
  const std::int64_t neutral = std::clamp<std::int64_t>(1, range.low, range.high);
  return take(key, true, "an integer") == nullptr ? neutral : maybe_integer(key, range).value_or(neutral);
}

std::optional<double> ConfigTable::maybe_number(std::string_view key, Range<double> range) {
  const ConfigValue* found = take(key, false, "");
  if (found == nullptr) {
    return std::nullopt;
  }
  if (found->kind != ConfigValue::Kind::number && found->kind != ConfigValue::Kind::integer) {
    problem(key, "'" + std::string{key} + "' must be a number, not " + std::string{kind_name(found->kind)});
    return std::nullopt;
  }
  const double number = found->kind == ConfigValue::Kind::integer ? static_cast<double>(found->integer) : found->number;
  if (!std::isfinite(number)) {
    problem(key, "'" + std::string{key} + "' is not a finite number");
    return std::nullopt;
  }
  if (number < range.low || number > range.high) {
    problem(key, "'" + std::string{key} + "' is " + bound_text(number) + "; it must be " + range_text(range));
    return std::nullopt;
  }
  return number;
}

double ConfigTable::number(std::string_view key, Range<double> range) {
  const double neutral = std::clamp(1.0, range.low, range.high);
  return take(key, true, "a number") == nullptr ? neutral : maybe_number(key, range).value_or(neutral);
}

std::optional<bool> ConfigTable::maybe_boolean(std::string_view key) {
  const ConfigValue* found = take_kind(key, ConfigValue::Kind::boolean, "true or false");
  if (found == nullptr) {
    return std::nullopt;
  }
  return found->boolean;
}

bool ConfigTable::boolean(std::string_view key) {
  return take(key, true, "true or false") != nullptr && maybe_boolean(key).value_or(false);
}

std::optional<std::size_t> ConfigTable::maybe_choice(std::string_view key, std::span<const std::string_view> names) {
  const std::optional<std::string> word = maybe_text(key);
  if (!word) {
    return std::nullopt;
  }
  const auto found = std::find(names.begin(), names.end(), *word);
  if (found == names.end()) {
    problem(key, "'" + std::string{key} + "' is " + quoted(*word) + "; it must be one of " + listed(names) +
                     suggestion(*word, names));
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - names.begin());
}

std::size_t ConfigTable::choice(std::string_view key, std::span<const std::string_view> names) {
  const std::string what = "one of " + listed(names);
  return take(key, true, what) == nullptr ? 0 : maybe_choice(key, names).value_or(0);
}

std::optional<double> ConfigTable::raw_quantity(std::string_view key,
                                                Dimension dimension,
                                                bool zero_allowed,
                                                bool required) {
  const std::string example = "\"" + std::string{example_of(dimension)} + "\"";
  const ConfigValue* found = take(key, required, "e.g. " + example);
  if (found == nullptr) {
    return std::nullopt;
  }
  if (found->kind == ConfigValue::Kind::integer || found->kind == ConfigValue::Kind::number) {
    problem(key, "'" + std::string{key} + "' needs a unit, e.g. " + example);
    return std::nullopt;
  }
  if (found->kind != ConfigValue::Kind::text) {
    problem(key, "'" + std::string{key} + "' must be a string with a unit, e.g. " + example + ", not " +
                     std::string{kind_name(found->kind)});
    return std::nullopt;
  }
  const std::variant<double, TextError> parsed = parse_quantity(found->text, dimension);
  if (const TextError* error = std::get_if<TextError>(&parsed)) {
    problem(key, "'" + std::string{key} + "': " + error->message);
    return std::nullopt;
  }
  const double number = std::get<double>(parsed);
  if (number < 0.0 || (number == 0.0 && !zero_allowed)) {
    problem(key, "'" + std::string{key} + "' is " + quoted(found->text) + "; it must be " +
                     (zero_allowed ? "zero or more" : "above zero"));
    return std::nullopt;
  }
  return number;
}

void ConfigTable::out_of_bounds(std::string_view key, const std::string& low, const std::string& high) {
  const ConfigValue* found = table_->find(key);
  problem(key, "'" + std::string{key} + "' is " + quoted(found != nullptr ? found->text : "") + "; it must be " + low +
                   high);
}

std::optional<ConfigTable> ConfigTable::maybe_table(std::string_view key) {
  const ConfigValue* found = take_kind(key, ConfigValue::Kind::table, "a table");
  if (found == nullptr) {
    return std::nullopt;
  }
  return ConfigTable{*found, path_.empty() ? std::string{key} : path_ + "." + std::string{key}, *diagnostics_};
}

ConfigTable ConfigTable::table(std::string_view key) {
  static const ConfigValue empty;
  take(key, true, "a table");
  std::optional<ConfigTable> found = maybe_table(key);
  if (found) {
    return *found;
  }
  // The getters of an absent table would only repeat the problem just reported, so they report into a sink.
  static thread_local Diagnostics sink;
  sink = {};
  return ConfigTable{empty, path_, sink};
}

std::vector<ConfigTable> ConfigTable::tables(std::string_view key) {
  std::vector<ConfigTable> result;
  const ConfigValue* found = take(key, false, "");
  if (found == nullptr) {
    return result;
  }
  if (found->kind != ConfigValue::Kind::array) {
    problem(key, "'" + std::string{key} + "' must be an array of tables, written [[" + std::string{key} + "]]");
    return result;
  }
  const std::string path = path_.empty() ? std::string{key} : path_ + "." + std::string{key};
  for (std::size_t i = 0; i < found->items.size(); ++i) {
    const ConfigValue& item = found->items[i];
    if (item.kind != ConfigValue::Kind::table) {
      diagnostics_->add(item.file ? *item.file : file(), item.at,
                        "'" + std::string{key} + "' must hold tables, not " + std::string{kind_name(item.kind)});
    } else {
      result.emplace_back(item, path + "[" + std::to_string(i) + "]", *diagnostics_);
    }
  }
  return result;
}

std::vector<std::string_view> ConfigTable::keys() const {
  std::vector<std::string_view> result;
  result.reserve(table_->entries.size());
  for (const auto& entry : table_->entries) {
    result.push_back(entry.key);
  }
  return result;
}

void ConfigTable::finish() {
  // Suggest absent keys first: a key that is already present is the less likely correction.
  std::vector<std::string_view> known(asked_.begin(), asked_.end());
  std::stable_partition(known.begin(), known.end(), [&](std::string_view key) { return !has(key); });
  for (const ConfigEntry& entry : table_->entries) {
    if (!asked_.contains(entry.key)) {
      diagnostics_->add(entry.value.file ? *entry.value.file : file(), entry.value.key_at,
                        [&] { return "unknown key " + quoted(entry.key) + where() + suggestion(entry.key, known); });
    }
  }
}

void require_schema(ConfigTable& root, std::int64_t supported) {
  const std::optional<std::int64_t> schema = root.maybe_integer("schema");
  if (!schema) {
    if (!root.has("schema")) {
      root.missing("schema", "; write schema = " + std::to_string(supported) + " first");
    }
  } else if (*schema != supported) {
    root.problem("schema", "schema " + std::to_string(*schema) + " is unknown; this version reads schema " +
                               std::to_string(supported));
  }
}

}  // namespace headroom
