// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/step_files.hpp>
#include <headroom/cli/render/fit_page.hpp>
#include <headroom/scenarios/validation/accuracy_page.hpp>

#include <cmath>
#include <limits>
#include <map>

namespace headroom::cli {
namespace {

ParameterRow row_of(const StepFit& fit, std::size_t index) {
  const StepKnob& knob = fit.knobs[index];
  ParameterRow row;
  row.scope = knob.scope == StepScope::physics ? ParameterScope::global
              : knob.scope == StepScope::level ? ParameterScope::sku
                                               : ParameterScope::stack;
  row.owner =
      knob.scope == StepScope::physics ? "all" : knob.id + (knob.scope == StepScope::experts ? ", experts" : "");
  row.name = knob.key;
  row.value = step_value_text(knob, knob.value);
  std::size_t runs = 0;
  for (const std::vector<std::size_t>& behind : fit.behind) {
    for (const std::size_t k : behind) {
      runs += k == index ? 1 : 0;
    }
  }
  row.fitted_on = std::to_string(runs) + " runs";
  return row;
}

}  // namespace

std::string fit_page(const StepFit& fit,
                     std::span<const RunFile> files,
                     const Sources& sources,
                     const std::string& command) {
  ValidationScope scope;
  scope.groups = accuracy_reference().groups();
  AccuracyInputs inputs;
  inputs.validation = validate(files, scope, sources);
  std::map<std::string, const FittedRun*, std::less<>> fitted;
  for (const FittedRun& run : fit.runs) {
    fitted[run.row->file + "|" + run.row->id] = &run;
  }
  for (const ScoredRow& row : inputs.validation.rows) {
    const auto found = fitted.find(row.file + "|" + row.id);
    const double e = found == fitted.end() ? std::numeric_limits<double>::quiet_NaN() : found->second->left_out;
    inputs.left_out.push_back(row.measured * std::exp(time_sign(row.metric) * e));
    inputs.told.push_back(found == fitted.end() ? FittedRun{}.after : found->second->after);
  }
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    inputs.parameters.push_back(row_of(fit, i));
  }
  inputs.worst = worst_rows(inputs.validation.rows, shown_worst_rows, shipped_terms(sources));
  inputs.command = command;
  return accuracy_page(inputs);
}

}  // namespace headroom::cli
