// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/serving_errors.hpp>
#include <headroom/calibrate/stacks/serving_files.hpp>
#include <headroom/calibrate/stacks/toml_lines.hpp>
#include <headroom/core/config_reader.hpp>
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

std::string file_of(const ServingKnob& knob) {
  return knob.shared() ? "stacks/step/serve.toml" : "stacks/serve/" + knob.id + ".toml";
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

std::string serving_confidence_toml(const ServingConfidence& confidence) {
  std::string text =
      "schema = 1\nid = \"serve-confidence\"\n"
      "# Written by `headroom fit` on serving rows: of each class the factors between which 80 % of the runs of a "
      "publication\n"
      "# that was no part of the fit measure, over what the model says; the standard deviation of a publication's "
      "level, in the\n"
      "# logarithm; the median of |predicted / measured - 1|, and the same with each run's source left out of the fit "
      "(docs/serve-model.md).\n"
      "source = \"headroom fit\"\n";
  for (const ServingErrors& e : confidence.classes()) {
    text += "\n[[class]]\nstack = \"" + e.stack + "\"\nquantity = \"" +
            std::string{serving_quantity_names[static_cast<std::size_t>(e.quantity)]} +
            "\"\nexperts = " + (e.experts ? "true" : "false") + "\nrows = " + std::to_string(e.rows) +
            "\nsources = " + std::to_string(e.sources) + "\nlow = " + format_number(e.low, digits) +
            "\nhigh = " + format_number(e.high, digits) +
            (e.level > 0.0 ? "\nlevel = " + format_number(e.level, digits) : "") +
            "\nmedian = " + format_number(e.median, digits) + "\n" +
            (e.left_out_median > 0.0 ? "left_out_median = " + format_number(e.left_out_median, digits) + "\n" : "");
  }
  const auto factors = [&](std::string_view key, const std::vector<WidthFactor>& all) {
    for (const WidthFactor& f : all) {
      text += "\n[[" + std::string{key} + "]]\nid = \"" + f.id + "\"\nrows = " + std::to_string(f.rows) +
              "\nwidth = " + format_number(f.width, digits) + "\n";
    }
  };
  factors("sku", confidence.skus());
  factors("format", confidence.formats());
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
  replace_file(confidence, serving_confidence_toml(promised_confidence(fit)));
  written.push_back(confidence);
  return written;
}

}  // namespace headroom
