// SPDX-License-Identifier: Apache-2.0
// `headroom validate`: compares predictions with measurements.
#include <headroom/answers/views/render.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/kernel_files.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/validation/accuracy_page.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

namespace headroom::cli {

extern const Verb validate_verb;

namespace validate_parts {
namespace {

constexpr std::array options{
    Option{"--format", OptionKind::one, formats_in<"text|{}|csv|markdown">,
           meanings_in<"text (groups), {}, csv (rows), markdown (a page as docs/accuracy-published.md)">},
    Option{"--where", OptionKind::many, "EXPR", "keep rows: column=a|b, !=, <=, >=, options.KEY; repeats (and)"},
    Option{"--weight-by", OptionKind::many, "COLUMNS", "rows that agree in these columns (a,b,c) count as one"},
    Option{"--budget", OptionKind::one, "FILE",
           "TOML with [[bar]] group or where, metric, mape, tau ...; exit 1 if missed"}
        .that(FileUse::reads),
    Option{"--without", OptionKind::many, "TERM",
           "price training steps without a term, e.g. bubble or dp_comm; repeats"},
};

std::vector<std::string> split_columns(const std::vector<std::string>& lists) {
  std::vector<std::string> columns;
  for (std::string list : lists) {
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      if (comma > 0) {
        columns.push_back(list.substr(0, comma));
      }
      list.erase(0, comma + 1);
    }
  }
  return columns;
}

std::vector<RunFile> read_files(const std::vector<std::string>& paths) {
  if (paths.empty()) {
    return published_runs();
  }
  Diagnostics diagnostics;
  std::vector<RunFile> files = read_run_files(paths, diagnostics);
  diagnostics.throw_if_any();
  return files;
}

/// The accuracy page, with its command as typed, but file names without folders.
std::string page(Validation validation, const Arguments& arguments, const Sources& sources) {
  AccuracyInputs inputs;
  inputs.command = "headroom validate";
  for (const std::string& path : arguments.many("")) {
    inputs.command += " " + std::filesystem::path{path}.filename().string();
  }
  inputs.command += " --format markdown";
  inputs.shipped = arguments.many("").empty();
  inputs.worst = worst_rows(validation.rows, shown_worst_rows, shipped_terms(sources));
  inputs.validation = std::move(validation);
  return accuracy_page(inputs);
}

Outcome run(const Arguments& arguments) {
  const std::string format = arguments.one("--format", "text");
  if (format == "csv" && arguments.has("--weight-by") && !arguments.has("--budget")) {
    throw ConfigError{
        "--weight-by weighs rows in the numbers of groups, which --format csv does not show; it has a "
        "part there beside --budget alone"};
  }
  ValidationScope scope;
  if (format == "markdown") {
    scope.groups = accuracy_reference().groups();
  }
  for (const std::string& expression : arguments.many("--where")) {
    scope.filters.push_back(parse_filter(expression));
  }
  scope.weight_by = split_columns(arguments.many("--weight-by"));
  const TermSet without = parse_terms(arguments.many("--without"));
  const std::vector<BudgetBar> bars = budget_of(arguments);
  for (const BudgetBar& bar : bars) {
    if (bar.where) {
      scope.groups.push_back(*bar.where);
    }
  }
  const std::vector<std::string> paths = arguments.many("");
  const Sources sources = own_sources();
  Outcome outcome;
  Validation validation;
  if (format == "markdown") {  // needs the rows again
    const std::vector<RunFile> files = read_files(paths);
    require_columns(bars, files);
    validation = validate(files, scope, sources, without);
    outcome.out = page(validation, arguments, sources);
  } else {
    const std::vector<RunText> texts = paths.empty() ? published_texts() : run_texts(paths);
    const std::vector<RunFile> heads = checked_heads(texts);
    require_columns(bars, heads);
    ValidationAnswer answer{format};
    validation = validate(texts, heads, scope, sources, without, [&](const ScoredRow& row) { answer.add(row); });
    outcome.out = answer.finish(validation);
    outcome.prose = format == "text";
  }
  tell_missed_bars(validation, bars, outcome);
  return outcome;
}

constexpr std::string_view examples =
    "  headroom validate                                        the published rows that ship with headroom\n"
    "  headroom validate --budget scenarios/accuracy/published-bars.toml\n"
    "  headroom validate mine.csv --where gpus>=64 --format json\n"
    "  headroom validate train_*.csv --budget budget.toml\n";

}  // namespace
}  // namespace validate_parts

const Verb validate_verb{"validate",
                         "predicted against measured, per row and per group",
                         "FILE.csv",
                         10000,
                         validate_parts::options,
                         validate_parts::examples,
                         validate_parts::run};

}  // namespace headroom::cli
