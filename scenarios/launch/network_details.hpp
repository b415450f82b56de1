// SPDX-License-Identifier: Apache-2.0
// What a launch says of a network beside its sizes: two launches that differ in it alone take the same bytes and
// seconds, and train two networks.
#pragma once

#include <headroom/scenarios/launch/launch_rows.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom::launch {

/// Whether a key below `model.` is such a detail.
[[nodiscard]] bool is_detail(std::string_view key) noexcept;

/// The details that a launch has otherwise than a preset. What the launch leaves to its software stands in its plan as
/// assumed, and differs only from what the preset knows; what a recipe decides stands nowhere, and differs from
/// nothing.
[[nodiscard]] std::vector<std::string> different_details(const LaunchPlan& launch, const LaunchPlan& preset);

/// The preset `id`, placed at `at`, as the plan's network: with the details of the launch where they are others, which
/// is remarked, instead of the sizes that the plan has.
void take_preset(const std::string& id, const LaunchPlan& preset, const ConfigValue& at, LaunchReading& reading);

/// Takes out of the plan the details that a network has which does not state them.
void drop_usual_details(LaunchPlan& plan);

/// Takes out of the plan what it says of the network's sizes and details.
void drop_network(LaunchPlan& plan);

}  // namespace headroom::launch
