// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/step_confidence.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/model/estimate/number_format.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace headroom {
namespace {

constexpr int width_digits = 3;

RunClass class_of_run(const FittedRun& run, const RunFamily& family, const Sources& sources, const MeasuredGround& g) {
  Architecture architecture;
  if (run.owner.experts) {
    architecture.moe.emplace();
  }
  const bool adapters = family.kind == "adapters" || family.kind == "sft";
  return class_of(sources.catalog.device(run.owner.sku), architecture, adapters, g);
}

double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0.0;
  for (const double v : values) {
    sum += (v - middle) * (v - middle);
  }
  return values.size() > 1 ? std::sqrt(sum / static_cast<double>(values.size() - 1)) : 0.0;
}

ClassErrors errors_of_class(const std::map<std::size_t, std::vector<double>>& families, std::int64_t sources) {
  std::vector<double> sizes;
  std::vector<double> means;
  std::vector<double> shapes;
  for (const auto& [family, errors] : families) {
    std::transform(errors.begin(), errors.end(), std::back_inserter(sizes), [](double e) { return std::abs(e); });
    means.push_back(mean(errors));
    if (errors.size() > 1) {
      shapes.push_back(std::pow(deviation(errors), 2));
    }
  }
  ClassErrors c;
  c.rows = static_cast<std::int64_t>(sizes.size());
  c.sources = sources;
  c.width_50 = std::expm1(quantile(sizes, 0.5));
  c.width_80 = std::expm1(quantile(sizes, 0.8));
  c.width_90 = std::expm1(quantile(sizes, 0.9));
  c.level = std::max(0.01, deviation(means));
  c.shape = shapes.empty() ? c.level : std::max(0.01, std::sqrt(mean(shapes)));
  return c;
}

MeasuredGround ground_of(const StepFit& fit, const MeasuredGround& before) {
  MeasuredGround ground;
  ground.same_kernels = before.same_kernels;
  ground.hidden = ground.seq_len = {std::int64_t{1} << 40, 0};
  std::set<std::string> skus;
  std::set<std::string> software;
  std::map<std::string, std::set<std::string>> precisions;
  for (const FittedRun& run : fit.runs) {
    const RunConfiguration& c = run.row->run;
    skus.insert(run.owner.sku);
    software.insert(run.owner.stack);
    precisions[run.owner.generation].insert(c.precision);
    ground.gpus = std::max(ground.gpus, c.gpus.value_or(0));
    for (const auto& [range, value] : {std::pair{&ground.hidden, c.hidden}, std::pair{&ground.seq_len, c.seq_len}}) {
      range->low = std::min(range->low, value.value_or(range->low));
      range->high = std::max(range->high, value.value_or(range->high));
    }
  }
  ground.skus.assign(skus.begin(), skus.end());
  ground.software.assign(software.begin(), software.end());
  for (const auto& [generation, names] : precisions) {
    ground.precisions[generation].assign(names.begin(), names.end());
  }
  ground.source = std::to_string(fit.runs.size()) + " published runs, times and throughputs";
  return ground;
}

/// TOML array ["a", "b"], wrapped.
std::string list_text(const std::vector<std::string>& names, std::size_t indent) {
  constexpr std::size_t width = 118;
  std::string text = "[";
  std::size_t column = indent;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string item = "\"" + names[i] + "\"" + (i + 1 < names.size() ? "," : "");
    if (i > 0 && column + item.size() + 1 > width) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (i > 0) {
      text += " ";
    }
    text += item;
    column += item.size() + 1;
  }
  return text + "]";
}

}  // namespace

Confidence confidence_of_fit(const StepFit& fit, const Sources& sources, const Confidence& before) {
  Confidence c = before;
  std::array<std::map<std::size_t, std::vector<double>>, run_class_count> errors;
  std::array<std::set<std::string>, run_class_count> names;
  for (const FittedRun& run : fit.runs) {
    if (!std::isfinite(run.left_out)) {
      continue;
    }
    const RunFamily& family = fit.families[run.family];
    const auto of = static_cast<std::size_t>(class_of_run(run, family, sources, before.measured));
    errors[of][run.family].push_back(run.left_out);
    names[of].insert(family.source);
  }
  for (std::size_t i = 0; i < run_class_count; ++i) {
    if (!errors[i].empty()) {
      c.classes[i] = errors_of_class(errors[i], static_cast<std::int64_t>(names[i].size()));
      c.classes[i].source = "each source left out of the fit in turn";
    }
  }
  c.measured = ground_of(fit, before.measured);
  c.source = "headroom fit --stack all, sources left out";
  return c;
}

std::string confidence_toml(const Confidence& confidence) {
  std::string text =
      "schema = 1\nid = \"confidence\"\n"
      "# Written by `headroom fit --stack all --write`. Widths are exp(q) - 1 of the quantiles q of "
      "|ln(predicted/measured)|;\n"
      "# level and shape are standard deviations of ln(predicted/measured): of a family's mean, and of its runs around "
      "that\n# mean. How a plan uses them: docs/confidence.md.\n"
      "source = \"" +
      confidence.source + "\"\n";
  for (std::size_t i = 0; i < run_class_count; ++i) {
    const ClassErrors& c = confidence.classes[i];
    text += "\n[class." + std::string{run_class_names[i]} + "]\nrows = " + std::to_string(c.rows) +
            "\nsources = " + std::to_string(c.sources) + "\nwidth_50 = " + format_number(c.width_50, width_digits) +
            "\nwidth_80 = " + format_number(c.width_80, width_digits) +
            "\nwidth_90 = " + format_number(c.width_90, width_digits) +
            "\nlevel = " + format_number(c.level, width_digits) + "\nshape = " + format_number(c.shape, width_digits) +
            "\nsource = \"" + c.source + "\"\n";
  }
  const MeasuredGround& m = confidence.measured;
  text +=
      "\n# Where those runs lie. A question outside is answered with the same width and says that it lies outside.\n"
      "[measured]\nskus = " +
      list_text(m.skus, 8) +
      "\n# SKUs that run another's kernels at the same power, or whose own rows fitted their clock: no "
      "\"other-kernels\".\nsame_kernels = " +
      list_text(m.same_kernels, 16) + "\nsoftware = " + list_text(m.software, 12) +
      "\ngpus = " + std::to_string(m.gpus) + "\nhidden = [" + std::to_string(m.hidden.low) + ", " +
      std::to_string(m.hidden.high) + "]\nseq_len = [" + std::to_string(m.seq_len.low) + ", " +
      std::to_string(m.seq_len.high) + "]\nsource = \"" + m.source +
      "\"\n\n# Recipes by generation.\n[measured.precisions]\n";
  for (const auto& [generation, names] : m.precisions) {
    text += generation + " = " + list_text(names, generation.size() + 4) + "\n";
  }
  return text;
}

}  // namespace headroom
