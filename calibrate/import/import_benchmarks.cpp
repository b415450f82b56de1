// SPDX-License-Identifier: Apache-2.0
// Importers of nvbandwidth and mixbench.
#include <headroom/calibrate/import/import_numbers.hpp>
#include <headroom/calibrate/import/import_samples.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/printable.hpp>

#include <array>
#include <sstream>

namespace headroom {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream{line};
  for (std::string cell; std::getline(stream, cell, ',');) {
    cells.push_back(trimmed(cell));
  }
  return cells;
}

/// A cell as printed; nvbandwidth writes numbers as text, other writers as numbers.
std::string cell_text(const ConfigValue& cell) {
  switch (cell.kind) {
    case ConfigValue::Kind::text: return trimmed(cell.text);
    case ConfigValue::Kind::integer: return std::to_string(cell.integer);
    case ConfigValue::Kind::number: return std::to_string(cell.number);
    default: return std::string{kind_name(cell.kind)};
  }
}

/// Adds one test: a matrix of text cells, with "N/A" for a device paired with itself.
void add_test(const ConfigValue& test, const std::string& file, ImportedSamples& result, Diagnostics& diagnostics) {
  const ConfigValue* name = test.find("name");
  const ConfigValue* status = test.find("status");
  const ConfigValue* matrix = test.find("bandwidth_matrix");
  if (name == nullptr || status == nullptr) {
    diagnostics.add(file, test.at, "a test lacks 'name' or 'status'");
    return;
  }
  if (const auto character = first_unprintable(name->text)) {
    diagnostics.add(
        file, name->at,
        "'name' is " + quoted(name->text) + "; it must be one line of printable text, without " + quoted(*character));
    return;
  }
  if (status->text == "Waived") {
    result.remarks.push_back(name->text + " was waived");
    return;
  }
  if (status->text != "Passed") {
    diagnostics.add(file, status->at, name->text + " is " + quoted(status->text) + ": such a test measures nothing");
    return;
  }
  if (matrix == nullptr) {
    result.remarks.push_back(name->text + " has no bandwidth_matrix");
    return;
  }
  for (std::size_t row = 0; row < matrix->items.size(); ++row) {
    const std::vector<ConfigValue>& cells = matrix->items[row].items;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      const ConfigValue& cell = cells[column];
      const std::string word = cell_text(cell);
      if (word == "N/A") {
        continue;
      }
      PrintedRange range = printed_bandwidth;
      range.zero_allowed = false;
      if (const std::string wrong = wrong_number(word, range); !wrong.empty()) {
        diagnostics.add(file, cell.at, name->text + ": " + wrong);
        continue;
      }
      result.text +=
          csv_field(name->text) + "," + std::to_string(row) + "," + std::to_string(column) + "," + word + "\n";
    }
  }
}

}  // namespace

ImportedSamples import_nvbandwidth(std::string_view text, const std::string& file) {
  const ConfigValue root = parse_json(text, file);
  const ConfigValue* body = root.find("nvbandwidth");
  const ConfigValue* tests = body == nullptr ? nullptr : body->find("testcases");
  if (tests == nullptr) {
    throw ConfigError{{Diagnostic{file, {}, "no nvbandwidth.testcases: this is not what 'nvbandwidth -j' writes"}}};
  }
  ImportedSamples result;
  result.text = "test,row,column,gb_per_s\n";
  Diagnostics diagnostics;
  for (const ConfigValue& test : tests->items) {
    add_test(test, file, result, diagnostics);
  }
  diagnostics.throw_if_any();
  return result;
}

ImportedSamples import_mixbench(std::string_view text, const std::string& file) {
  ImportedSamples result;
  result.text = "type,flop_per_byte,time_ms,gflop_per_s,gb_per_s\n";
  Diagnostics diagnostics;
  std::istringstream stream{std::string{text}};
  std::vector<std::string> types;
  std::vector<std::string> above;
  bool inside = false;
  std::size_t rows = 0;
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const std::vector<std::string> cells = cells_of(line);
    if (!cells.empty() && cells.front() == "Compute iters") {
      inside = true;
      for (const std::string& cell : above) {  // "Experiment ID, Single Precision ops,,,, Double precision ops,,,,"
        if (!cell.empty() && cell != "Experiment ID") {
          types.push_back(cell);
        }
      }
      continue;
    }
    above = cells;
    if (!inside || cells.empty() || !integer_of(cells.front())) {
      continue;
    }
    constexpr std::size_t columns = 4;
    if (cells.size() < 1 + columns * types.size()) {
      diagnostics.add(file, {number, 1},
                      "the row has " + std::to_string(cells.size()) + " cells, the table " +
                          std::to_string(1 + columns * types.size()) + ": the output was cut");
      continue;
    }
    for (std::size_t t = 0; t < types.size(); ++t) {
      const std::size_t at = 1 + columns * t;
      const std::array ranges{printed_intensity, printed_milliseconds, printed_flops, printed_bandwidth};
      for (std::size_t c = 0; c < columns; ++c) {
        if (const std::string wrong = wrong_number(cells[at + c], ranges[c]); !wrong.empty()) {
          diagnostics.add(file, {number, 1}, types[t] + ": " + wrong);
        }
      }
      result.text += csv_field(types[t]) + "," + cells[at] + "," + cells[at + 1] + "," + cells[at + 2] + "," +
                     cells[at + 3] + "\n";
      ++rows;
    }
  }
  if (rows == 0 && diagnostics.empty()) {
    diagnostics.add(file, {}, "no CSV part of mixbench ('Compute iters, Flops/byte, ...')");
  }
  diagnostics.throw_if_any();
  return result;
}

ImportedSamples import_samples(SampleForm form, std::string_view text, const std::string& file) {
  switch (form) {
    case SampleForm::nccl_tests:
    case SampleForm::rccl_tests: return import_collective_log(text, file);
    case SampleForm::nvbandwidth: return import_nvbandwidth(text, file);
    case SampleForm::mixbench: return import_mixbench(text, file);
    case SampleForm::nvidia_smi: return import_nvidia_smi(text, file);
    case SampleForm::count: break;
  }
  throw ConfigError{"no such form"};
}

}  // namespace headroom
