// SPDX-License-Identifier: Apache-2.0
// A strict reader of the part of YAML that is written here: documents of block maps and lists; plain words,
// double-quoted texts, literal blocks, {} and []. Anything else is an error, because another reader could take it
// differently.
#pragma once

#include <headroom/core/config_value.hpp>

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::test {

class YamlReader {
 public:
  explicit YamlReader(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos) {
        throw std::runtime_error{"the last line does not end"};
      }
      const std::string_view line = text.substr(0, end);
      if (!line.starts_with("#")) {
        lines_.push_back({line.find_first_not_of(' '), std::string{line}});
      }
      text.remove_prefix(end + 1);
    }
  }

  std::vector<ConfigValue> documents() {
    std::vector<ConfigValue> all;
    while (at_ < lines_.size()) {
      all.push_back(node(0));
      if (at_ < lines_.size() && lines_[at_++].text != "---") {
        refuse("neither deeper nor a document's end");
      }
    }
    return all;
  }

 private:
  struct Line {
    std::size_t indent;
    std::string text;
  };

  [[noreturn]] void refuse(const std::string& why) const {
    throw std::runtime_error{why + ": line " + std::to_string(at_) +
                             (at_ < lines_.size() ? ": " + lines_[at_].text : "")};
  }
  [[nodiscard]] bool here(std::size_t indent) const {
    return at_ < lines_.size() && lines_[at_].indent == indent && lines_[at_].text != "---";
  }
  [[nodiscard]] std::string_view rest(std::size_t indent) const {
    return std::string_view{lines_[at_].text}.substr(indent);
  }

  ConfigValue node(std::size_t indent) {
    if (!here(indent)) {
      refuse("nothing at its indentation");
    }
    return rest(indent).starts_with("-") && (rest(indent) == "-" || rest(indent)[1] == ' ') ? list(indent)
                                                                                            : map(indent);
  }

  ConfigValue list(std::size_t indent) {
    ConfigValue value;
    value.kind = ConfigValue::Kind::array;
    while (here(indent) && rest(indent).starts_with("- ")) {
      const std::string item{rest(indent).substr(2)};
      if (key_length(item) > 0) {
        lines_[at_] = {indent + 2, std::string(indent + 2, ' ') + item};
        value.items.push_back(map(indent + 2));
      } else if (item.starts_with("- ")) {
        refuse("a list in a list");
      } else {
        ++at_;
        value.items.push_back(scalar(item, indent));
      }
    }
    return value;
  }

  ConfigValue map(std::size_t indent) {
    ConfigValue value;
    while (here(indent)) {
      const std::string line{rest(indent)};
      const std::size_t length = key_length(line);
      if (length == 0) {
        refuse("no key");
      }
      const std::string key = scalar(line.substr(0, length), indent).text;
      if (value.find(key) != nullptr) {
        refuse("a key said twice");
      }
      ++at_;
      const std::string behind = line.substr(length + 1);
      if (behind.empty()) {
        value.entries.emplace_back(key, node(indent + 2));
      } else if (behind.front() != ' ') {
        refuse("no blank behind a key");
      } else {
        value.entries.emplace_back(key, scalar(behind.substr(1), indent));
      }
    }
    return value;
  }

  /// Length of the key that starts the text, before its colon; 0 when none does.
  static std::size_t key_length(const std::string& text) {
    std::size_t end = 0;
    if (text.starts_with("\"")) {
      for (end = 1; end < text.size() && text[end] != '"'; ++end) {
        end += text[end] == '\\' ? 1 : 0;
      }
      ++end;
    } else {
      end = std::min(text.find(':'), text.size());
    }
    const bool key = end < text.size() && text[end] == ':' && (end + 1 == text.size() || text[end + 1] == ' ');
    return key ? end : 0;
  }

  ConfigValue scalar(const std::string& text, std::size_t indent) {
    if (text == "{}") {
      return {};
    }
    if (text == "[]") {
      ConfigValue empty;
      empty.kind = ConfigValue::Kind::array;
      return empty;
    }
    if (text == "|") {
      return literal(indent + 2);
    }
    if (text == "true" || text == "false") {
      return flag_value(text == "true");
    }
    if (text.starts_with("\"")) {
      return quoted_text(text);
    }
    if (text.find_first_not_of("0123456789") == std::string::npos && !text.empty()) {
      return count_value(std::stoll(text));
    }
    if (text.find_first_not_of("0123456789.") == std::string::npos && !text.empty()) {
      return number_value(std::stod(text));
    }
    const std::size_t first = text.find_first_not_of('-');
    bool plain = first <= 2 && std::isalpha(static_cast<unsigned char>(text[first])) != 0;
    for (const char c : text) {
      plain = plain && (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                        std::string_view{"-_./"}.find(c) != std::string_view::npos);
    }
    if (!plain || text == "null" || text == "yes" || text == "no" || text == "on" || text == "off" || text == "y" ||
        text == "n") {
      refuse("'" + text + "' is not safe without quotes");
    }
    return word_value(text);
  }

  ConfigValue literal(std::size_t indent) {
    std::string text;
    while (at_ < lines_.size() && lines_[at_].indent >= indent && lines_[at_].indent != std::string::npos) {
      text += lines_[at_++].text.substr(indent) + "\n";
    }
    return word_value(text);
  }

  ConfigValue quoted_text(const std::string& text) {
    std::string read;
    std::size_t i = 1;
    for (; i < text.size() && text[i] != '"'; ++i) {
      if (static_cast<unsigned char>(text[i]) < 0x20) {
        refuse("a control character");
      }
      if (text[i] != '\\') {
        read += text[i];
        continue;
      }
      const char kind = text.at(++i);
      if (kind == '"' || kind == '\\') {
        read += kind;
      } else if (kind == 'x') {
        read += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
        i += 2;
      } else if (kind == 'u' && text.substr(i + 1, 4) == "FFFD") {
        read += "\xEF\xBF\xBD";
        i += 4;
      } else {
        refuse("an unknown escape");
      }
    }
    if (i + 1 != text.size()) {
      refuse("text behind its quotes");
    }
    return word_value(read);
  }

  std::vector<Line> lines_;
  std::size_t at_ = 0;
};

inline std::vector<ConfigValue> read_yaml(std::string_view text) {
  return YamlReader{text}.documents();
}

/// The value below keys and indices: at(document, {"spec", "0"}); throws where it is not.
inline const ConfigValue& at(const ConfigValue& root, std::initializer_list<std::string_view> path) {
  const ConfigValue* value = &root;
  for (const std::string_view part : path) {
    const bool index = value->kind == ConfigValue::Kind::array;
    const ConfigValue* next = index ? &value->items.at(std::stoul(std::string{part})) : value->find(part);
    if (next == nullptr) {
      throw std::runtime_error{"no '" + std::string{part} + "'"};
    }
    value = next;
  }
  return *value;
}

}  // namespace headroom::test
