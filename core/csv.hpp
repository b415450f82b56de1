// SPDX-License-Identifier: Apache-2.0
// Streaming CSV (RFC 4180) with a header: one row in memory at a time, every problem with its line and column.
#pragma once

#include <headroom/core/diagnostic.hpp>

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The most bytes of one row: one without end, such as behind a quote that nobody closes, is not gathered.
inline constexpr std::size_t longest_record = std::size_t{1} << 20U;

/// Reads a header and then rows. Quoted fields may hold commas, doubled quotes and line breaks; CRLF and LF end a row;
/// blank lines are skipped. A row with a wrong number of fields, an unterminated quote, text after a closing quote, a
/// NUL byte, a control character or bytes that are no UTF-8, of more than `longest_record` bytes, a duplicate or empty
/// column name is reported and, for rows, skipped.
class CsvReader {
 public:
  /// The stream must outlive the reader. `file` is the name for messages.
  CsvReader(std::istream& stream, std::string file, Diagnostics& diagnostics);

  [[nodiscard]] const std::vector<std::string>& header() const noexcept { return header_; }
  /// Index of a column, or nullopt.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  /// Goes to the next good row; false at the end.
  bool next();
  /// Line on which the current row starts.
  [[nodiscard]] int line() const noexcept { return row_line_; }
  /// The current row's fields, as many as the header has.
  [[nodiscard]] const std::vector<std::string>& fields() const noexcept { return fields_; }
  /// Place of a field of the current row.
  [[nodiscard]] Position at(std::size_t column) const { return places_.at(column); }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] Diagnostics& diagnostics() const noexcept { return *diagnostics_; }

  /// The field as a number; empty: nullopt; anything else that is no finite number: a diagnostic and nullopt.
  std::optional<double> number(std::size_t column);
  /// The field as an integer ("8", also "8.0"); empty: nullopt; anything else: a diagnostic and nullopt.
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

/// "8" and "8.0" as 8; nullopt for anything else, and beyond 2^53, where a double skips integers.
[[nodiscard]] std::optional<std::int64_t> integer_of(std::string_view text);

/// A field as CSV text: quoted when it holds a comma, a quote or a line break.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace headroom
