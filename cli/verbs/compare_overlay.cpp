// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/verbs/compare_overlay.hpp>
#include <headroom/cli/verbs/quick_form.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <cmath>
#include <filesystem>
#include <optional>

namespace headroom::cli {

extern const Verb compare_verb;

namespace {

/// A number of a plan, by its JSON path: "step_seconds", "memory.weights_bytes".
struct Figure {
  std::string name;
  double value = 0.0;
};

void collect(const Value& value, const std::string& name, std::vector<Figure>& figures) {
  if (value.is_number()) {
    figures.push_back({name, value.number()});
  }
  for (std::size_t i = 0; value.kind() == Value::Kind::object && i < value.members().size(); ++i) {
    const Member& member = value.members()[i];
    collect(member.value, name.empty() ? member.key : name + "." + member.key, figures);
  }
}

std::vector<Figure> figures_of(const Arguments& arguments, const std::string& file, const QuestionLibrary& library) {
  const Plan plan = make_plan(scenario_of(compare_verb, arguments, file, set_in_each(arguments), library), false,
                              PlanPart::all, {}, std::nullopt);
  std::vector<Figure> figures;
  collect(plan_document(plan), "", figures);
  return figures;
}

}  // namespace

Outcome compare_overlay(const Arguments& arguments) {
  const std::vector<std::string> files = arguments.many("");
  const std::string folder = arguments.one("--overlay");
  if (files.size() != 1) {
    throw ConfigError{"--overlay shows what a data folder changes in one scenario; name one"};
  }
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    throw ConfigError{"--overlay " + quoted(folder) + " is no folder; 'headroom calibrate' writes one"};
  }
  UserFolders own = own_folders();
  const std::vector<Figure> without = figures_of(arguments, files.front(), QuestionLibrary::of(own));
  own.folders.insert(own.folders.begin(), folder);
  const std::vector<Figure> with = figures_of(arguments, files.front(), QuestionLibrary::of(own));
  Table table{{"number", "without", "with", "change %"}};
  constexpr double noticed = 5e-4;
  std::size_t same = 0;
  std::size_t changed = 0;
  for (const Figure& after : with) {
    for (const Figure& before : without) {
      if (before.name != after.name) {
        continue;
      }
      const double change = before.value == 0.0 ? 0.0 : after.value / before.value - 1.0;
      if (std::abs(change) < noticed && (before.value != 0.0 || after.value == 0.0)) {
        ++same;
        continue;
      }
      ++changed;
      table.row({after.name, format_number(before.value, 4), format_number(after.value, 4),
                 before.value == 0.0 ? "-" : format_number(100.0 * change, 3)});
    }
  }
  const std::string head = files.front() + " without and with " + folder + ": " + std::to_string(changed) +
                           " numbers change, " + std::to_string(same) + " stay within 0.05 %\n\n";
  return {head + (changed > 0 ? table.text(2) : ""), "", 0};
}

}  // namespace headroom::cli
