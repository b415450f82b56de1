// SPDX-License-Identifier: Apache-2.0
// Plans as files of programs that deploy or verify them: Dynamo, KServe's InferenceService, KubeRay, SkyPilot, CloudAI.
// Fields by form, with their sources: docs/formats.md.
#pragma once

#include <headroom/scenarios/launch/launch.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

enum class DeployForm : std::uint8_t {
  dynamo,             ///< DynamoGraphDeployment
  inference_service,  ///< KServe's InferenceService
  ray_service,        ///< RayService of KubeRay
  skypilot,           ///< a task, of serving with its service
  cloudai_test,       ///< a test definition of CloudAI
  cloudai_scenario,   ///< the collectives of the plan as NCCL tests, then that test
  cloudai_system,     ///< the Slurm system that both run on
  count
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(DeployForm::count)> deploy_form_names{
    "dynamo", "inferenceservice", "rayservice", "skypilot", "cloudai-test", "cloudai-scenario", "cloudai-system"};

/// The form of a name; nullopt: none of these.
[[nodiscard]] std::optional<DeployForm> deploy_form_of(std::string_view name) noexcept;
/// Whether training can be written in it.
[[nodiscard]] constexpr bool deploys_training(DeployForm form) noexcept {
  return form >= DeployForm::skypilot;
}

/// A serving plan: as many replicas as it has, each with its ranks, its engine's options and its GPUs. Throws
/// ConfigError when the form belongs to other engines or cannot express the layout.
[[nodiscard]] ExportedLaunch export_deployment(const Scenario& scenario, const ServeScenario& serve, DeployForm form);

/// A training plan. Throws ConfigError for a form of serving alone, and for GPUs that do not fill whole nodes.
[[nodiscard]] ExportedLaunch export_deployment(const Scenario& scenario,
                                               const TrainScenario& train,
                                               const Strategy& strategy,
                                               DeployForm form);

}  // namespace headroom
