// SPDX-License-Identifier: Apache-2.0
// Streaming CSV (RFC 4180) with a header. One row is in memory at a time; every problem has its line and column.
#pragma once

#include <headroom/core/diagnostic.hpp>

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Upper bound on the bytes of one row, so that a row without end (an unclosed quote) is not read into memory.
inline constexpr std::size_t longest_record = std::size_t{1} << 20U;

/// Reads a header, then rows. Quoted fields may hold commas, doubled quotes and line breaks; CRLF or LF ends a row;
/// blank lines are skipped. Reported as problems: a wrong number of fields, an unterminated quote, text after a closing
/// quote, a NUL byte, a control character, invalid UTF-8, a row longer than `longest_record`, a duplicate or empty
/// column name. A row with a problem is skipped.
class CsvReader {
 public:
  /// The stream must outlive the reader. `file` names the stream in messages.
  CsvReader(std::istream& stream, std::string file, Diagnostics& diagnostics);

  [[nodiscard]] const std::vector<std::string>& header() const noexcept { return header_; }
  /// Index of a column, or nullopt if the header lacks it.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  /// Advances to the next valid row; false at the end of the stream.
  bool next();
  /// 1-based line on which the current row starts.
  [[nodiscard]] int line() const noexcept { return row_line_; }
  /// Fields of the current row, one per column of the header.
  [[nodiscard]] const std::vector<std::string>& fields() const noexcept { return fields_; }
  /// Position of a field of the current row in the file.
  [[nodiscard]] Position at(std::size_t column) const { return places_.at(column); }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] Diagnostics& diagnostics() const noexcept { return *diagnostics_; }

  /// The field as a finite number; nullopt if it is empty, a diagnostic and nullopt if it is anything else.
  std::optional<double> number(std::size_t column);
  /// The field as an integer ("8" or "8.0"); nullopt if it is empty, a diagnostic and nullopt if it is anything else.
  std::optional<std::int64_t> integer(std::size_t column);

 private:
  bool read_record();

  std::istream* stream_;
  std::string file_;
  Diagnostics* diagnostics_;
  std::vector<std::string> header_;
  std::vector<std::string> fields_;
  std::vector<Position> places_;
  int line_ = 1;
  int row_line_ = 1;
};

/// "8" or "8.0" as 8; nullopt for other text and beyond +-2^53, where not every integer is a double.
[[nodiscard]] std::optional<std::int64_t> integer_of(std::string_view text);

/// A field as CSV text: quoted if it holds a comma, a quote or a line break.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace headroom
