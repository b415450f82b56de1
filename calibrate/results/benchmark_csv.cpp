// SPDX-License-Identifier: Apache-2.0
// Columns of numbers, numbers alone, and tables of metrics.
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace headroom {
namespace {

std::string bare(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string{}
                                         : std::string{text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1)};
}

/// "1,234.5" as 1234.5.
std::optional<double> grouped_number(std::string text) {
  std::erase(text, ',');
  return whole_real(bare(text));
}

struct Column {
  std::string name;
  bool numbers = true;      ///< every cell so far is one, or empty
  bool names_case = false;  ///< --by says so
  std::vector<std::string> cells;
  std::vector<Position> places;
};

std::vector<Column> columns_of(std::string_view text, const std::string& file, Diagnostics& problems) {
  std::istringstream stream{std::string{text}};
  CsvReader reader{stream, file, problems};
  std::vector<Column> columns;
  for (const std::string& name : reader.header()) {
    columns.push_back({bare(name), true, false, {}, {}});
  }
  while (reader.next()) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string cell = bare(reader.fields()[c]);
      columns[c].numbers = columns[c].numbers && (cell.empty() || whole_real(cell));
      columns[c].cells.push_back(cell);
      columns[c].places.push_back(reader.at(c));
    }
  }
  return columns;
}

bool is_number_row(const std::vector<Column>& columns) {
  return std::all_of(columns.begin(), columns.end(),
                     [](const Column& column) { return whole_real(column.name).has_value(); });
}

}  // namespace

BenchmarkResult benchmark_of_csv(std::string_view text, const std::string& file, const std::vector<std::string>& by) {
  BenchmarkResult result;
  result.form = "a CSV of columns";
  Diagnostics problems;
  std::vector<Column> columns = columns_of(text, file, problems);
  for (const std::string& name : by) {
    const auto found =
        std::find_if(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
    if (found == columns.end()) {
      problems.add(file, {1, 1}, "no column " + quoted(name) + ", which --by names");
    } else {
      found->names_case = true;
    }
  }
  problems.throw_if_any();
  if (is_number_row(columns)) {
    throw ConfigError{{Diagnostic{file, {1, 1}, "the first line holds numbers; it must name the columns"}}};
  }
  const std::size_t rows = columns.front().cells.size();
  // A column whose name says that it holds numbers, and one cell of which is none, is a slip and no name of a case.
  for (const Column& column : columns) {
    for (std::size_t row = 0;
         !column.numbers && !column.names_case && better_of(column.name) != Better::unknown && row < rows; ++row) {
      if (!column.cells[row].empty() && !whole_real(column.cells[row])) {
        problems.add(file, column.places[row],
                     quoted(column.name) + " is " + quoted(column.cells[row]) +
                         ", which is no number; correct the cell or take the row out");
      }
    }
  }
  problems.throw_if_any();
  for (std::size_t row = 0; row < rows; ++row) {
    std::string of;
    for (const Column& column : columns) {
      if (!column.numbers || column.names_case) {
        of += (of.empty() ? "" : " ") + (column.numbers ? column.name + " " : "") + column.cells[row];
      }
    }
    for (const Column& column : columns) {
      if (column.numbers && !column.names_case && !column.cells[row].empty()) {
        result.series_of(of, column.name).values.push_back(*whole_real(column.cells[row]));
      }
    }
  }
  if (result.series.empty()) {
    throw ConfigError{{Diagnostic{file, {}, "no column holds numbers"}}};
  }
  return result;
}

BenchmarkResult benchmark_of_lines(std::string_view text, const std::string& file) {
  BenchmarkResult result;
  result.form = "numbers, one a line";
  Diagnostics problems;
  std::istringstream lines{std::string{text}};
  std::string name = "value";
  int number = 0;
  bool begun = false;
  std::vector<double> values;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string word = bare(line);
    if (word.empty() || word.front() == '#') {
      continue;
    }
    const std::optional<double> value = whole_real(word);
    if (value) {
      values.push_back(*value);
    } else if (!begun) {
      name = word;
    } else {
      problems.add(file, {number, 1}, quoted(word) + " is no number; a line holds one");
    }
    begun = true;
  }
  if (values.empty() && problems.empty()) {
    problems.add(file, {}, "no line holds a number, and the text is no result of a benchmark that is known");
  }
  problems.throw_if_any();
  result.series_of("", name).values = std::move(values);
  return result;
}

BenchmarkResult benchmark_of_metric_rows(std::string_view text, const std::string& file) {
  BenchmarkResult result;
  result.form = "AIPerf";
  Diagnostics problems;
  // Sections of their own widths, with a blank line between them.
  std::vector<std::string> sections{""};
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    if (!bare(line).empty()) {
      sections.back() += line + "\n";
    } else if (!sections.back().empty()) {
      sections.emplace_back();
    }
  }
  for (const std::string& section : sections) {
    if (section.empty()) {
      continue;
    }
    const std::vector<Column> columns = columns_of(section, file, problems);
    const auto column = [&](std::string_view name) {
      return std::find_if(columns.begin(), columns.end(), [&](const Column& one) { return one.name == name; });
    };
    const auto average = column("avg") != columns.end() ? column("avg") : column("Value");
    if (columns.empty() || average == columns.end()) {
      continue;
    }
    for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
      const std::optional<double> value = grouped_number(average->cells[row]);
      const std::string& name = columns.front().cells[row];
      if (value && *value > 0.0 && better_of(name) != Better::unknown) {
        result.series_of("", name).values.push_back(*value);
      }
    }
  }
  problems.throw_if_any();
  if (result.series.empty()) {
    throw ConfigError{{Diagnostic{file, {}, "no row of 'Metric,avg,...' or 'Metric,Value' holds a number"}}};
  }
  result.notes.emplace_back(
      "The table tells averages of one run: name several of each side (--baseline, --candidate), "
      "or give the JSON, which tells deviations.");
  return result;
}

}  // namespace headroom
