// SPDX-License-Identifier: Apache-2.0
// The only source that includes RapidJSON.
#include <headroom/core/json_reader.hpp>
#include <headroom/core/real_text.hpp>

// RapidJSON 1.1.0 adds to the null pointer of an empty stack, which the sanitizer would report for every document.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>

namespace headroom {
namespace {

constexpr std::size_t deepest = 256;

/// Converts byte offsets to positions. Offsets should ascend: the text is then walked once.
class Places {
 public:
  explicit Places(std::string_view text) : text_{text} {}

  Position at(std::size_t offset) {
    if (offset < offset_) {  // does not happen for the values of one parser
      *this = Places{text_};
    }
    for (; offset_ < std::min(offset, text_.size()); ++offset_) {
      if (text_[offset_] == '\n') {
        at_ = {at_.line + 1, 1};
      } else if ((static_cast<unsigned char>(text_[offset_]) >> 6) != 2) {
        ++at_.column;  // UTF-8 continuation bytes are no columns of their own
      }
    }
    return at_;
  }

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  Position at_{1, 1};
};

// NOLINTBEGIN(readability-identifier-naming, *non-private-member-variables*): the parser names the events.
/// Builds the tree from the parser's events. RapidJSON reports a value after its last character, so the place of a
/// scalar is found by walking back over its text.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, const rapidjson::MemoryStream& stream, const std::string& file)
      : text_{text}, stream_{stream}, file_{std::make_shared<const std::string>(file)}, places_{text} {}

  bool Null() {
    return scalar(ConfigValue::Kind::null, [](ConfigValue&) {});
  }
  bool Bool(bool value) {
    return scalar(ConfigValue::Kind::boolean, [&](ConfigValue& v) { v.boolean = value; });
  }
  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return Int64(value); }
  bool Int64(std::int64_t value) {
    return scalar(ConfigValue::Kind::integer, [&](ConfigValue& v) { v.integer = value; });
  }
  bool Uint64(std::uint64_t value) {
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return value <= largest ? Int64(static_cast<std::int64_t>(value)) : Double(static_cast<double>(value));
  }
  bool Double(double value) {
    return scalar(ConfigValue::Kind::number, [&](ConfigValue& v) { v.number = value; });
  }
  /// Converts a number itself: RapidJSON misreads a zero with a large exponent (0e44 as 1.9e25).
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    const std::string_view number{text, length};
    const char* end = text + length;
    std::int64_t integer = 0;
    if (const auto read = std::from_chars(text, end, integer); read.ec == std::errc{} && read.ptr == end) {
      return Int64(integer);
    }
    const RealRead read = read_real(number);
    double value = read.value;
    if (read.error == std::errc::result_out_of_range) {
      const double edge = std::strtod(std::string{number}.c_str(), nullptr);
      too_big = !(std::abs(edge) < 1.0);
      value = too_big ? 0.0 : edge;  // an underflow becomes the nearest value, zero or subnormal
    }
    return !too_big && read.length == length && Double(value);
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return scalar(ConfigValue::Kind::text, [&](ConfigValue& v) { v.text.assign(text, length); });
  }
  bool StartObject() { return open(ConfigValue::Kind::table); }
  bool StartArray() { return open(ConfigValue::Kind::array); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    key_.assign(text, length);
    key_at_ = places_.at(start_of_scalar());
    const ConfigValue& table = open_.back();
    if (table.find(key_) != nullptr) {
      problems.add(*file_, key_at_, "key " + quoted(key_) + " stands twice");
    }
    return true;
  }

  Diagnostics problems;
  ConfigValue root;
  bool too_deep = false;
  bool too_big = false;
  bool too_many = false;

 private:
  /// Walks back from the stream's position, which is after the scalar, to its first character.
  [[nodiscard]] std::size_t start_of_scalar() const {
    std::size_t end = std::min(stream_.Tell(), text_.size());
    if (end == 0) {
      return 0;
    }
    if (text_[end - 1] == '"') {
      std::size_t i = end - 1;
      while (i > 0) {
        --i;
        if (text_[i] == '"') {
          std::size_t backslashes = 0;
          while (backslashes < i && text_[i - 1 - backslashes] == '\\') {
            ++backslashes;
          }
          if (backslashes % 2 == 0) {
            return i;
          }
        }
      }
      return 0;
    }
    constexpr std::string_view separators = " \t\r\n,:[]{}";
    while (end > 0 && separators.find(text_[end - 1]) == std::string_view::npos) {
      --end;
    }
    return end;
  }

  template <class Fill>
  bool scalar(ConfigValue::Kind kind, Fill fill) {
    ConfigValue value;
    value.kind = kind;
    value.file = file_;
    value.at = places_.at(start_of_scalar());
    fill(value);
    return place(std::move(value));
  }

  bool open(ConfigValue::Kind kind) {
    if (open_.size() >= deepest) {
      too_deep = true;
      return false;
    }
    ConfigValue value;
    value.kind = kind;
    value.file = file_;
    value.at = places_.at(stream_.Tell());
    names_.emplace_back(key_, key_at_);
    open_.push_back(std::move(value));
    return true;
  }

  bool close() {
    ConfigValue value = std::move(open_.back());
    open_.pop_back();
    std::tie(key_, key_at_) = std::move(names_.back());
    names_.pop_back();
    return place(std::move(value));
  }

  bool place(ConfigValue value) {
    too_many = ++values_ > most_document_values;
    if (too_many) {
      return false;
    }
    if (open_.empty()) {
      root = std::move(value);
    } else if (open_.back().kind == ConfigValue::Kind::array) {
      open_.back().items.push_back(std::move(value));
    } else {
      value.key_at = key_at_;
      open_.back().entries.emplace_back(key_, std::move(value));
    }
    return true;
  }

  std::string_view text_;
  const rapidjson::MemoryStream& stream_;
  std::shared_ptr<const std::string> file_;
  Places places_;
  std::vector<ConfigValue> open_;
  std::vector<std::pair<std::string, Position>> names_;
  std::string key_;
  Position key_at_;
  std::size_t values_ = 0;
};
// NOLINTEND(readability-identifier-naming, *non-private-member-variables*)

}  // namespace

ConfigValue parse_json(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  rapidjson::MemoryStream stream{text.data(), text.size()};
  TreeBuilder builder{text, stream, file};
  rapidjson::Reader reader;
  constexpr unsigned flags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  const rapidjson::ParseResult result = reader.Parse<flags>(stream, builder);
  if (result.IsError()) {
    std::string message = builder.too_deep   ? "nested deeper than 256 levels"
                          : builder.too_many ? too_many_values()
                          : result.Code() == rapidjson::kParseErrorDocumentEmpty
                              ? "the document is empty; it must hold one object, {...}"
                          : builder.too_big ? "Number too big to be stored in double"
                                            : rapidjson::GetParseError_En(result.Code());
    if (!message.empty() && message.back() == '.') {
      message.pop_back();
    }
    throw ConfigError{{Diagnostic{file, Places{text}.at(result.Offset()), message}}};
  }
  builder.problems.throw_if_any();
  if (builder.root.kind != ConfigValue::Kind::table) {
    throw ConfigError{{Diagnostic{file, builder.root.at,
                                  "the root must be an object, not " + std::string{kind_name(builder.root.kind)}}}};
  }
  return std::move(builder.root);
}

namespace {

/// RapidJSON's idea of a stream, over pieces.
class Pieces {
 public:
  using Ch = char;
  explicit Pieces(const NextText& next) : next_{next} {}
  [[nodiscard]] char Peek() {
    if (at_ == end_) {
      turn();
    }
    return at_ == end_ ? '\0' : *at_;
  }
  char Take() {
    const char c = Peek();
    at_ += at_ == end_ ? 0 : 1;
    return c;
  }
  [[nodiscard]] std::size_t Tell() const { return before_ + static_cast<std::size_t>(at_ - begin_); }
  static char* PutBegin() { return nullptr; }
  static void Put(char) {}
  static void Flush() {}
  static std::size_t PutEnd(char*) { return 0; }

  /// Line and column of the next character, from 1.
  [[nodiscard]] Position place() const {
    const Lines lines = lines_up_to(at_);
    return {static_cast<int>(lines.ended) + 1, static_cast<int>(Tell() - lines.start) + 1};
  }

 private:
  struct Lines {
    std::size_t ended = 0;
    std::size_t start = 0;  ///< of the last line, in characters from the first
  };
  [[nodiscard]] Lines lines_up_to(const char* until) const {
    Lines lines = lines_;
    for (const char* c = begin_; (c = std::find(c, until, '\n')) != until; ++c) {
      ++lines.ended;
      lines.start = before_ + static_cast<std::size_t>(c - begin_) + 1;
    }
    return lines;
  }
  void turn() {
    lines_ = lines_up_to(end_);
    before_ += static_cast<std::size_t>(end_ - begin_);
    const std::string_view piece = next_();
    begin_ = at_ = piece.data();
    end_ = begin_ + piece.size();
  }

  const NextText& next_;
  const char *begin_ = nullptr, *at_ = nullptr, *end_ = nullptr;
  std::size_t before_ = 0;  ///< characters of the pieces before this one
  Lines lines_;
};

struct Teller : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Teller> {
  explicit Teller(JsonListener& told) : listener{told} {}
  bool StartObject() { return listener.opened(true); }
  bool StartArray() { return listener.opened(false); }
  bool EndObject(rapidjson::SizeType) { return listener.closed(); }
  bool EndArray(rapidjson::SizeType) { return listener.closed(); }
  bool Null() { return true; }
  bool Bool(bool) { return true; }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    listener.key({text, length});
    return true;
  }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    listener.value({text, length});
    return true;
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    listener.value({text, length});
    return true;
  }
  JsonListener& listener;
};

}  // namespace

void stream_json(const NextText& next, const std::string& file, JsonListener& listener, const std::string& hint) {
  Pieces pieces{next};
  Teller teller{listener};
  rapidjson::Reader reader;
  constexpr unsigned flags = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseNanAndInfFlag |
                             rapidjson::kParseIterativeFlag | rapidjson::kParseStopWhenDoneFlag;
  const rapidjson::ParseResult result = reader.Parse<flags>(pieces, teller);
  if (result.IsError()) {
    Diagnostics diagnostics;
    diagnostics.add(
        file, pieces.place(),
        result.Code() == rapidjson::kParseErrorTermination
            ? std::string{"values are nested deeper here than any tool writes them"}
            : std::string{"the text breaks here: "} + rapidjson::GetParseError_En(result.Code()) + " " + hint);
    diagnostics.throw_if_any();
  }
}

}  // namespace headroom
