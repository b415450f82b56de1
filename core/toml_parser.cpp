// SPDX-License-Identifier: Apache-2.0
// The only source that includes toml++. It is compiled with NDEBUG and without the unreachable sanitizer because the
// parser asserts on some malformed inputs that it then reports correctly.
#ifndef NDEBUG
#define NDEBUG
#endif
#include <headroom/core/config_reader.hpp>

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

Position position_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

/// Upper bound on the nesting of tables and arrays, as in JSON: documents are walked by recursion.
constexpr int deepest = 256;

/// Converts a toml++ node; `level` counts from 1. Throws ConfigError for nesting deeper than `deepest`.
ConfigValue convert(const toml::node& node, const std::shared_ptr<const std::string>& file, int level = 1) {
  ConfigValue value;
  value.file = file;
  value.at = position_of(node.source());
  if (level > deepest) {
    throw ConfigError{{Diagnostic{*file, value.at, "nested deeper than " + std::to_string(deepest) + " levels"}}};
  }
  if (const auto* table = node.as_table()) {
    // toml++ sorts tables by name; the tree keeps the order of the file.
    std::vector<std::pair<Position, toml::table::const_iterator>> written;
    written.reserve(table->size());
    for (auto entry = table->begin(); entry != table->end(); ++entry) {
      written.emplace_back(position_of(entry->first.source()), entry);
    }
    std::stable_sort(written.begin(), written.end(), [](const auto& a, const auto& b) {
      return std::pair{a.first.line, a.first.column} < std::pair{b.first.line, b.first.column};
    });
    for (const auto& [at, entry] : written) {
      ConfigValue converted = convert(entry->second, file, level + 1);
      converted.key_at = at;
      value.entries.emplace_back(std::string{entry->first.str()}, std::move(converted));
    }
  } else if (const auto* array = node.as_array()) {
    value.kind = ConfigValue::Kind::array;
    value.items.reserve(array->size());
    for (const toml::node& child : *array) {
      value.items.push_back(convert(child, file, level + 1));
    }
  } else if (const auto* text = node.as_string()) {
    value.kind = ConfigValue::Kind::text;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = ConfigValue::Kind::integer;
    value.integer = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    value.kind = ConfigValue::Kind::number;
    value.number = number->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.kind = ConfigValue::Kind::boolean;
    value.boolean = boolean->get();
  } else if (const auto* date = node.as_date()) {
    // A date without quotes means the same as a quoted one.
    value.kind = ConfigValue::Kind::text;
    std::array<char, 16> day{};
    std::snprintf(day.data(), day.size(), "%04d-%02d-%02d", int{date->get().year}, int{date->get().month},
                  int{date->get().day});
    value.text = day.data();
  } else {
    value.kind = ConfigValue::Kind::null;  // times of day, which no key takes
  }
  return value;
}

/// Counts the values of a text from what stands outside strings and comments, as the JSON reader does: a table, an
/// array and a scalar are one each, counted at the first character. Tables that only dotted keys open are counted apart
/// because such a key may name an existing table. Neither number exceeds what the text holds.
class ValueCount {
 public:
  /// Takes the next character; of a string only its first quote.
  void take(char c) {
    switch (c) {
      case ' ':
      case '\t':
      case '\r': break;
      case '\n':
        if (open_.empty()) {
          begin_key();
        }
        break;
      case '=': in_value_ = expects_ = true; break;
      case '[': take_bracket(); break;
      case '{':
        ++values_;
        open_.push_back(c);
        begin_key();
        break;
      case ',':
        if (!open_.empty() && open_.back() == '{') {
          begin_key();
        } else {
          expects_ = !open_.empty();
        }
        break;
      case ']':
      case '}':
        if (!open_.empty()) {
          open_.pop_back();
        }
        in_value_ = in_value_ || c == '}';
        expects_ = false;
        break;
      default: take_text(c);
    }
  }
  [[nodiscard]] std::size_t values() const noexcept { return values_; }
  [[nodiscard]] std::size_t dots() const noexcept { return all_dots_; }
  [[nodiscard]] std::size_t parts_of_key() const noexcept { return dots_ + 1; }

 private:
  void begin_key() { in_value_ = expects_ = in_header_ = false, dots_ = 0; }

  /// A bracket opens an array or the header of a table: [x] and [[x]] are one table each.
  void take_bracket() {
    values_ += in_value_ || !in_header_ ? 1 : 0;
    if (in_value_) {
      open_.push_back('[');
      expects_ = true;
    } else {
      in_header_ = true;
      dots_ = 0;
    }
  }

  void take_text(char c) {
    if (expects_) {
      ++values_;
      expects_ = false;
    } else if (c == '.' && !in_value_) {
      ++dots_;
      ++all_dots_;
    }
  }

  std::vector<char> open_;  ///< open brackets of values
  std::size_t values_ = 1;  ///< 1 for the document's own table
  std::size_t all_dots_ = 0;
  std::size_t dots_ = 0;  ///< dots of the key being read
  bool in_value_ = false;
  bool in_header_ = false;
  bool expects_ = false;  ///< the next character starts a value
};

/// Walks the text knowing only strings, comments and punctuation, and refuses what the parser is unsafe on: bytes
/// outside ASCII and control characters in syntax, more than `most_document_values` values, and keys so deep that
/// recursion over them would exhaust the stack.
class Screen {
 public:
  Screen(std::string_view text, const std::string& file) : text_{text}, file_{file} {}

  void run() {
    while (i_ < text_.size()) {
      const char c = text_[i_];
      if (c == '#') {
        while (i_ < text_.size() && text_[i_] != '\n') {
          step();
        }
      } else if (c == '"' || c == '\'') {
        count(c);
        skip_string(c);
      } else {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x7f || (byte < 0x20 && c != '\n' && c != '\t' && c != '\r')) {
          refuse("unexpected character " + quoted(text_.substr(i_, 1)) +
                 "; outside strings and comments only ASCII may stand");
        }
        count(c);
        step();
      }
    }
  }

 private:
  static constexpr std::size_t most_key_parts = 32;

  [[noreturn]] void refuse(std::string message) const {
    throw ConfigError{{Diagnostic{file_, at_, std::move(message)}}};
  }

  void count(char c) {
    count_.take(c);
    if (count_.values() > most_document_values) {
      refuse(too_many_values());
    }
    if (count_.dots() > most_document_values) {
      refuse("more than " + std::to_string(most_document_values) +
             " dots in keys, each of which may open a table; write tables under headers of their own");
    }
    if (count_.parts_of_key() > most_key_parts) {
      refuse("a key of more than " + std::to_string(most_key_parts) + " parts; no key of a document is so deep");
    }
  }

  void step() {
    const bool newline = text_[i_] == '\n';
    // UTF-8 continuation bytes are no columns of their own.
    const bool starts = (static_cast<unsigned char>(text_[i_]) >> 6) != 2;
    at_ = newline ? Position{at_.line + 1, 1} : Position{at_.line, at_.column + (starts ? 1 : 0)};
    ++i_;
  }
  void steps(std::size_t n) {
    for (; n > 0 && i_ < text_.size(); --n) {
      step();
    }
  }
  void skip_string(char quote) {
    const std::string triple(3, quote);
    const bool multi = text_.substr(i_, 3) == triple;
    steps(multi ? 3 : 1);
    while (i_ < text_.size()) {
      if (quote == '"' && text_[i_] == '\\') {
        steps(2);
      } else if (multi ? text_.substr(i_, 3) == triple : text_[i_] == quote) {
        steps(multi ? 3 : 1);
        return;
      } else if (!multi && text_[i_] == '\n') {
        return;  // unterminated; the parser reports it
      } else {
        step();
      }
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t i_ = 0;
  Position at_{1, 1};
  ValueCount count_;
};

std::string lower_first(std::string_view text) {
  std::string result{text};
  constexpr std::string_view prefix = "Error while parsing ";
  if (result.starts_with(prefix)) {
    result = "while parsing " + result.substr(prefix.size());
  } else if (!result.empty() && result.front() >= 'A' && result.front() <= 'Z') {
    result.front() = static_cast<char>(result.front() - 'A' + 'a');
  }
  return result;
}

}  // namespace

ConfigValue parse_toml(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  Screen{text, file}.run();
  try {
    const toml::table table = toml::parse(text, file);
    ConfigValue root = convert(table, std::make_shared<const std::string>(file));
    root.at = {1, 1};
    return root;
  } catch (const toml::parse_error& error) {
    throw ConfigError{{Diagnostic{file, position_of(error.source()), lower_first(error.description())}}};
  }
}

}  // namespace headroom
