// SPDX-License-Identifier: Apache-2.0
// `headroom scale`: a training scenario at several numbers of GPUs, an explanation of a measured speed-up, what the
// laws of scaling say of measured times, or those laws by themselves.
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/page/page.hpp>
#include <headroom/answers/views/render_scaling.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/verbs/quick_form.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/compare/law_curve.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {

extern const Verb scale_verb;

namespace scale_parts {
namespace {

enum class Asks : std::uint8_t { series, rows, speedup, measured, laws };
constexpr std::array forms{
    Form{"a series of counts", "a series of counts", formats_in<"text|{}|html">},
    Form{"the rows of a series (--format csv)", "a series of counts", "csv"},
    Form{"a measured speed-up", "--measured-speedup X", formats_in<"text|{}">},
    Form{"measured times", "--measured FILE.csv", formats_in<"text|{}">},
    Form{"the laws alone", "--law SHARE", formats_in<"text|{}|csv">},
};

constexpr std::array options{
    Option{"--from", OptionKind::one, "N", "first GPU count; default the scenario's, halved as far as replicas allow"}
        .of(Asks::series, Asks::rows, Asks::laws),
    Option{
        "--to", OptionKind::one, "N",
        "counts double up to this; default eight times the scenario's, of the laws 1024; of these a list or a range, "
        "8,64,512 or \"1..64 x4\", too"}
        .of(Asks::series, Asks::rows, Asks::laws),
    Option{"--strong", OptionKind::flag, "", "the global batch stays (default)"}.of(Asks::series, Asks::rows),
    Option{"--weak", OptionKind::flag, "", "the global batch grows with the GPUs"}.of(Asks::series, Asks::rows),
    Option{"--threshold", OptionKind::one, "SHARE",
           "marginal efficiency that makes more GPUs worth it; default 50 %, of a doubling by the laws 10 %"}
        .of(Asks::series, Asks::measured, Asks::laws),
    Option{"--budget", OptionKind::one, "MONEY", "\"1 M$\" for the whole run, or \"500 $/h\": the most useful GPUs"}.of(
        Asks::series),
    Option{"--cluster", OptionKind::one, "ID", "a cluster of the catalog, for its tiers and transport"}.of(
        Asks::series, Asks::rows, Asks::speedup),
    Option{"--measured", OptionKind::one, "FILE.csv", "times of yours: columns gpus, and seconds or per_second"}
        .of(Asks::measured)
        .that(FileUse::reads),
    Option{"--law", OptionKind::one, "SHARE", "the laws alone, of a share that workers divide: 0.95 or \"95 %\""}.of(
        Asks::laws),
    Option{"--measured-speedup", OptionKind::one, "X", "explain a measured speed-up, e.g. 3x; needs --at"}.of(
        Asks::speedup, Asks::laws),
    Option{"--at", OptionKind::one, "N", "GPUs of the measured speed-up; of the laws the largest count by default"}
        .of(Asks::speedup, Asks::laws)
        .with("--measured-speedup"),
    Option{"--over", OptionKind::one, "N", "GPUs that it is measured against; default 1"}.of(Asks::speedup),
    Option{"--set", OptionKind::many, "KEY=VALUE", "override any key of the scenario, e.g. strategy.tp=4; repeats"}.of(
        Asks::series, Asks::rows, Asks::speedup),
    brief_option.of(Asks::series, Asks::speedup),
    Option{"--format", OptionKind::one, formats_in<"text|{}|csv|html">,
           meanings_in<"text (default), {}, csv (a row a count), html: one file with charts">},
};

Scenario read(const Arguments& arguments, const QuestionLibrary& library) {
  const std::vector<std::string> files = arguments.many("");
  if (files.empty()) {
    throw ConfigError{"name a scenario file (see 'headroom scale --help')"};
  }
  std::vector<Assignment> overrides;
  if (arguments.has("--cluster")) {
    const std::string cluster = arguments.one("--cluster");
    overrides.emplace_back("hardware.cluster=" + cluster, "--cluster " + cluster);
  }
  for (const Assignment& assignment : assignments_of(arguments, "--set")) {
    overrides.push_back(assignment);
  }
  return scenario_of(scale_verb, arguments, files.front(), overrides, library);
}

/// Budget in money for the run or per hour, depending on its unit.
scaling::Budget budget_of(const Arguments& arguments, Diagnostics& diagnostics) {
  scaling::Budget budget;
  if (arguments.one("--budget").find('/') != std::string::npos) {
    budget.rate = quantity_option<DollarsPerSecond>(arguments, "--budget", diagnostics);
  } else {
    budget.run = quantity_option<Dollars>(arguments, "--budget", diagnostics);
  }
  return budget;
}

scaling::Request request_of(const Arguments& arguments) {
  Diagnostics diagnostics;
  scaling::Request request;
  request.from = integer_option(arguments, "--from", diagnostics);
  request.to = integer_option(arguments, "--to", diagnostics);
  const bool strong = arguments.has("--strong");
  request.kind = arguments.has("--weak") ? scaling::Kind::weak : scaling::Kind::strong;
  if (arguments.has("--weak") && strong) {
    diagnostics.add("", {}, "--weak and --strong: the global batch grows or stays; give one of them");
  }
  request.least = number_option(arguments, "--threshold", diagnostics).value_or(request.least);
  request.budget = budget_of(arguments, diagnostics);
  add_idle_options(scale_verb, arguments.one("--format") == "csv" ? Asks::rows : Asks::series, arguments, diagnostics);
  diagnostics.throw_if_any();
  return request;
}

scaling::MeasuredSpeedup measured_of(const Arguments& arguments) {
  Diagnostics diagnostics;
  scaling::MeasuredSpeedup measured;
  measured.speedup = number_option(arguments, "--measured-speedup", diagnostics, "x").value_or(1.0);
  if (!arguments.has("--at")) {
    diagnostics.add("", {}, "--measured-speedup needs --at, the GPUs that it was measured on");
  }
  measured.gpus = integer_option(arguments, "--at", diagnostics).value_or(2);
  measured.of = integer_option(arguments, "--over", diagnostics).value_or(1);
  add_idle_options(scale_verb, Asks::speedup, arguments, diagnostics);
  diagnostics.throw_if_any();
  return measured;
}

Outcome explain(const Arguments& arguments, const QuestionLibrary& library) {
  const scaling::MeasuredSpeedup measured = measured_of(arguments);
  const GivenAnswer answer = answer_of(asked::SpeedupSeen{read(arguments, library), measured});
  return {written(answer, arguments), "", is_good(answer) ? 0 : 1, is_prose(arguments)};
}

/// A row a count, in any order: its GPUs, and either the seconds of one piece of work or pieces a second.
std::vector<scaling::Output> read_series(const std::string& file) {
  InputFile stream{file};
  Diagnostics diagnostics;
  CsvReader csv{stream, file, diagnostics};
  const std::optional<std::size_t> gpus = csv.column("gpus");
  const std::optional<std::size_t> seconds = csv.column("seconds");
  const std::optional<std::size_t> rate = csv.column("per_second");
  if (!gpus || seconds.has_value() == rate.has_value()) {
    diagnostics.add(file, {1, 1}, "needs the column 'gpus', and 'seconds' of a step or 'per_second', one of the two");
  }
  diagnostics.throw_if_any();
  std::vector<scaling::Output> series;
  while (csv.next()) {
    const std::size_t column = seconds ? *seconds : *rate;
    const std::optional<std::int64_t> count = csv.integer(*gpus);
    const std::optional<double> value = csv.number(column);
    if (!count || *count < 1) {
      diagnostics.add(file, csv.at(*gpus), quoted(csv.fields()[*gpus]) + " must be a number of GPUs, 1 or more");
    } else if (!value || *value <= 0.0) {
      diagnostics.add(file, csv.at(column), quoted(csv.fields()[column]) + " must be positive");
    } else if (std::any_of(series.begin(), series.end(), [&](const auto& o) { return o.gpus == *count; })) {
      diagnostics.add(file, csv.at(*gpus), "a second row of " + counted(*count, "GPU") + "; keep one, or their mean");
    } else {
      series.push_back({*count, seconds ? 1.0 / *value : *value});
    }
  }
  diagnostics.throw_if_any();
  if (series.size() < 2) {
    diagnostics.add(
        file, {},
        "has " + counted(static_cast<std::int64_t>(series.size()), "count") + "; scaling is told of two or more");
  }
  diagnostics.throw_if_any();
  std::sort(series.begin(), series.end(), [](const auto& a, const auto& b) { return a.gpus < b.gpus; });
  return series;
}

Outcome tell_measured(const Arguments& arguments) {
  Diagnostics diagnostics;
  MeasuredSeries measured;
  measured.least = number_option(arguments, "--threshold", diagnostics).value_or(measured.least);
  if (measured.least <= 0.0 || measured.least > 1.0) {
    diagnostics.add("", {},
                    "--threshold is " + format_number(measured.least) + "; it must be above 0, at most 1, e.g. 0.5");
  }
  if (!arguments.many("").empty()) {
    diagnostics.add("", {}, "a scenario has no part beside --measured, whose times are told without a model");
  }
  add_idle_options(scale_verb, Asks::measured, arguments, diagnostics);
  diagnostics.throw_if_any();
  measured.file = arguments.one("--measured");
  measured.series = read_series(measured.file);
  const DocumentFormat* const format = document_format(arguments);
  return {format != nullptr ? format->print(measured_series_document(measured)) : measured_series_text(measured), "", 0,
          format == nullptr};
}

/// "64": doublings up to it; "8,64" and "1..64 x4": those counts.
std::vector<std::int64_t> law_counts(const Arguments& arguments, Diagnostics& diagnostics) {
  const std::string to = arguments.one("--to", "1024");
  const std::vector<std::string> values = listed_values(to);
  std::vector<std::int64_t> counts;
  for (const std::string& value : values) {
    if (const std::optional<std::int64_t> count = integer_of(value)) {
      counts.push_back(*count);
    } else {
      diagnostics.add("", {},
                      "--to " + quoted(to) + " must be a count, a list or a range of them, such as 64, \"8, 64\" or " +
                          "\"1..64 x4\"");
    }
  }
  if (values.size() > 1 && arguments.has("--from")) {
    diagnostics.add("", {}, "--from has no part beside a list of --to, which says every count");
  }
  const std::optional<std::int64_t> from = integer_option(arguments, "--from", diagnostics);
  if (values.size() > 1 || counts.empty()) {
    return counts;
  }
  const std::int64_t last = counts.back();
  const std::int64_t first = from.value_or(1);
  if (first < 1 || (last >= 1 && first > last)) {
    diagnostics.add("", {}, "--from is " + std::to_string(first) + "; it must be 1 to --to, " + std::to_string(last));
    return counts;
  }
  for (std::int64_t count = first; count < std::min(last, scaling::most_gpus); count *= 2) {
    counts.push_back(count);
  }
  return counts;
}

Outcome tell_laws(const Arguments& arguments) {
  Diagnostics diagnostics;
  scaling::LawRequest request;
  request.parallel = number_option(arguments, "--law", diagnostics).value_or(request.parallel);
  request.counts = law_counts(arguments, diagnostics);
  request.least = number_option(arguments, "--threshold", diagnostics).value_or(request.least);
  request.measured = number_option(arguments, "--measured-speedup", diagnostics, "x");
  request.at = integer_option(arguments, "--at", diagnostics);
  if (!arguments.many("").empty()) {
    diagnostics.add("", {}, "a scenario has no part beside --law, which asks the laws alone");
  }
  add_idle_options(scale_verb, Asks::laws, arguments, diagnostics);
  diagnostics.throw_if_any();
  const scaling::LawCurve curve = scaling::law_curve(std::move(request));
  if (arguments.one("--format") == "csv") {
    return {law_csv(curve), "", 0, false};
  }
  const DocumentFormat* const format = document_format(arguments);
  return {format != nullptr ? format->print(law_document(curve)) : law_text(curve), "", 0, format == nullptr};
}

Outcome run_scale(const Arguments& arguments) {
  if (arguments.has("--law")) {
    return tell_laws(arguments);
  }
  if (arguments.has("--measured")) {
    return tell_measured(arguments);
  }
  const QuestionLibrary library = own_library();
  if (arguments.has("--measured-speedup")) {
    return explain(arguments, library);
  }
  const scaling::Request request = request_of(arguments);
  static_cast<void>(asks_for_brief(arguments));  // refused before anything is computed
  if (arguments.one("--format") == "html") {
    report::require_charts();
  }
  const GivenAnswer answer = answer_of(asked::GpuSeries{read(arguments, library), request});
  return {written(answer, arguments), "", is_good(answer) ? 0 : 1, is_prose(arguments)};
}

constexpr std::string_view examples =
    "  headroom scale scenarios/train/llama3-70b-512xh100.toml --to 4096\n"
    "  headroom scale scenarios/train/llama3-70b-512xh100.toml --weak --cluster dgx-superpod-h100\n"
    "  headroom scale scenarios/train/llama3-70b-512xh100.toml --budget '15 M$'\n"
    "  headroom scale scenarios/train/llama2-7b-8xa100.toml --measured-speedup 3x --at 8\n"
    "  headroom scale --measured times.csv\n"
    "  headroom scale --law 0.95 --to 64\n";

}  // namespace
}  // namespace scale_parts

const Verb scale_verb{"scale",
                      "a training scenario at a series of GPU counts: efficiency, cost, where to stop",
                      "SCENARIO.toml",
                      1,
                      scale_parts::options,
                      scale_parts::examples,
                      scale_parts::run_scale,
                      nullptr,
                      scale_parts::forms};

}  // namespace headroom::cli
