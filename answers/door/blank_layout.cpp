// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/blank_layout.hpp>
#include <headroom/core/config_reader.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom {
namespace {

/// Whether a document says how its ranks are laid out, or frees it.
bool states_layout(const ConfigValue& document) {
  constexpr std::array<std::string_view, 8> keys{"tp", "pp", "cp", "ep", "etp", "dp", "vpp", "zero"};
  const ConfigValue* const strategy = document.find("strategy");
  return document.find("search") != nullptr ||
         (strategy != nullptr &&
          std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return strategy->find(key) != nullptr; }));
}

bool is_blank(const Plan& plan) {
  return plan.part == PlanPart::all && plan.scenario.document && !states_layout(*plan.scenario.document);
}

}  // namespace

std::optional<SearchQuestion> search_of_blank(const Plan& plan) {
  const auto* const train = std::get_if<TrainPlan>(&plan.answer);
  const auto is = [&](Verdict verdict) { return train->estimate.verdict == verdict; };
  const bool short_of_memory = train != nullptr && (is(Verdict::out_of_memory) || is(Verdict::may_not_fit));
  if (!short_of_memory || !is_blank(plan) || std::get<TrainScenario>(plan.scenario.question).work.shape.gpus == 1) {
    return std::nullopt;
  }
  ConfigValue document = *plan.scenario.document;
  Diagnostics diagnostics;
  apply_override(document, Assignment{"search.strategy=any"}, diagnostics);
  return read_search(document, plan.scenario.file, *plan.scenario.sources);
}

std::optional<BoxQuestion> box_of_blank(const Plan& plan) {
  const auto* const served = std::get_if<ServePlan>(&plan.answer);
  const bool short_of_memory = served != nullptr && served->problems.empty() && !plan.feasible();
  if (!short_of_memory || !is_blank(plan) || std::get<ServeScenario>(plan.scenario.question).work.gpus == 1) {
    return std::nullopt;
  }
  return read_box(*plan.scenario.document, plan.scenario.file, *plan.scenario.sources);
}

std::string blank_layout_note(const Plan& plan, bool complete) {
  const bool trains = std::holds_alternative<TrainPlan>(plan.answer);
  return std::string{"strategy: not stated; on one rank "} + (trains ? "a data-parallel replica" : "a replica") +
         " it does not surely fit, so that " +
         (complete ? "every layout was tried" : "layouts were tried up to the interrupt");
}

}  // namespace headroom
