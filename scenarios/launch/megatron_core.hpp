// SPDX-License-Identifier: Apache-2.0
// The options of Megatron-Core, called as Megatron-LM's arguments are; Megatron-LM and NeMo (Megatron-Bridge) spell the
// same ones in two ways.
#pragma once

#include <headroom/scenarios/launch/launch_rows.hpp>

#include <span>
#include <string_view>

namespace headroom::launch {

/// Every argument that binds to a scenario key, specials included.
[[nodiscard]] std::span<const LaunchRow> megatron_rows() noexcept;
/// Arguments that say nothing a scenario holds: optimizer schedule, data, checkpoints, logs, fusions.
[[nodiscard]] std::span<const std::string_view> megatron_passed() noexcept;
/// Keys that Megatron-Core has no argument for.
[[nodiscard]] std::span<const LaunchGap> megatron_gaps() noexcept;

/// A plan as arguments; with `explicitly` also what Megatron-LM does where nothing is said.
[[nodiscard]] LaunchWriting write_megatron(const LaunchPlan& plan, bool explicitly);

enum class Absent : bool {
  is_unsaid,   ///< overrides of a recipe: what is not there stays the recipe's
  is_default,  ///< a whole command line: what is not there is Megatron-LM's default
};
/// Arguments into the reading's plan.
void read_megatron(const LaunchItems& items, Absent absent, LaunchReading& reading);

/// Parts of the two above, for the network.
void write_megatron_network(LaunchWriting& writing);
void read_megatron_network(const LaunchItems& items, Absent absent, LaunchReading& reading);

/// The same for what no count of the network hangs on: epsilon, activation, rotary positions, the router's rule.
void write_megatron_details(LaunchWriting& writing);
void read_megatron_details(const LaunchItems& items, Absent absent, LaunchReading& reading);

/// `([0]*3+[1]*58)` for the kinds of all layers, shortest of the ways known here.
[[nodiscard]] std::string layer_pattern(const std::vector<int>& layers);
/// The layers that such an expression, or an integer N (1 in N, the first of them), stands for; a problem of `value`
/// and empty for anything else.
[[nodiscard]] std::vector<int> layers_of_pattern(const ConfigValue& value, std::int64_t layers, LaunchReading& reading);

}  // namespace headroom::launch
