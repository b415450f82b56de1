// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/verbs/harness.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/json_writer.hpp>
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
  std::vector<std::string> overrides;  ///< "hardware.gpus=64"
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
        row.overrides.push_back(key + "=" + cell);
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
  const QuestionLibrary library = QuestionLibrary::standard();
  std::vector<HarnessCell> cells;
  for (const Row& row : rows) {
    std::vector<std::string> overrides = arguments.many("--set-each");
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
  Table table{{"cell", "expected tokens/s/GPU", "tolerance", "measured", "of expected", "verdict", "suspect"}};
  table.left(6);
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

std::string json_of(const std::vector<HarnessCell>& cells) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "headroom.harness/1");
  json.key("cells");
  json.begin_array();
  for (const HarnessCell& c : cells) {
    json.compact_next();
    json.begin_object();
    json.member("name", c.name);
    json.member("verdict", cell_verdict_names[static_cast<std::size_t>(c.verdict)]);
    if (c.problem.empty()) {
      json.member("expected_tokens_per_s", c.expected.mid);
      json.member("low", c.expected.low);
      json.member("high", c.expected.high);
    } else {
      json.member("problem", c.problem);
    }
    if (c.measured) {
      json.member("measured_tokens_per_s", *c.measured);
    }
    if (c.suspect) {
      json.member("suspect", term_names[static_cast<std::size_t>(*c.suspect)]);
      json.member("why", c.why);
    }
    json.end_object();
  }
  return json.finish();
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
  const bool json = arguments.one("--format", "text") == "json";
  return {json ? json_of(cells) : text_of(cells), "", failed ? 1 : 0};
}

}  // namespace headroom::cli
