// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/plan/beside_plan.hpp>
#include <headroom/scenarios/plan/nearest_runs.hpp>
#include <headroom/scenarios/plan/runs_beside.hpp>
#include <headroom/scenarios/plan/sensitivity.hpp>
#include <headroom/scenarios/validation/validation.hpp>

namespace headroom {
namespace {

const JobsOfRuns& published_jobs(const Sources& sources) {
  return sources.data.once("published", [&] { return JobsOfRuns{published_runs(RowForm::training), sources}; });
}

const ServersOfRuns& published_servers(const Sources& sources) {
  return sources.data.once("published", [&] { return ServersOfRuns{published_runs(RowForm::serving), sources}; });
}

}  // namespace

void add_nearest(Plan& plan, std::span<const RunFile> own, const Sources& sources) {
  const auto* const train = std::get_if<TrainScenario>(&plan.scenario.question);
  const auto* const answer = std::get_if<TrainPlan>(&plan.answer);
  if (train != nullptr && answer != nullptr && plan.part == PlanPart::all && answer->step.mid.raw() > 0.0) {
    plan.nearest = nearest_runs(*train, published_jobs(sources), own, sources);
  }
  const auto* const serve = std::get_if<ServeScenario>(&plan.scenario.question);
  const auto* const served = std::get_if<ServePlan>(&plan.answer);
  if (serve != nullptr && served != nullptr && served->times) {
    NearestRuns nearest = nearest_runs(*serve, published_servers(sources), sources);
    if (!nearest.runs.empty()) {
      plan.nearest = std::move(nearest);
    }
  }
}

void add_sensitivities(Plan& plan) {
  const auto* const train = std::get_if<TrainScenario>(&plan.scenario.question);
  const auto* const answer = std::get_if<TrainPlan>(&plan.answer);
  if (train != nullptr && answer != nullptr && plan.part == PlanPart::all) {
    plan.sensitivities =
        sensitivities_of(*train, answer->strategy, answer->estimate.step, plan.without, answer->groups);
  }
}

}  // namespace headroom
