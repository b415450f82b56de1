// SPDX-License-Identifier: Apache-2.0
// The only file that sees toml++. It is compiled with NDEBUG and without the unreachable sanitizer: the parser asserts
// on some malformed inputs that it goes on to report correctly.
#ifndef NDEBUG
#define NDEBUG
#endif
#include <headroom/core/config_reader.hpp>

#include <toml++/toml.h>

#include <array>
#include <cmath>
#include <cstdio>

namespace headroom {
namespace {

Position position_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

ConfigValue convert(const toml::node& node, const std::shared_ptr<const std::string>& file) {
  ConfigValue value;
  value.file = file;
  value.at = position_of(node.source());
  if (const auto* table = node.as_table()) {
    for (const auto& [key, child] : *table) {
      ConfigValue converted = convert(child, file);
      converted.key_at = position_of(key.source());
      value.entries.emplace_back(std::string{key.str()}, std::move(converted));
    }
    // toml++ keeps tables sorted by name; files are read in the order they were written.
    std::stable_sort(value.entries.begin(), value.entries.end(), [](const auto& a, const auto& b) {
      return std::pair{a.value.key_at.line, a.value.key_at.column} <
             std::pair{b.value.key_at.line, b.value.key_at.column};
    });
  } else if (const auto* array = node.as_array()) {
    value.kind = ConfigValue::Kind::array;
    for (const toml::node& child : *array) {
      value.items.push_back(convert(child, file));
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
    // A date without quotes means the same as one with them.
    value.kind = ConfigValue::Kind::text;
    std::array<char, 16> day{};
    std::snprintf(day.data(), day.size(), "%04d-%02d-%02d", int{date->get().year}, int{date->get().month},
                  int{date->get().day});
    value.text = day.data();
  } else {
    value.kind = ConfigValue::Kind::null;  // times of day: nothing of ours takes one
  }
  return value;
}

/// Walks the text knowing only strings and comments, and refuses what the parser is not safe on: bytes outside ASCII
/// and control characters where only syntax may stand.
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
        skip_string(c);
      } else {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x7f || (byte < 0x20 && c != '\n' && c != '\t' && c != '\r')) {
          throw ConfigError{{Diagnostic{file_, at_,
                                        "unexpected character " + quoted(text_.substr(i_, 1)) +
                                            "; outside strings and comments only ASCII may stand"}}};
        }
        step();
      }
    }
  }

 private:
  void step() {
    const bool newline = text_[i_] == '\n';
    // Continuation bytes of UTF-8 are no columns of their own.
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
        return;  // unterminated: the parser says so
      } else {
        step();
      }
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t i_ = 0;
  Position at_{1, 1};
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
