// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/printable.hpp>
#include <headroom/scenarios/deploy/deploy_forms.hpp>
#include <headroom/scenarios/money/money.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <utility>

namespace headroom {
namespace {

/// Makes the notes printable, one line each.
ExportedLaunch deployment(launch::LaunchText written) {
  for (LaunchNote& note : written.notes) {
    note.text = shown(note.text);
  }
  return {std::move(written.text), std::move(written.notes), true};
}

bool on_spot(const Scenario& scenario) {
  return scenario.money.market == PaidAs::spot;
}

}  // namespace

std::optional<DeployForm> deploy_form_of(std::string_view name) noexcept {
  const auto* const found = std::find(deploy_form_names.begin(), deploy_form_names.end(), name);
  return found == deploy_form_names.end() ? std::nullopt
                                          : std::optional{static_cast<DeployForm>(found - deploy_form_names.begin())};
}

ExportedLaunch export_deployment(const Scenario& scenario, const ServeScenario& serve, DeployForm form) {
  const launch::LaunchPlan plan = launch::serve_keys(scenario, serve);
  std::optional<deploy::PrefillPool> prefill;
  if (serve.fleet && serve.fleet->prefill) {
    prefill = deploy::PrefillPool{serve.fleet->prefill->tp, serve.fleet->prefill->replicas};
  }
  switch (form) {
    case DeployForm::dynamo: return deployment(deploy::dynamo_text(plan, prefill));
    case DeployForm::inference_service: return deployment(deploy::inference_service_text(plan));
    case DeployForm::ray_service: return deployment(deploy::ray_service_text(plan));
    case DeployForm::skypilot: return deployment(deploy::skypilot_server_text(plan, on_spot(scenario)));
    case DeployForm::cloudai_test: return deployment(deploy::cloudai_test_text(plan));
    case DeployForm::cloudai_scenario: return deployment(deploy::cloudai_scenario_text(plan));
    case DeployForm::cloudai_system: return deployment(deploy::cloudai_system_text(plan));
    case DeployForm::count: break;
  }
  throw ConfigError{"no such form"};
}

ExportedLaunch export_deployment(const Scenario& scenario,
                                 const TrainScenario& train,
                                 const Strategy& strategy,
                                 DeployForm form) {
  if (!deploys_training(form)) {
    throw ConfigError{"form " + quoted(deploy_form_names[static_cast<std::size_t>(form)]) +
                      " deploys servers, and the scenario asks for training; use --to slurm, torchrun, skypilot or "
                      "cloudai-test"};
  }
  const launch::LaunchPlan plan = launch::plan_of(scenario, train, strategy);
  const std::int64_t per_node = std::max<std::int64_t>(1, plan.count("launch.gpus_per_node", 1));
  const std::int64_t gpus = plan.count("hardware.gpus", 1);
  if (gpus > per_node && gpus % per_node != 0) {
    throw ConfigError{std::to_string(gpus) + " GPUs do not fill whole nodes of " + std::to_string(per_node)};
  }
  switch (form) {
    case DeployForm::skypilot: return deployment(deploy::skypilot_training_text(plan, on_spot(scenario)));
    case DeployForm::cloudai_test: return deployment(deploy::cloudai_test_text(plan));
    case DeployForm::cloudai_scenario: return deployment(deploy::cloudai_scenario_text(plan));
    default: return deployment(deploy::cloudai_system_text(plan));
  }
}

}  // namespace headroom
