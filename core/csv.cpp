// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/csv.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <streambuf>

namespace headroom {
namespace {

constexpr int end_of_file = std::istream::traits_type::eof();

/// The first unprintable character of a field, apart from line breaks and tabs.
std::optional<std::string_view> first_obeyed(std::string_view field) {
  for (auto found = first_unprintable(field); found; found = first_unprintable(field)) {
    if (std::string_view{"\n\r\t"}.find(found->front()) == std::string_view::npos) {
      return found;
    }
    field.remove_prefix(static_cast<std::size_t>(found->data() - field.data()) + found->size());
  }
  return std::nullopt;
}

/// Reads one record character by character. A field is plain, inside quotes, or closed by its second quote.
class RecordReader {
 public:
  struct Trouble {
    Position at;
    std::string message;
  };

  /// `first` is the record's first character, already taken from the stream, on `line`. The reader works on the stream
  /// buffer, which is several times faster per character than the stream.
  RecordReader(std::streambuf& bytes, int first, int line) : bytes_{&bytes}, c_{first}, line_{line} {}

  /// Reads up to and including the line break that ends the record, or to the end of the file.
  void read(std::vector<std::string>& fields, std::vector<Position>& places) {
    start_ = {line_, column_};
    bool more = true;
    while (more) {
      if (state_ == State::quoted) {
        more = take_quoted();
      } else if (field_ends()) {
        if (taken_ <= longest_record) {
          if (const auto character = first_obeyed(field_)) {
            report(start_, "the field " + quoted(field_) + " holds " + quoted(*character) +
                               ", which is no printable text; take it out");
          }
          fields.push_back(std::move(field_));
          places.push_back(start_);
        }
        more = next_field();
      } else {
        take_plain();
      }
    }
  }

  [[nodiscard]] int line() const noexcept { return line_; }  ///< line on which the next record starts
  /// The first problem of the record.
  [[nodiscard]] const std::optional<Trouble>& trouble() const noexcept { return trouble_; }

 private:
  enum class State : std::uint8_t { plain, quoted, closed };

  [[nodiscard]] bool field_ends() const {
    return c_ == end_of_file || c_ == ',' || c_ == '\n' || (c_ == '\r' && bytes_->sgetc() == '\n');
  }

  /// Starts the next field after a separator; false if the record ends there.
  bool next_field() {
    field_.clear();
    state_ = State::plain;
    if (c_ == '\r') {
      c_ = bytes_->sbumpc();
    }
    if (c_ != ',') {
      line_ += c_ == '\n' ? 1 : 0;
      return false;
    }
    advance();
    start_ = {line_, column_};
    return true;
  }

  void take_plain() {
    if (state_ == State::closed) {
      report({line_, column_}, "text after a closing quote");
    } else if (c_ == '"' && field_.empty()) {
      state_ = State::quoted;
      advance();
      return;
    }
    take();
  }

  /// Takes a character inside quotes or the closing quote; false at the end of the file.
  bool take_quoted() {
    if (c_ == end_of_file) {
      report(start_, "a quoted field is never closed");
      return false;
    }
    if (c_ == '"') {
      advance();
      if (c_ != '"') {
        state_ = State::closed;
        return true;
      }
    }
    const bool line_break = c_ == '\n';
    take();
    if (line_break) {
      ++line_;
      column_ = 1;
    }
    return true;
  }

  void take() {
    if (c_ == '\0') {
      report({line_, column_}, "a NUL byte");
    }
    if (taken_ <= longest_record) {
      field_ += static_cast<char>(c_);
    }
    advance();
  }

  void advance() {
    // UTF-8 continuation bytes are no columns of their own
    column_ += (static_cast<unsigned>(c_) & 0xC0U) != 0x80U ? 1 : 0;
    if (++taken_ == longest_record + 1) {
      report(start_, "a row of more than 1 MiB; close the quote or end the line before");
    }
    c_ = bytes_->sbumpc();
  }

  void report(Position at, std::string message) {
    if (!trouble_) {
      trouble_ = Trouble{at, std::move(message)};
    }
  }

  std::streambuf* bytes_;
  int c_;
  int line_;
  int column_ = 1;
  Position start_;
  std::string field_;
  std::size_t taken_ = 0;  ///< bytes of the record read so far
  State state_ = State::plain;
  std::optional<Trouble> trouble_;
};

}  // namespace

CsvReader::CsvReader(std::istream& stream, std::string file, Diagnostics& diagnostics)
    : stream_{&stream}, file_{std::move(file)}, diagnostics_{&diagnostics} {
  if (!read_record()) {
    diagnostics_->add(file_, {1, 1}, "empty file; the first line must name the columns");
    return;
  }
  header_ = fields_;
  if (!header_.empty() && header_.front().starts_with("\xEF\xBB\xBF")) {
    header_.front().erase(0, 3);
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (header_[i].empty()) {
      diagnostics_->add(file_, places_[i], "a column has no name");
    } else if (!names.insert(header_[i]).second) {
      diagnostics_->add(file_, places_[i], "column " + quoted(header_[i]) + " stands twice");
    }
  }
}

std::optional<std::size_t> CsvReader::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  return found == header_.end() ? std::nullopt : std::optional{static_cast<std::size_t>(found - header_.begin())};
}

bool CsvReader::next() {
  while (read_record()) {
    if (fields_.size() == header_.size()) {
      return true;
    }
    if (!fields_.empty()) {
      diagnostics_->add(
          file_, {row_line_, 1},
          "row has " + std::to_string(fields_.size()) + " fields; the header has " + std::to_string(header_.size()));
    }
  }
  return false;
}

/// Reads one record into fields_. A broken record is reported and leaves fields_ empty. False at the end of the stream.
bool CsvReader::read_record() {
  fields_.clear();
  places_.clear();
  std::streambuf& bytes = *stream_->rdbuf();
  int c = bytes.sbumpc();
  while (c == '\n' || c == '\r') {
    line_ += c == '\n' ? 1 : 0;
    c = bytes.sbumpc();
  }
  if (c == end_of_file) {
    return false;
  }
  row_line_ = line_;
  RecordReader record{bytes, c, line_};
  record.read(fields_, places_);
  line_ = record.line();
  if (const auto& trouble = record.trouble()) {
    diagnostics_->add(file_, trouble->at, trouble->message);
    fields_.clear();
    places_.clear();
  }
  return true;
}

std::optional<double> CsvReader::number(std::size_t column) {
  const std::string& text = fields_.at(column);
  if (text.empty()) {
    return std::nullopt;
  }
  const std::optional<double> value = whole_real(text);
  if (!value || !std::isfinite(*value)) {
    diagnostics_->add(file_, places_[column], "'" + header_[column] + "' is " + quoted(text) + ", no finite number");
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> CsvReader::integer(std::size_t column) {
  const std::string& text = fields_.at(column);
  if (text.empty()) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> value = integer_of(text);
  if (!value) {
    diagnostics_->add(file_, places_[column], "'" + header_[column] + "' is " + quoted(text) + ", no integer");
  }
  return value;
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  constexpr double largest = 9007199254740992.0;  // 2^53
  const std::optional<double> value = whole_real(text);
  if (!value || !(std::abs(*value) <= largest) || *value != std::floor(*value)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string{text};
  }
  std::string result = "\"";
  for (const char c : text) {
    result += c;
    if (c == '"') {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace headroom
