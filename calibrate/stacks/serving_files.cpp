// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/serving_files.hpp>
#include <headroom/calibrate/stacks/toml_lines.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/model/estimate/number_format.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace headroom {
namespace {

constexpr int digits = 3;
constexpr std::size_t least_rows = 40;
constexpr double least_factor = 0.01;

std::string file_of(const ServingKnob& knob) {
  return knob.shared() ? "stacks/step/serve.toml" : "stacks/serve/" + knob.id + ".toml";
}

ServingQuantity quantity_of(std::string_view metric) noexcept {
  return metric.starts_with("ttft") || metric.starts_with("e2e") ? ServingQuantity::ttft
         : metric.starts_with("tpot")                            ? ServingQuantity::tpot
                                                                 : ServingQuantity::rate;
}

struct Gathered {
  std::vector<double> ratios;  ///< ln(measured / predicted)
  std::vector<double> sizes, left_out;
  std::set<std::string> sources;
};

ServingErrors errors_of(const std::string& stack, ServingQuantity quantity, bool experts, const Gathered& g) {
  ServingErrors e;
  e.stack = stack;
  e.quantity = quantity;
  e.experts = experts;
  e.rows = static_cast<std::int64_t>(g.ratios.size());
  e.sources = static_cast<std::int64_t>(g.sources.size());
  e.low = std::clamp(std::exp(quantile(g.ratios, 0.1)), least_factor, 1.0);
  e.high = std::clamp(std::exp(quantile(g.ratios, 0.9)), 1.0, 1.0 / least_factor);
  e.median = median(g.sizes);
  e.left_out_median = g.left_out.empty() ? 0.0 : median(g.left_out);
  return e;
}

/// Source text for the numbers of one file.
std::string provenance(const ServingFit& fit, const std::string& stack) {
  std::map<std::string, std::size_t> sources;
  std::size_t rows = 0;
  for (const FittedServingRun& run : fit.runs) {
    if (stack == "serve" || run.stack == stack) {
      ++sources[run.row->source];
      ++rows;
    }
  }
  if (rows == 0) {
    return "no measured row: what it inherits, and its priors (headroom fit)";
  }
  std::string others = "all other numbers of serving (headroom fit)";
  if (!fit.only.empty()) {
    others = "all other numbers held (headroom fit";
    for (const std::string& name : fit.only) {
      others += " --only " + name;
    }
    others += ")";
  }
  return "fitted with " + others + " on " + std::to_string(rows) + " rows of " + sources_text(sources, 3);
}

}  // namespace

std::string serving_value_text(const ServingKnob& knob, double value) {
  if (!is_iteration_time(knob.key)) {
    return format_number(value, digits);
  }
  return value >= 1e-3 ? format_number(1e3 * value, digits) + " ms" : format_number(1e6 * value, digits) + " us";
}

ServingConfidence confidence_of_serving_fit(const ServingFit& fit) {
  std::map<std::pair<std::string, std::pair<ServingQuantity, bool>>, Gathered> groups;
  for (const FittedServingRun& run : fit.runs) {
    const ServingQuantity steady = quantity_of(run.row->metric);
    const ServingQuantity quantity = run.queue ? in_queue(steady) : steady;
    for (const std::string& stack : {run.stack, std::string{"any"}}) {
      if (stack == "any" && !fit.only.empty()) {
        continue;  // rows of a few stacks do not represent all
      }
      Gathered& g = groups[{stack, {quantity, run.experts}}];
      g.ratios.push_back(-run.fitted);
      g.sizes.push_back(std::abs(std::expm1(run.fitted)));
      g.sources.insert(run.row->source);
      if (std::isfinite(run.left_out)) {
        g.left_out.push_back(std::abs(std::expm1(run.left_out)));
      }
    }
  }
  std::vector<ServingErrors> classes;
  for (const auto& [key, g] : groups) {
    if (key.first == "any" || g.ratios.size() >= least_rows) {
      classes.push_back(errors_of(key.first, key.second.first, key.second.second, g));
    }
  }
  // Classes without rows in this fit keep their errors.
  for (const ServingErrors& before : fit.classes) {
    const bool told = std::any_of(classes.begin(), classes.end(), [&](const ServingErrors& e) {
      return e.stack == before.stack && e.quantity == before.quantity && e.experts == before.experts;
    });
    if (!told && (before.stack == "any" || !fit.only.empty())) {
      classes.push_back(before);
    }
  }
  return ServingConfidence{std::move(classes)};
}

std::string serving_confidence_toml(const ServingConfidence& confidence) {
  std::string text =
      "schema = 1\nid = \"serve-confidence\"\n"
      "# Written by `headroom fit` on serving rows: of each class the factors between which 80 % of its runs "
      "measured,\n"
      "# over what the model says; the median of |predicted / measured - 1|, and the same with each run's source left\n"
      "# out of the fit (docs/serve-model.md).\n"
      "source = \"headroom fit\"\n";
  for (const ServingErrors& e : confidence.classes()) {
    text += "\n[[class]]\nstack = \"" + e.stack + "\"\nquantity = \"" +
            std::string{serving_quantity_names[static_cast<std::size_t>(e.quantity)]} +
            "\"\nexperts = " + (e.experts ? "true" : "false") + "\nrows = " + std::to_string(e.rows) +
            "\nsources = " + std::to_string(e.sources) + "\nlow = " + format_number(e.low, digits) +
            "\nhigh = " + format_number(e.high, digits) + "\nmedian = " + format_number(e.median, digits) + "\n" +
            (e.left_out_median > 0.0 ? "left_out_median = " + format_number(e.left_out_median, digits) + "\n" : "");
  }
  return text;
}

std::vector<std::string> write_serving_files(const ServingFit& fit, const std::string& folder) {
  namespace fs = std::filesystem;
  TomlFiles files;
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    const ServingKnob& knob = fit.knobs[i];
    if (fit.held(knob)) {
      continue;
    }
    const std::string path = (fs::path{folder} / file_of(knob)).string();
    TomlLines& lines = lines_of(files, path);
    const std::vector<std::string> headers{knob.shared() ? "" : "[time]"};
    const auto line = lines.find(headers, knob.key);
    if (line == lines.text.end()) {
      diagnostics.add(path, {}, "holds no " + quoted(knob.key) + " in [time]");
      continue;
    }
    const std::string text = serving_value_text(knob, fit.values[i]);
    *line = knob.key + " = " + (is_iteration_time(knob.key) ? '"' + text + '"' : text) + comment_of(*line);
    if (const auto source = lines.find(headers, "source"); source != lines.text.end()) {
      *source = "source = \"" + provenance(fit, knob.id) + "\"";
    }
  }
  diagnostics.throw_if_any();
  std::vector<std::string> written = write_files(files);
  const std::string confidence = (fs::path{folder} / "stacks/step/serve-confidence.toml").string();
  replace_file(confidence, serving_confidence_toml(confidence_of_serving_fit(fit)));
  written.push_back(confidence);
  return written;
}

}  // namespace headroom
