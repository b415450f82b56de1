// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/calibrate/stacks/fit_serving.hpp>
#include <headroom/calibrate/stacks/serving_errors.hpp>
#include <headroom/calibrate/stacks/serving_files.hpp>
#include <headroom/cli/fits/fit_serving.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/statistics.hpp>

#include <cmath>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {
namespace {

/// Posterior over prior deviation above which a number mainly rests on its prior.
constexpr double leans = 0.6;

std::string numbers_text(const ServingFit& fit) {
  Table table{{"number", "was", "fitted", "+- %", "<expected near", "<remark"}};
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    const ServingKnob& k = fit.knobs[i];
    const std::string remark = fit.result.at_bound[i]            ? "at its bound"
                               : fit.result.narrowing[i] > 0.9   ? "prior: the rows do not tell it"
                               : fit.result.narrowing[i] > leans ? "leans on its prior"
                                                                 : "";
    table.row({k.name(), serving_value_text(k, k.value), serving_value_text(k, fit.values[i]),
               percent_number(std::expm1(fit.result.deviation[i])),
               k.parent < 0 ? serving_value_text(k, k.centre) : fit.knobs[static_cast<std::size_t>(k.parent)].name(),
               remark});
  }
  return table.text(0);
}

struct Errors {
  std::vector<double> before, fitted, left_out, bias;
};

std::string summary(const std::vector<double>& errors) {
  return errors.empty() ? "-" : percent_number(mean(errors)) + " / " + percent_number(median(errors));
}

/// Errors by source, stack, metric and kind of network: fitted, and with the source left out.
std::string groups_text(const ServingFit& fit) {
  std::map<std::array<std::string, 4>, Errors> groups;
  for (const FittedServingRun& run : fit.runs) {
    Errors& e = groups[{run.row->source, run.stack, run.row->metric, run.experts ? "experts" : "dense"}];
    e.before.push_back(std::abs(std::expm1(run.before)));
    e.fitted.push_back(std::abs(std::expm1(run.fitted)));
    e.bias.push_back(std::expm1(run.fitted));
    if (std::isfinite(run.left_out)) {
      e.left_out.push_back(std::abs(std::expm1(run.left_out)));
    }
  }
  Table table{
      {"source", "<stack", "<metric", "<kind", "rows", "before: mape / median %", "fitted", "bias", "left out"}};
  for (const auto& [key, e] : groups) {
    table.row({key[0], key[1], key[2], key[3], std::to_string(e.fitted.size()), summary(e.before), summary(e.fitted),
               percent_number(median(e.bias)), summary(e.left_out)});
  }
  return table.text(0);
}

/// How many rows of publications that were no part of the fit lie in the intervals without them.
std::string coverage_text(const ServingFit& fit) {
  const std::vector<LeftOutCoverage> all = left_out_coverage(fit);
  if (all.empty()) {
    return {};
  }
  Table table{{"publications left out", "rows", "sources", "inside 80 % interval, %"}};
  for (const LeftOutCoverage& c : all) {
    table.row({std::string{serving_quantity_names[static_cast<std::size_t>(c.quantity)]}, std::to_string(c.rows),
               std::to_string(c.sources), percent_number(c.inside)});
  }
  Table by{{"of which", "publication", "rows", "inside, %"}};
  for (const LeftOutCoverage& c : all) {
    for (const LeftOutCoverage::Publication& one : c.publications) {
      by.row({std::string{serving_quantity_names[static_cast<std::size_t>(c.quantity)]}, one.source,
              std::to_string(one.rows), percent_number(one.inside)});
    }
  }
  return "\n" + table.text(0) + "\n" + by.text(0);
}

/// Throws ConfigError for names that match no number.
void check_only(const std::vector<std::string>& only, const ModelData& data) {
  const std::vector<ServingKnob> knobs = serving_knobs(data);
  std::set<std::string> names;
  for (const ServingKnob& knob : knobs) {
    names.insert(knob.id);
    names.insert(knob.name());
  }
  const std::vector<std::string_view> known{names.begin(), names.end()};
  Diagnostics diagnostics;
  for (const std::string& name : only) {
    if (!names.contains(name)) {
      diagnostics.add("", {},
                      "--only " + quoted(name) + " is neither a stack nor a number of one" + suggestion(name, known));
    }
  }
  diagnostics.throw_if_any();
}

}  // namespace

Outcome fit_serving_times(const Arguments& arguments, const std::vector<RunFile>& files) {
  ServingFitOptions options;
  options.leave_one_out = !arguments.has("--no-left-out");
  options.only = arguments.many("--only");
  const Sources sources = own_sources();
  check_only(options.only, sources.data);
  const ServingFit fit = fit_serving(files, sources, options, [](std::string_view what) {
    std::cerr << "headroom: " << headroom::shown(what) << "\n";
  });
  Outcome outcome;
  outcome.out = numbers_text(fit) + "\n" + groups_text(fit) + coverage_text(fit) + "\n" +
                std::to_string(fit.runs.size()) + " rows fitted in " + std::to_string(fit.result.iterations) +
                " iterations\n";
  if (arguments.has("--write")) {
    for (const std::string& file : write_serving_files(fit, arguments.one("--write"))) {
      outcome.err += "headroom: wrote " + file + "\n";
    }
  }
  return outcome;
}

}  // namespace headroom::cli
