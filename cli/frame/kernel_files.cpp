// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/cli/frame/kernel_files.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <optional>

namespace headroom::cli {

std::vector<KernelFile> read_kernel_files(const Arguments& arguments, std::string_view id) {
  std::optional<KernelKind> kind;
  if (arguments.has("--kind")) {
    const auto* const at = std::find(kernel_kind_names.begin(), kernel_kind_names.end(), arguments.one("--kind"));
    kind = static_cast<KernelKind>(at - kernel_kind_names.begin());
  }
  Diagnostics diagnostics;
  std::vector<KernelFile> files;
  for (const std::string& path : arguments.many("")) {
    try {
      InputFile stream{path};
      for (KernelFile& file : read_kernel_tables(stream, path, kind, id, diagnostics)) {
        files.push_back(std::move(file));
      }
    } catch (const ConfigError& error) {
      diagnostics.add(error);
    }
  }
  diagnostics.throw_if_any();
  return files;
}

std::vector<BudgetBar> budget_of(const Arguments& arguments) {
  if (!arguments.has("--budget")) {
    return {};
  }
  const ConfigSource source = read_file(arguments.one("--budget"));
  return read_budget(parse_toml(source.text, source.file), source.file);
}

void tell_missed_bars(const Validation& validation, const std::vector<BudgetBar>& bars, Outcome& outcome) {
  for (const std::string& missed : missed_bars(validation, bars)) {
    outcome.err += "headroom: budget missed: " + missed + "\n";
    outcome.code = 1;
  }
}

std::vector<std::string> passed_over(std::span<const KernelFile> files) {
  std::vector<std::string> remarks;
  for (const KernelFile& file : files) {
    for (const auto& [op, rows] : file.passed_over) {
      remarks.push_back(file.path + ": " + counted(static_cast<std::int64_t>(rows), "row") + " of " + op +
                        (rows == 1 ? " names" : " name") + " no single kernel");
    }
  }
  return remarks;
}

Outcome score_kernel_files(const Arguments& arguments,
                           std::string_view id,
                           const std::function<Validation(std::span<const KernelFile>)>& score,
                           const std::function<std::string(std::span<const KernelFile>)>& remarks) {
  const std::vector<BudgetBar> bars = budget_of(arguments);
  const std::vector<KernelFile> files = read_kernel_files(arguments, id);
  const Validation validation = score(files);
  Outcome outcome;
  const std::string format = arguments.one("--format", "text");
  outcome.out = validation_written(validation, format) + (remarks && format == "text" ? remarks(files) : "");
  for (const std::string& remark : passed_over(files)) {
    outcome.out += format == "text" ? "left out: " + remark + "\n" : "";
  }
  tell_missed_bars(validation, bars, outcome);
  return outcome;
}

std::string too_fast_text(const std::vector<TooFast>& kernels) {
  if (kernels.empty()) {
    return {};
  }
  constexpr std::size_t shown = 5;
  std::string text = "\n" + std::to_string(kernels.size()) + " kernels are faster than the datasheet allows\n";
  Table table{{"kernel", "engine", "format", "measured us", "least us"}};
  for (std::size_t i = 0; i < std::min(shown, kernels.size()); ++i) {
    const TooFast& k = kernels[i];
    table.row({k.id, k.engine, k.format, format_number(k.measured_us, 4), format_number(k.roofline_us, 4)});
  }
  return text + table.text(0);
}

}  // namespace headroom::cli
