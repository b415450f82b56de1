// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/value.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/calibrate/gate/pipelines.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/verbs/compare_pipelines.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <functional>
#include <optional>
#include <string>

namespace headroom::cli {
namespace {

std::string pipelines_text(const PipelinePair& q, const PipelineVerdict& a) {
  std::string text = a.verdict + "\n\n";
  Table table{{"", q.pipelines[0].name, q.pipelines[1].name}};
  const auto line = [&](const std::string& name, const std::function<std::string(const MeasuredPipeline&)>& cell) {
    table.row({name, cell(q.pipelines[0]), cell(q.pipelines[1])});
  };
  line("preparation", [](const MeasuredPipeline& p) { return format(p.preparation); });
  line("copies", [](const MeasuredPipeline& p) { return format(p.copies); });
  line("training", [](const MeasuredPipeline& p) { return format(p.training); });
  line("evaluation", [](const MeasuredPipeline& p) { return format(p.evaluation); });
  line("time", [](const MeasuredPipeline& p) { return format(p.time()); });
  line(q.measure, [](const MeasuredPipeline& p) { return format_number(p.quality, 5); });
  line("cost", [](const MeasuredPipeline& p) { return p.cost() ? format(*p.cost()) : "no price"; });
  line("energy", [](const MeasuredPipeline& p) { return p.energy() ? format(*p.energy()) : "no power"; });
  text += table.text(0) + "\nWhat a comparison of training alone would have left out:\n";
  for (const std::string& sentence : a.unfair) {
    text += "  " + sentence + "\n";
  }
  return text + "Qualities within " + format_number(q.tolerance, 3) + " " + q.measure + " count as equal.\n";
}

Value pipelines_document(const PipelinePair& q, const PipelineVerdict& a) {
  return object(
      "schema"_m = "headroom.compare_pipelines/1", "verdict_text"_m = a.verdict, "quality"_m = q.measure,
      "tolerance"_m = q.tolerance, "equal_quality"_m = a.equal_quality, "quality_difference"_m = a.quality_difference,
      "time_ratio"_m = a.time_ratio, "cost_ratio"_m = a.cost_ratio, "energy_ratio"_m = a.energy_ratio,
      "training_ratio"_m = a.training_ratio, "training_cost_ratio"_m = a.training_cost_ratio,
      "pipelines"_m = list(q.pipelines,
                           [](const MeasuredPipeline& p) {
                             return row("name"_m = p.name, "preparation_s"_m = p.preparation, "copies_s"_m = p.copies,
                                        "training_s"_m = p.training, "evaluation_s"_m = p.evaluation,
                                        "time_s"_m = p.time(), "quality"_m = p.quality, "cost_usd"_m = p.cost(),
                                        "energy_j"_m = p.energy());
                           }),
      "left_out"_m = a.unfair);
}

}  // namespace

Outcome run_pipelines(const Arguments& arguments) {
  if (!arguments.many("").empty()) {
    throw ConfigError{"--pipelines holds both pipelines; no scenario stands beside it"};
  }
  const std::string file = arguments.one("--pipelines");
  const PipelinePair question = read_pipelines(read_file(file).text, file);
  const PipelineVerdict answer = compare_pipelines(question);
  const DocumentFormat* const format = document_format(arguments);
  return {format == nullptr ? pipelines_text(question, answer) : format->print(pipelines_document(question, answer)),
          "", 0, format == nullptr};
}

}  // namespace headroom::cli
