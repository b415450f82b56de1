// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/value.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/verbs/harness.hpp>
#include <headroom/cli/verbs/quick_form.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/scenarios/compare/harness.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace headroom::cli {

extern const Verb compare_verb;

namespace {

constexpr std::string_view rate_column = "tokens_per_s_per_gpu";

/// A row: settings of the scenario, and the measurement.
struct Row {
  std::vector<Assignment> overrides;  ///< "hardware.gpus=64"
  std::string name;
  std::optional<double> measured;
  int line = 0;
};

/// Reads the cells. Columns are scenario keys (with a dot in the name) and, for measured rates, tokens_per_s_per_gpu.
std::vector<Row> read_cells(const std::string& file) {
  InputFile stream{file};
  Diagnostics diagnostics;
  CsvReader csv{stream, file, diagnostics};
  for (const std::string& name : csv.header()) {
    if (name != rate_column && name.find('.') == std::string::npos) {
      diagnostics.add(file, {1, 1},
                      "column " + quoted(name) + " is neither a key of a scenario, such as hardware.gpus, nor " +
                          std::string{rate_column});
    }
  }
  std::vector<Row> rows;
  while (csv.next()) {
    Row row;
    row.line = csv.line();
    for (std::size_t i = 0; i < csv.header().size(); ++i) {
      const std::string& key = csv.header()[i];
      const std::string& cell = csv.fields()[i];
      if (key == rate_column) {
        row.measured = csv.number(i);
        if (row.measured && *row.measured <= 0.0) {
          diagnostics.add(file, csv.at(i), quoted(cell) + " must be a positive rate, or empty where none was measured");
        }
      } else if (!cell.empty()) {
        row.overrides.emplace_back(key + "=" + cell);
        row.name += (row.name.empty() ? "" : ", ") + cell;
      }
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    diagnostics.add(file, {}, "has no cell; a row a SKU and scale, e.g. 'hardware.gpu,hardware.gpus,...'");
  }
  diagnostics.throw_if_any();
  return rows;
}

std::vector<HarnessCell> priced(const Arguments& arguments, const std::string& file, const std::vector<Row>& rows) {
  Diagnostics diagnostics;
  const std::optional<double> tolerance = number_option(arguments, "--tolerance", diagnostics);
  if (tolerance && (*tolerance <= 0.0 || *tolerance >= 1.0)) {
    diagnostics.add("", {}, "--tolerance " + quoted(arguments.one("--tolerance")) + " must lie between 0 and 1");
  }
  diagnostics.throw_if_any();
  const QuestionLibrary library = own_library();
  std::vector<HarnessCell> cells;
  for (const Row& row : rows) {
    std::vector<Assignment> overrides = set_in_each(arguments);
    overrides.insert(overrides.end(), row.overrides.begin(), row.overrides.end());
    try {
      cells.push_back(expect_cell(scenario_of(compare_verb, arguments, file, overrides, library), row.name, tolerance));
      cells.back().measured = row.measured;
    } catch (const ConfigError& error) {
      for (const Diagnostic& d : error.diagnostics()) {
        diagnostics.add(arguments.one("--harness"), {row.line, 1}, d.message);
      }
      diagnostics.pass_over(error.untold());
    }
  }
  diagnostics.throw_if_any();
  judge_cells(cells);
  return cells;
}

std::string text_of(const std::vector<HarnessCell>& cells) {
  Table table{{"cell", "expected tokens/s/GPU", "tolerance", "measured", "of expected", "verdict", "<suspect"}};
  for (const HarnessCell& c : cells) {
    const bool priced = c.problem.empty();
    table.row({c.name, priced ? format_number(c.expected.mid) : "-",
               priced ? format_number(c.expected.low) + " to " + format_number(c.expected.high) : "",
               c.measured ? format_number(*c.measured) : "",
               priced && c.measured ? format_number(100.0 * *c.measured / c.expected.mid) + " %" : "",
               std::string{cell_verdict_names[static_cast<std::size_t>(c.verdict)]}, priced ? c.why : c.problem});
  }
  return table.text();
}

Value cell_value(const HarnessCell& c) {
  const bool priced = c.problem.empty();
  return row("name"_m = c.name, "verdict"_m = cell_verdict_names[static_cast<std::size_t>(c.verdict)],
             "expected_tokens_per_s_per_gpu"_m = when(priced, per_second(c.expected)),
             "problem"_m = when(!priced, c.problem), "measured_tokens_per_s_per_gpu"_m = per_second(c.measured),
             "suspect"_m = c.suspect ? Value{term_names[static_cast<std::size_t>(*c.suspect)]} : Value{},
             "why"_m = when(c.suspect.has_value(), c.why));
}

Value document_of(const std::vector<HarnessCell>& cells) {
  return object("schema"_m = "headroom.harness/1", "cells"_m = list(cells, cell_value));
}

}  // namespace

Outcome run_harness(const Arguments& arguments) {
  const std::vector<std::string> files = arguments.many("");
  if (files.size() != 1) {
    throw ConfigError{"--harness prices one scenario in every cell of its file; name one"};
  }
  const std::vector<HarnessCell> cells = priced(arguments, files.front(), read_cells(arguments.one("--harness")));
  const bool failed =
      std::any_of(cells.begin(), cells.end(), [](const HarnessCell& c) { return c.verdict == CellVerdict::fail; });
  const DocumentFormat* const format = document_format(arguments);
  return {format != nullptr ? format->print(document_of(cells)) : text_of(cells), "", failed ? 1 : 0};
}

}  // namespace headroom::cli
