// SPDX-License-Identifier: Apache-2.0
// Reads a CSV file with known columns, by name, and checks each cell.
#pragma once

#include <headroom/core/csv.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Finds the columns by name, returns cells and reports problems.
class CsvColumns {
 public:
  CsvColumns(CsvReader& csv, std::span<const std::string_view> names) : csv_{&csv} {
    const std::size_t before = csv.diagnostics().size();
    for (const std::string_view name : names) {
      const std::optional<std::size_t> found = csv.column(name);
      if (!found) {
        csv.diagnostics().add(csv.file(), {1, 1}, "column " + quoted(name) + " is missing");
      }
      at_.push_back(found.value_or(0));
    }
    for (const std::string& name : csv.header()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        csv.diagnostics().add(csv.file(), {1, 1}, "unknown column " + quoted(name) + suggestion(name, names));
      }
    }
    good_ = csv.diagnostics().size() == before;
  }

  /// The next row; false at the end or when the header is wrong.
  bool next() {
    row_good_ = true;
    return good_ && csv_->next();
  }
  [[nodiscard]] bool row_good() const noexcept { return row_good_; }

  /// Text of a cell, which must not be empty.
  std::string text(std::size_t column) {
    const std::string& cell = csv_->fields()[at_[column]];
    return cell.empty() ? (blank(column), cell) : cell;
  }

  /// Text that may be empty.
  [[nodiscard]] const std::string& maybe_text(std::size_t column) const { return csv_->fields()[at_[column]]; }

  /// Reports a cell that contradicts the rest of its row.
  void refuse(std::size_t column, const std::string& what) { problem(column, what); }

  /// A positive integer.
  std::int64_t integer(std::size_t column) {
    const std::optional<std::int64_t> value = whole(column);
    if (value && *value <= 0) {
      problem(column, "must be positive");
    }
    return value.value_or(1);
  }

  /// An optional positive number.
  std::optional<double> maybe(std::size_t column) {
    const std::size_t before = csv_->diagnostics().size();
    const std::optional<double> value = csv_->number(at_[column]);
    row_good_ = row_good_ && csv_->diagnostics().size() == before;
    if (value && *value <= 0.0) {
      problem(column, "must be positive");
    }
    return value;
  }

  /// A positive number.
  double number(std::size_t column) {
    const std::optional<double> value = maybe(column);
    if (!value && csv_->fields()[at_[column]].empty()) {
      blank(column);
    }
    return value.value_or(1.0);
  }

  /// A number >= 0.
  double amount(std::size_t column) {
    const std::size_t before = csv_->diagnostics().size();
    const std::optional<double> value = csv_->number(at_[column]);
    row_good_ = row_good_ && csv_->diagnostics().size() == before;
    if (value && *value < 0.0) {
      problem(column, "must not be negative");
    } else if (!value && csv_->fields()[at_[column]].empty()) {
      blank(column);
    }
    return value.value_or(0.0);
  }

  /// An integer >= 0.
  std::int64_t count(std::size_t column) {
    const std::optional<std::int64_t> value = whole(column);
    if (value && *value < 0) {
      problem(column, "must not be negative");
    }
    return value.value_or(0);
  }

  [[nodiscard]] int line() const noexcept { return csv_->line(); }
  [[nodiscard]] CsvReader& csv() const noexcept { return *csv_; }

 private:
  std::optional<std::int64_t> whole(std::size_t column) {
    const std::size_t before = csv_->diagnostics().size();
    const std::optional<std::int64_t> value = csv_->integer(at_[column]);
    row_good_ = row_good_ && csv_->diagnostics().size() == before;
    if (!value && csv_->fields()[at_[column]].empty()) {
      blank(column);
    }
    return value;
  }

  void blank(std::size_t column) { problem(column, "is empty; every row states it"); }

  void problem(std::size_t column, const std::string& what) {
    const std::size_t at = at_[column];
    csv_->diagnostics().add(csv_->file(), csv_->at(at), "'" + csv_->header()[at] + "' " + what);
    row_good_ = false;
  }

  CsvReader* csv_;
  std::vector<std::size_t> at_;
  bool good_ = false;
  bool row_good_ = true;
};

/// The rows of a file in which nothing is wrong, each made of its cells.
template <class Row, class Make>
std::vector<Row> read_rows(CsvReader& csv, std::span<const std::string_view> header, Make make) {
  CsvColumns columns{csv, header};
  std::vector<Row> rows;
  while (columns.next()) {
    Row row = make(columns);
    if (columns.row_good()) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace headroom
