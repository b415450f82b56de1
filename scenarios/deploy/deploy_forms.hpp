// SPDX-License-Identifier: Apache-2.0
// Writers of every form, and what they share.
#pragma once

#include <headroom/scenarios/deploy/deploy.hpp>
#include <headroom/scenarios/launch/serve_forms.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::deploy {

using launch::LaunchPlan;
using launch::LaunchText;

/// Replicas that only prefill, beside the plan's, which then only decode.
struct PrefillPool {
  std::int64_t tp = 1;
  std::optional<std::int64_t> replicas;  ///< nothing: as many as keep the promises
};

[[nodiscard]] LaunchText dynamo_text(const LaunchPlan& plan, const std::optional<PrefillPool>& prefill);
[[nodiscard]] LaunchText inference_service_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText ray_service_text(const LaunchPlan& plan);
/// `spot`: whether the plan pays for hardware that may be taken away.
[[nodiscard]] LaunchText skypilot_server_text(const LaunchPlan& plan, bool spot);
[[nodiscard]] LaunchText skypilot_training_text(const LaunchPlan& plan, bool spot);
[[nodiscard]] LaunchText cloudai_test_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText cloudai_scenario_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText cloudai_system_text(const LaunchPlan& plan);

/// Writes the options of the plan's engine; returns the YAML of those without a flag. ConfigError for an engine whose
/// launch line is not known.
[[nodiscard]] std::string write_engine(launch::LaunchWriting& writing);
/// The command that starts a server of the plan's engine on one host, as words of a process: process and model first,
/// the options behind them.
[[nodiscard]] std::vector<std::string> engine_command(const launch::LaunchWriting& writing);
/// Benchmark of the plan's engine under the whole load.
[[nodiscard]] std::vector<std::string> engine_bench(const LaunchPlan& plan);
/// The engine's own image of its release.
[[nodiscard]] std::string image_of_engine(launch::LaunchWriting& writing);

/// Notes that what a cluster's front does with requests is not the plan's router, where there are several replicas.
void note_front(const launch::Replicas& replicas, std::string_view front, launch::LaunchWriting& writing);

/// {"name": NAME}.
[[nodiscard]] ConfigValue named_object(const std::string& name);
/// Limits of a pod that takes so many of the plan's GPUs.
[[nodiscard]] ConfigValue gpu_limits(const LaunchPlan& plan, std::int64_t gpus);

/// Whether a plan is of serving.
[[nodiscard]] bool is_serving(const LaunchPlan& plan);
/// Name of the plan's workload: letters, digits and inner hyphens.
[[nodiscard]] std::string workload_name(const LaunchPlan& plan);

}  // namespace headroom::deploy
