// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/library.hpp>
#include <headroom/calibrate/against/plan_gap.hpp>
#include <headroom/calibrate/loads/planned_load.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/render/diagnosis_page.hpp>
#include <headroom/cli/render/render_diagnosis.hpp>
#include <headroom/cli/render/render_plan_gap.hpp>
#include <headroom/cli/verbs/diagnose_plan.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

namespace headroom::cli {

extern const Verb diagnose_verb;

namespace {

constexpr std::string_view learned_columns =
    "model,gpu,gpus,dp,tp,pp,cp,vpp,ep,zero,micro_batch,global_batch,seq_len,precision,recompute,framework,metric,"
    "value";

/// The run's step as a row of `plan --runs`.
std::string learned_row(const TrainScenario& t, const Strategy& s, Seconds step) {
  std::string row = csv_field(t.architecture.id) + "," + csv_field(t.device.id);
  for (const std::int64_t number : {t.work.shape.gpus, std::int64_t{s.dp}, std::int64_t{s.tp}, std::int64_t{s.pp},
                                    std::int64_t{s.cp}, std::int64_t{s.vpp}, std::int64_t{s.ep}, std::int64_t{s.zero},
                                    std::int64_t{s.micro_batch}, t.work.shape.global_batch, t.work.shape.seq_len}) {
    row += "," + std::to_string(number);
  }
  return row + "," + std::string{name_of(t.work.precision)} + "," +
         std::string{recompute_names[static_cast<std::size_t>(s.recompute)]} + "," + csv_field(t.software.id) +
         ",step_time_s," + general_text(step.raw(), 6) + "\n";
}

/// Adds a row to a file of such rows, which is made where there is none.
void learn(const std::string& file, const std::string& row) {
  std::string text{learned_columns};
  text += "\n";
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    text = read_file(file).text;
    if (text.substr(0, text.find_first_of("\r\n")) != learned_columns) {
      throw ConfigError{{Diagnostic{file,
                                    {1, 1},
                                    "--learn adds rows of the columns " + std::string{learned_columns} +
                                        ", and the file has others; name another file"}}};
    }
    text += text.ends_with("\n") ? "" : "\n";
  }
  write_whole_file(file, text + row);
}

struct HeldAgainst {
  std::optional<PlanGap> gap;  ///< of a training
  std::string row;
  RunReading reading;  ///< of a server with its plan beside it
};

/// A server's plan as a load is held against it. Terms of an iteration are those of the whole batch.
PlannedLoad planned_load(const ServeScenario& scenario, const ServePlan& answer) {
  const ServingTimes& times = *answer.times;
  PlannedLoad planned;
  planned.concurrency = static_cast<double>(scenario.work.concurrency);
  planned.ttft = answer.ttft;
  planned.tpot = answer.tpot;
  planned.requests_per_s = answer.requests_per_s;
  planned.output_tokens_per_s = answer.output_tokens_per_s;
  const auto fill = [](PlannedTerms& terms, const IterationTerms& of, double each, Seconds whole,
                       std::string_view rest) {
    Seconds sum{};
    for (std::size_t i = 0; i < iteration_term_count; ++i) {
      terms.emplace_back(iteration_term_names[i], Seconds{of.seconds[i] / each});
      sum += terms.back().second;
    }
    terms.emplace_back(rest, std::max(Seconds{}, whole - sum));
  };
  fill(planned.tpot_terms, times.decode, times.step_tokens, answer.tpot.mid, "prompts beside, drafting");
  fill(planned.ttft_terms, times.prompt, 1.0, answer.ttft.mid, "waits, and what runs beside");
  return planned;
}

HeldAgainst held_serving(const std::string& file, const Plan& plan, const RunReading& reading) {
  const auto& scenario = std::get<ServeScenario>(plan.scenario.question);
  const ServePlan& answer = std::get<ServePlan>(plan.answer);
  if (reading.loads.empty()) {
    throw ConfigError{{Diagnostic{file,
                                  {},
                                  "the scenario is of a server, and no file tells of a load; give the result of a "
                                  "benchmark (vllm bench serve --save-result), or a training scenario"}}};
  }
  if (!answer.times) {
    throw ConfigError{{Diagnostic{file, {}, "the plan has no times to hold the load against: " + answer.verdict}}};
  }
  HeldAgainst held;
  held.reading = reading;
  add_planned_load(planned_load(scenario, answer), held.reading);
  return held;
}

HeldAgainst held_against(const Arguments& arguments, const RunReading& reading) {
  const std::string file = arguments.one("--against");
  const std::vector<Assignment> overrides = assignments_of(arguments, "--set");
  Diagnostics problems;
  ConfigValue alone;
  for (const Assignment& assignment : overrides) {
    apply_override(alone, assignment, problems);
  }
  problems.throw_if_any();  // told though the file may not be there
  const QuestionLibrary library = own_library();
  const Plan plan = make_plan(scenario_of(diagnose_verb, arguments, file, overrides, library), false);
  if (std::holds_alternative<ServeScenario>(plan.scenario.question)) {
    if (arguments.has("--learn")) {
      throw ConfigError{{Diagnostic{file, {}, "--learn keeps steps of trainings, and the scenario is of a server"}}};
    }
    return held_serving(file, plan, reading);
  }
  const auto* const trained = std::get_if<TrainScenario>(&plan.scenario.question);
  if (trained == nullptr) {
    throw ConfigError{{Diagnostic{file,
                                  {},
                                  "--against takes a scenario that trains or serves a language model; steps of others "
                                  "have other parts"}}};
  }
  const TrainPlan& answer = std::get<TrainPlan>(plan.answer);
  if (answer.step.mid.raw() <= 0.0) {
    throw ConfigError{{Diagnostic{file, {}, "the plan has no time to hold the run against: " + answer.verdict}}};
  }
  if (!reading.step || reading.step->raw() <= 0.0) {
    throw ConfigError{"the run's files tell no step to hold against the plan"};
  }
  PlannedStep planned;
  planned.step = answer.step;
  planned.terms = answer.estimate.time;
  planned.mfu = answer.mfu.mid;
  planned.passes = step_parameters(*trained->data).physics.bandwidth;
  return {plan_gap(reading, planned), learned_row(*trained, answer.strategy, *reading.step), {}};
}

}  // namespace

Outcome diagnosed(const Arguments& arguments, const RunReading& reading) {
  const DocumentFormat* const format = document_format(arguments);
  const bool page = arguments.has("--format") && arguments.one("--format") == "html";
  const bool prose = format == nullptr && !page;
  if (!arguments.has("--against")) {
    return {page    ? diagnosis_page(reading)
            : prose ? diagnosis_text(reading)
                    : format->print(diagnosis_document(reading)),
            "", 0, prose};
  }
  const std::string scenario = arguments.one("--against");
  const HeldAgainst held = held_against(arguments, reading);
  if (!held.gap) {
    return {page    ? diagnosis_page(held.reading)
            : prose ? diagnosis_text(held.reading)
                    : format->print(diagnosis_document(held.reading)),
            "", 0, prose};
  }
  std::string learned;
  if (arguments.has("--learn")) {
    learn(arguments.one("--learn"), held.row);
    learned =
        "'headroom plan " + scenario + " --runs " + arguments.one("--learn") + "' plans with what this run says\n";
  }
  if (page) {
    return {diagnosis_page(reading, &*held.gap), "", 0, false};
  }
  if (prose) {
    return {diagnosis_text(reading) + plan_gap_text(*held.gap, scenario) + learned, "", 0, true};
  }
  Value document = diagnosis_document(reading);
  document.add({"against", plan_gap_value(*held.gap, scenario)});
  return {format->print(document), "", 0, false};
}

}  // namespace headroom::cli
