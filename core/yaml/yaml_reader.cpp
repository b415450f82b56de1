// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/yaml/yaml_reader.hpp>
#include <headroom/core/yaml/yaml_scalar.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <utility>

namespace headroom {
namespace {

constexpr int deepest_yaml = 256;

bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t';
}

class YamlParser {
 public:
  YamlParser(std::string_view text, const std::string& file)
      : text_{text}, file_{std::make_shared<const std::string>(file)} {}

  ConfigValue document() {
    check_bytes();
    next_content();
    if (rest_starts("---")) {
      pos_ += 3;
      next_content();
    }
    if (at_end()) {
      fail("is empty: a document holds a mapping");
    }
    const std::size_t column = indent();
    ConfigValue root = node(-1);
    if (root.kind != ConfigValue::Kind::table) {
      fail_at(root.at, "is " + std::string{kind_name(root.kind)} + "; the document must be a mapping, 'key: value'");
    }
    next_content();
    if (rest_starts("...")) {
      pos_ += 3;
      next_content();
    }
    if (!at_end()) {
      fail(rest_starts("---")  ? "starts another document; a file holds one"
           : indent() < column ? "is indented less than the document's first key"
                               : "stands behind the document; keys of one mapping are indented alike");
    }
    problems_.throw_if_any();
    return root;
  }

 private:
  [[noreturn]] void fail_at(Position at, std::string why) {
    problems_.add(*file_, at, std::move(why));
    problems_.throw_if_any();
    throw ConfigError{"no problem"};  // not reached
  }
  [[noreturn]] void fail(std::string why) { fail_at(here(), std::move(why)); }

  [[nodiscard]] bool at_end() const noexcept { return pos_ >= text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const noexcept {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\n';
  }
  [[nodiscard]] bool rest_starts(std::string_view word) const noexcept {
    return pos_ == line_start_ && text_.substr(pos_).starts_with(word) &&
           (pos_ + word.size() >= text_.size() || is_blank(text_[pos_ + word.size()]) ||
            text_[pos_ + word.size()] == '\n' || text_[pos_ + word.size()] == '\r');
  }
  [[nodiscard]] std::size_t indent() const noexcept { return pos_ - line_start_; }
  [[nodiscard]] bool line_ends() const noexcept { return at_end() || peek() == '\n' || peek() == '\r'; }
  /// Counted on from the last place on this line, so that a line of many values is walked once.
  [[nodiscard]] Position here() {
    if (counted_line_ != line_ || counted_ > pos_) {
      counted_line_ = line_;
      counted_ = line_start_;
      column_ = 1;
    }
    for (; counted_ < std::min(pos_, text_.size()); ++counted_) {
      column_ += (static_cast<unsigned char>(text_[counted_]) >> 6) != 2 ? 1 : 0;
    }
    return {line_, column_};
  }

  void check_bytes() {
    int line = 1;
    int column = 1;
    for (std::size_t i = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0; i < text_.size();) {
      const std::size_t length = utf8_length(text_.substr(i));
      const auto byte = static_cast<unsigned char>(text_[i]);
      if (length == 0 || (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7F) {
        fail_at({line, column}, length == 0 ? "is not UTF-8 here" : "holds a control character here");
      }
      line += byte == '\n' ? 1 : 0;
      column = byte == '\n' ? 1 : column + 1;
      i += length;
    }
    pos_ = line_start_ = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  }

  void skip_blanks() {
    while (is_blank(peek())) {
      ++pos_;
    }
  }
  void new_line() {
    pos_ += !at_end() && peek() == '\r' ? 1 : 0;
    pos_ += at_end() ? 0 : 1;
    line_start_ = pos_;
    ++line_;
  }
  /// Whether what is left of the line is blank or a comment; goes behind it.
  bool finish_line() {
    const std::size_t before = pos_;
    skip_blanks();
    if (peek() == '#' && (pos_ > before || pos_ == line_start_)) {
      while (!at_end() && peek() != '\n') {
        ++pos_;
      }
    }
    if (!line_ends()) {
      pos_ = before;
      return false;
    }
    return true;
  }
  /// Goes to the first character that says something, on this line or a later one.
  void next_content() {
    while (!at_end()) {
      const bool begins = pos_ == line_start_;
      while (peek() == ' ') {
        ++pos_;
      }
      const bool tab = begins && peek() == '\t';
      if (!finish_line()) {
        if (tab) {
          fail("has a tab in front, which YAML does not take as indentation; use spaces");
        }
        skip_blanks();
        return;
      }
      if (at_end()) {
        return;
      }
      new_line();
    }
  }

  ConfigValue placed(ConfigValue value, Position at) {
    value.file = file_;
    value.at = at;
    if (++values_ > most_document_values) {
      fail(too_many_values());
    }
    return value;
  }

  struct Deeper {
    explicit Deeper(YamlParser& parser) : parser_{parser} {
      if (++parser_.depth_ > deepest_yaml) {
        parser_.fail("is nested deeper than " + std::to_string(deepest_yaml));
      }
    }
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Deeper(Deeper&&) = delete;
    Deeper& operator=(Deeper&&) = delete;
    YamlParser& parser_;
  };

  [[nodiscard]] bool dash() const noexcept {
    return peek() == '-' && (is_blank(peek(1)) || peek(1) == '\n' || peek(1) == '\r');
  }
  [[nodiscard]] bool colon_at(std::size_t i, bool flow) const noexcept {
    const char after = i + 1 < text_.size() ? text_[i + 1] : '\n';
    return text_[i] == ':' && (is_blank(after) || after == '\n' || after == '\r' ||
                               (flow && (after == ',' || after == '}' || after == ']')));
  }
  /// Whether a key stands here: a plain or quoted scalar and a colon behind it on this line.
  [[nodiscard]] bool key_here() const noexcept {
    std::size_t i = pos_;
    if (peek() == '"' || peek() == '\'') {
      const char quote = peek();
      for (++i; i < text_.size() && text_[i] != '\n' && text_[i] != quote; ++i) {
        i += quote == '"' && text_[i] == '\\' ? 1 : 0;
      }
      for (++i; i < text_.size() && is_blank(text_[i]); ++i) {
      }
      return i < text_.size() && colon_at(i, false);
    }
    for (; i < text_.size() && text_[i] != '\n'; ++i) {
      if (colon_at(i, false)) {
        return true;
      }
      if (text_[i] == '#' && i > pos_ && is_blank(text_[i - 1])) {
        return false;
      }
    }
    return false;
  }

  void refuse_sign() {
    constexpr std::array<std::pair<char, std::string_view>, 7> refused{{{'&', "an anchor"},
                                                                        {'*', "an alias"},
                                                                        {'!', "a tag"},
                                                                        {'%', "a directive"},
                                                                        {'@', "a reserved sign"},
                                                                        {'`', "a reserved sign"},
                                                                        {'?', "a key over several lines"}}};
    for (const auto& [sign, name] : refused) {
      if (peek() == sign && (sign != '?' || is_blank(peek(1)))) {
        fail("is " + std::string{name} + ", which is not read here; write the value itself, or quote the text");
      }
    }
  }

  /// The value that stands here, whose lines are indented more than `outer` columns.
  ConfigValue node(int outer) {
    const Deeper deeper{*this};
    if (dash()) {
      return sequence();
    }
    if (peek() != '{' && peek() != '[' && peek() != '|' && peek() != '>' && key_here()) {
      refuse_sign();
      return mapping();
    }
    return inline_value(outer);
  }

  ConfigValue sequence() {
    ConfigValue list;
    list.kind = ConfigValue::Kind::array;
    const Position at = here();
    const std::size_t column = indent();
    while (!at_end() && indent() == column && dash()) {
      const Position item = here();
      ++pos_;
      if (finish_line()) {
        next_content();
        list.items.push_back(!at_end() && indent() > column ? node(static_cast<int>(column))
                                                            : placed(plain_yaml_value(""), item));
      } else {
        skip_blanks();
        list.items.push_back(node(static_cast<int>(column)));
      }
      next_content();
      refuse_deeper(column);
    }
    return placed(std::move(list), at);
  }

  ConfigValue mapping() {
    ConfigValue table;
    const Position at = here();
    const std::size_t column = indent();
    while (!at_end() && indent() == column && !rest_starts("---") && !rest_starts("...")) {
      if (dash() || !key_here()) {
        fail("has no colon and a blank behind a key; an entry of a mapping is 'key: value'");
      }
      refuse_sign();
      const Position key_at = here();
      std::string key = peek() == '"' || peek() == '\'' ? quoted_text(-1) : plain_key(false);
      skip_blanks();
      ++pos_;  // the colon
      ConfigValue value = value_behind(column, key_at);
      add(table, std::move(key), key_at, std::move(value));
      next_content();
      refuse_deeper(column);
    }
    return placed(std::move(table), at);
  }

  ConfigValue value_behind(std::size_t column, Position key_at) {
    if (!finish_line()) {
      skip_blanks();
      refuse_sign();
      if (dash() || (peek() != '"' && peek() != '\'' && peek() != '{' && peek() != '[' && key_here())) {
        fail("opens another collection on the line of its key; put it on a line of its own, or quote the text");
      }
      const Deeper deeper{*this};
      return inline_value(static_cast<int>(column));
    }
    next_content();
    const bool below = !at_end() && (indent() > column || (indent() == column && dash()));
    return below ? node(static_cast<int>(column)) : placed(plain_yaml_value(""), key_at);
  }

  void refuse_deeper(std::size_t column) {
    if (!at_end() && indent() > column) {
      fail("is indented more than the entries before it");
    }
  }

  void add(ConfigValue& table, std::string key, Position key_at, ConfigValue value) {
    value.key_at = key_at;
    if (table.find(key) != nullptr) {
      problems_.add(*file_, key_at, "key " + quoted(key) + " stands twice");
      return;
    }
    table.entries.emplace_back(std::move(key), std::move(value));
  }

  std::string plain_key(bool flow) {
    const std::size_t begin = pos_;
    while (!colon_at(pos_, flow)) {
      ++pos_;
    }
    return text_since(begin);
  }

  /// What stands between a place and here, without blanks at its end.
  [[nodiscard]] std::string text_since(std::size_t begin) const {
    std::string_view text = text_.substr(begin, pos_ - begin);
    while (!text.empty() && is_blank(text.back())) {
      text.remove_suffix(1);
    }
    return std::string{text};
  }

  ConfigValue inline_value(int outer) {
    const Position at = here();
    refuse_sign();
    ConfigValue value;
    if (peek() == '"' || peek() == '\'') {
      value = word_value(quoted_text(outer));
    } else if (peek() == '{' || peek() == '[') {
      value = flow();
    } else if (peek() == '|' || peek() == '>') {
      return placed(word_value(block_text(outer)), at);
    } else {
      return placed(plain_yaml_value(plain_lines(outer)), at);
    }
    if (!finish_line()) {
      fail("stands behind a value; a blank and '#' start a comment");
    }
    return placed(std::move(value), at);
  }

  /// A plain scalar over the lines that are indented more than `outer`; line breaks are blanks.
  std::string plain_lines(int outer) {
    std::string text;
    while (true) {
      const std::size_t begin = pos_;
      while (!line_ends() && !(peek() == '#' && pos_ > begin && is_blank(text_[pos_ - 1]))) {
        if (colon_at(pos_, false)) {
          fail("holds a colon and a blank, which ends a key; quote the text");
        }
        ++pos_;
      }
      const std::string part = text_since(begin);
      text += (text.empty() ? "" : " ") + part;
      if (!line_ends()) {  // a comment ends it
        pos_ = begin + part.size();
        static_cast<void>(finish_line());
        return text;
      }
      const std::size_t kept_pos = pos_;
      const std::size_t kept_start = line_start_;
      const int kept_line = line_;
      next_content();
      if (at_end() || static_cast<int>(indent()) <= outer || line_ == kept_line || dash() || key_here()) {
        pos_ = kept_pos;
        line_start_ = kept_start;
        line_ = kept_line;
        return text;
      }
    }
  }

  /// The escape behind a backslash, as UTF-8.
  void escape(std::string& text) {
    constexpr std::string_view signs = "0abtnvfre \"/\\_";
    constexpr std::array<std::string_view, 14> bytes{
        std::string_view{"\0", 1}, "\a", "\b", "\t", "\n", "\v", "\f", "\r", "\x1B", " ", "\"", "/", "\\", "\xC2\xA0"};
    const char sign = peek();
    if (const std::size_t found = signs.find(sign); found != std::string_view::npos) {
      text += bytes.at(found);
      ++pos_;
      return;
    }
    const std::size_t digits = sign == 'x' ? 2 : sign == 'u' ? 4 : sign == 'U' ? 8 : 0;
    std::uint32_t code = 0;
    const std::string_view hex = text_.substr(std::min(pos_ + 1, text_.size()), digits);
    const auto read = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    if (digits == 0 || hex.size() != digits || read.ptr != hex.data() + hex.size() || code > 0x10FFFF) {
      fail("is no escape of a quoted text");
    }
    pos_ += 1 + digits;
    append_code_point(text, code);
  }

  /// A text in quotes; one line break in it is a blank, more are one less. `outer` below 0: on one line, as a key is.
  std::string quoted_text(int outer) {
    const Position begin = here();
    const char quote = peek();
    std::string text;
    for (++pos_; !at_end(); ++pos_) {
      const char c = peek();
      if (c == quote && quote == '\'' && peek(1) == '\'') {
        text += '\'';
        ++pos_;
      } else if (c == quote) {
        ++pos_;
        return text;
      } else if (c == '\\' && quote == '"' && (peek(1) == '\n' || peek(1) == '\r')) {
        ++pos_;
        new_line();
        skip_blanks();
        --pos_;
      } else if (c == '\\' && quote == '"') {
        ++pos_;
        escape(text);
        --pos_;
      } else if (c == '\n' || c == '\r') {
        fold(text, outer);
        --pos_;
      } else {
        text += c;
      }
    }
    fail_at(begin, "opens a quoted text that nothing closes");
  }

  void fold(std::string& text, int outer) {
    while (!text.empty() && is_blank(text.back())) {
      text.pop_back();
    }
    int breaks = 0;
    while (!at_end() && (peek() == '\n' || peek() == '\r')) {
      new_line();
      ++breaks;
      skip_blanks();
    }
    if (outer < 0 && !at_end()) {
      fail("breaks a quoted key; a key stands on one line");
    }
    text += breaks == 1 ? std::string{" "} : std::string(static_cast<std::size_t>(breaks - 1), '\n');
  }

  /// A literal or folded scalar behind '|' or '>': the lines indented more than `outer`.
  std::string block_text(int outer) {
    const bool folded = peek() == '>';
    char chomp = ' ';
    std::size_t width = 0;
    for (++pos_; !line_ends() && !is_blank(peek()); ++pos_) {
      if (peek() == '-' || peek() == '+') {
        chomp = peek();
      } else if (peek() >= '1' && peek() <= '9') {
        width = static_cast<std::size_t>(std::max(outer, 0)) + static_cast<std::size_t>(peek() - '0');
      } else {
        fail("is no indicator of a block of text; it is '|' or '>', a digit, and '-' or '+'");
      }
    }
    if (!finish_line()) {
      fail("stands behind the indicator of a block of text; the text starts on the next line");
    }
    std::string text;
    bool more = false;  // the last line was indented further, and its break stays
    std::size_t empty = 0;
    while (!at_end()) {
      new_line();
      std::size_t blanks = 0;
      while (peek(blanks) == ' ') {
        ++blanks;
      }
      const bool bare = pos_ + blanks >= text_.size() || peek(blanks) == '\n' || peek(blanks) == '\r';
      if (bare) {
        empty += pos_ + blanks >= text_.size() ? 0 : 1;
        pos_ += blanks;
        continue;
      }
      width = width == 0 && static_cast<int>(blanks) > outer ? blanks : width;
      if (width == 0 || blanks < width) {
        break;
      }
      const std::size_t end = std::min(text_.find('\n', pos_), text_.size());
      std::string_view line = text_.substr(pos_ + width, end - pos_ - width);
      line.remove_suffix(line.ends_with('\r') ? 1 : 0);
      const bool further = line.starts_with(' ');
      if (!text.empty() || empty > 0) {
        const bool joins = folded && !text.empty() && !more && !further;
        text += joins && empty == 0 ? std::string{" "} : std::string(empty + (joins || text.empty() ? 0 : 1), '\n');
      }
      text += line;
      more = further;
      empty = 0;
      pos_ = end;
    }
    if (chomp != '-' && !text.empty()) {
      text += '\n';
    }
    if (chomp == '+') {
      text += std::string(empty, '\n');
    }
    return text;
  }

  void flow_blanks() {
    while (!at_end() && finish_line()) {
      if (at_end()) {
        return;
      }
      new_line();
    }
    skip_blanks();
  }

  ConfigValue flow() {
    const Deeper deeper{*this};
    const Position at = here();
    if (peek() == '"' || peek() == '\'') {
      return placed(word_value(quoted_text(0)), at);
    }
    refuse_sign();
    if (peek() != '{' && peek() != '[') {
      const std::size_t begin = pos_;
      while (!line_ends() && peek() != ',' && peek() != ']' && peek() != '}' && !colon_at(pos_, true) &&
             !(peek() == '#' && pos_ > begin && is_blank(text_[pos_ - 1]))) {
        ++pos_;
      }
      return placed(plain_yaml_value(text_since(begin)), at);
    }
    const bool table = peek() == '{';
    const char close = table ? '}' : ']';
    ConfigValue value;
    value.kind = table ? ConfigValue::Kind::table : ConfigValue::Kind::array;
    ++pos_;
    flow_blanks();
    while (!at_end() && peek() != close) {
      table ? flow_entry(value) : value.items.push_back(flow());
      flow_blanks();
      if (peek() == ',') {
        ++pos_;
        flow_blanks();
      } else if (at_end() || peek() != close) {
        break;
      }
    }
    if (at_end()) {
      fail_at(at, "opens a collection that nothing closes");
    }
    if (peek() != close) {
      fail("stands where a comma or '" + std::string{close} + "' is expected");
    }
    ++pos_;
    return placed(std::move(value), at);
  }

  void flow_entry(ConfigValue& table) {
    const Position key_at = here();
    const ConfigValue key = flow();
    const std::string name = key.kind == ConfigValue::Kind::text ? key.text : std::string{};
    flow_blanks();
    if (at_end() || peek() != ':' || name.empty()) {
      fail("follows no key; an entry of a mapping is 'key: value', its key a text");
    }
    ++pos_;
    flow_blanks();
    ConfigValue value = peek() == ',' || peek() == '}' ? placed(plain_yaml_value(""), key_at) : flow();
    add(table, name, key_at, std::move(value));
  }

  std::string_view text_;
  std::shared_ptr<const std::string> file_;
  Diagnostics problems_;
  std::size_t pos_ = 0;
  std::size_t line_start_ = 0;
  std::size_t values_ = 0;
  std::size_t counted_ = 0;  ///< up to here column_ is counted, on counted_line_
  int counted_line_ = 0;
  int column_ = 1;
  int line_ = 1;
  int depth_ = 0;
};

}  // namespace

ConfigValue parse_yaml(std::string_view text, const std::string& file) {
  return YamlParser{text, file}.document();
}

}  // namespace headroom
