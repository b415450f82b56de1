// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/csv.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headroom {

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
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (header_[i].empty()) {
      diagnostics_->add(file_, places_[i], "a column has no name");
    } else if (std::find(header_.begin(), header_.begin() + static_cast<std::ptrdiff_t>(i), header_[i]) !=
               header_.begin() + static_cast<std::ptrdiff_t>(i)) {
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

/// Reads one record into fields_; a broken one leaves fields_ empty and has been reported. False at the end.
bool CsvReader::read_record() {
  fields_.clear();
  places_.clear();
  int c = stream_->get();
  while (c == '\n' || c == '\r') {
    line_ += c == '\n' ? 1 : 0;
    c = stream_->get();
  }
  if (c == std::istream::traits_type::eof()) {
    return false;
  }
  row_line_ = line_;
  int column = 1;
  std::string field;
  Position start{line_, 1};
  std::string trouble;
  Position trouble_at;
  const auto report = [&](Position at, std::string message) {
    if (trouble.empty()) {
      trouble = std::move(message);
      trouble_at = at;
    }
  };
  const auto advance = [&] {
    column += (static_cast<unsigned>(c) & 0xC0U) != 0x80U ? 1 : 0;  // continuation bytes are no columns
    c = stream_->get();
  };
  bool quoted_field = false;
  bool closed = false;
  while (true) {
    const bool end = c == std::istream::traits_type::eof();
    if (quoted_field && !closed) {
      if (end) {
        report(start, "a quoted field is never closed");
        break;
      }
      if (c == '"') {
        if (stream_->peek() == '"') {
          field += '"';
          advance();
          advance();
        } else {
          closed = true;
          advance();
        }
      } else {
        if (c == '\0') {
          report({line_, column}, "a NUL byte");
        }
        field += static_cast<char>(c);
        if (c == '\n') {
          ++line_;
          column = 0;
        }
        advance();
      }
      continue;
    }
    if (end || c == ',' || c == '\n' || (c == '\r' && stream_->peek() == '\n')) {
      fields_.push_back(std::move(field));
      places_.push_back(start);
      field.clear();
      quoted_field = closed = false;
      if (c == '\r') {
        c = stream_->get();
      }
      if (end || c == '\n') {
        line_ += end ? 0 : 1;
        break;
      }
      advance();
      start = {line_, column};
      continue;
    }
    if (closed) {
      report({line_, column}, "text after a closing quote");
    } else if (c == '"' && field.empty()) {
      quoted_field = true;
      advance();
      continue;
    } else if (c == '\0') {
      report({line_, column}, "a NUL byte");
    }
    field += static_cast<char>(c);
    advance();
  }
  if (!trouble.empty()) {
    diagnostics_->add(file_, trouble_at, trouble);
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
  double value = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
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
  double value = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr double largest = 9007199254740992.0;  // 2^53
  if (status != std::errc{} || end != text.data() + text.size() || !(std::abs(value) <= largest) ||
      value != std::floor(value)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
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
