// SPDX-License-Identifier: Apache-2.0
// Details of a network besides its sizes. They define which network is trained, but change neither bytes nor seconds.
#pragma once

#include <headroom/scenarios/launch/launch_rows.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom::launch {

/// Whether a key below `model.` is a detail.
[[nodiscard]] bool is_detail(std::string_view key) noexcept;

/// Details in which a launch differs from a preset. Defaults of the launch's software are in its plan as assumed, and
/// are compared only with what the preset states; details that a recipe decides are absent and not compared.
[[nodiscard]] std::vector<std::string> different_details(const LaunchPlan& launch, const LaunchPlan& preset);

/// Makes the preset `id` (stated at `at`) the plan's network in place of the sizes, and keeps the launch's different
/// details, with a remark.
void take_preset(const std::string& id, const LaunchPlan& preset, const ConfigValue& at, LaunchReading& reading);

/// Erases details whose value is that of a network which does not state them.
void drop_usual_details(LaunchPlan& plan);

/// Erases the network's sizes and details.
void drop_network(LaunchPlan& plan);

}  // namespace headroom::launch
