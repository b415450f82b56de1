// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/gate/pipelines.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 2> better_words{"higher", "lower"};
constexpr Range<double> any_quality{-1e12, 1e12};

MeasuredPipeline read_pipeline(ConfigTable& table) {
  MeasuredPipeline p;
  p.name = table.text("name");
  p.preparation = table.quantity<Seconds>("preparation", true, "10 min");
  p.copies = table.quantity<Seconds>("copies", true, "30 s");
  p.training = table.quantity<Seconds>("training", false, "50 min");
  p.evaluation = table.maybe_quantity<Seconds>("evaluation", true, "1 min").value_or(Seconds{});
  p.quality = table.number("quality", any_quality);
  p.price = table.maybe_quantity<DollarsPerSecond>("price", true, "3.06 $/h");
  p.power = table.maybe_quantity<Watts>("power", false, "500 W");
  table.finish();
  return p;
}

std::string times_text(double ratio, const char* more, const char* less) {
  const double factor = ratio >= 1.0 ? ratio : 1.0 / ratio;
  return format_number(factor, 3) + " times " + (ratio >= 1.0 ? more : less);
}

std::string verdict_of_pipelines(const PipelinePair& q, const PipelineVerdict& a) {
  const MeasuredPipeline& first = q.pipelines[0];
  const MeasuredPipeline& second = q.pipelines[1];
  const std::string apart = format_number(std::abs(a.quality_difference), 3) + " " + q.measure;
  if (!a.equal_quality) {
    const bool second_better = (a.quality_difference > 0.0) == q.higher_is_better;
    return "No verdict: " + (second_better ? second.name : first.name) + " is better by " + apart +
           ", more than the tolerance of " + format_number(q.tolerance, 3) + "; tune " +
           (second_better ? first.name : second.name) + " until it reaches the same, then compare.";
  }
  std::string text = "At equal " + q.measure + " (" + apart + " apart) " + second.name + " is " +
                     times_text(1.0 / a.time_ratio, "as fast", "as slow") + " as " + first.name;
  if (a.cost_ratio) {
    text += " and costs " + percent(*a.cost_ratio, 3) + " of it: " + (*a.cost_ratio < 1.0 ? second.name : first.name) +
            " is better per dollar";
    text += (*a.cost_ratio < 1.0) == (a.time_ratio < 1.0)
                ? ", and in time"
                : ", " + (a.time_ratio < 1.0 ? second.name : first.name) + " in time";
  }
  return text + ".";
}

void tell_unfair(const PipelinePair& q, PipelineVerdict& a) {
  const MeasuredPipeline& first = q.pipelines[0];
  const MeasuredPipeline& second = q.pipelines[1];
  a.unfair.push_back("Training alone makes " + second.name + " " +
                     times_text(1.0 / a.training_ratio, "as fast", "as slow") + ", the whole way " +
                     times_text(1.0 / a.time_ratio, "as fast", "as slow") + ": it leaves out " +
                     percent(a.left_out_first, 3) + " of the time of " + first.name + " and " +
                     percent(a.left_out_second, 3) + " of " + second.name + ".");
  for (const MeasuredPipeline& p : q.pipelines) {
    if (p.copies.raw() + p.preparation.raw() > 0.0) {
      a.unfair.push_back(p.name + " spends " + format(p.preparation) + " on preparing data and " + format(p.copies) +
                         " on copies, which are waited and paid for as training is.");
    }
  }
  if (a.training_cost_ratio && a.cost_ratio && (*a.training_cost_ratio < 1.0) != (*a.cost_ratio < 1.0)) {
    a.unfair.push_back("By training alone " + (*a.training_cost_ratio < 1.0 ? second.name : first.name) +
                       " would have been cheaper; the machines are paid for the whole way.");
  }
  if (!a.cost_ratio) {
    a.unfair.push_back("Without the price of both nothing is said per dollar.");
  }
  if (!a.energy_ratio) {
    a.unfair.push_back("Without the power of both nothing is said of energy.");
  }
}

}  // namespace

std::optional<Dollars> MeasuredPipeline::cost() const noexcept {
  return price ? std::optional{*price * time()} : std::nullopt;
}

std::optional<Joules> MeasuredPipeline::energy() const noexcept {
  return power ? std::optional{*power * time()} : std::nullopt;
}

PipelinePair read_pipelines(std::string_view text, const std::string& file) {
  const ConfigValue document = parse_toml(text, file);
  Diagnostics problems;
  ConfigTable root{document, "", problems};
  require_schema(root);
  PipelinePair q;
  q.measure = root.text("quality");
  q.higher_is_better = root.maybe_choice("better", better_words).value_or(0) == 0;
  q.tolerance = root.number("tolerance", {0.0, 1e12});
  for (ConfigTable& table : root.tables("pipeline")) {
    q.pipelines.push_back(read_pipeline(table));
  }
  if (q.pipelines.size() != 2) {
    root.problem("pipeline", "two tables [[pipeline]] are compared, and there " +
                                 std::string{q.pipelines.size() == 1 ? "is " : "are "} +
                                 std::to_string(q.pipelines.size()));
  }
  root.finish();
  problems.throw_if_any();
  return q;
}

PipelineVerdict compare_pipelines(const PipelinePair& q) {
  const MeasuredPipeline& first = q.pipelines[0];
  const MeasuredPipeline& second = q.pipelines[1];
  PipelineVerdict a;
  // A decimal difference such as 0.842 - 0.840 is a few last bits off.
  constexpr double rounding = 1e-9;
  a.quality_difference = second.quality - first.quality;
  a.equal_quality = std::abs(a.quality_difference) <= q.tolerance + rounding;
  a.time_ratio = second.time() / first.time();
  a.training_ratio = second.training / first.training;
  a.left_out_first = 1.0 - first.training / first.time();
  a.left_out_second = 1.0 - second.training / second.time();
  if (first.price && second.price && first.cost()->raw() > 0.0) {
    a.cost_ratio = *second.cost() / *first.cost();
    a.training_cost_ratio = (*second.price * second.training) / (*first.price * first.training);
  }
  if (first.power && second.power) {
    a.energy_ratio = *second.energy() / *first.energy();
  }
  a.verdict = verdict_of_pipelines(q, a);
  tell_unfair(q, a);
  return a;
}

}  // namespace headroom
