// SPDX-License-Identifier: Apache-2.0
// Options of Megatron-Core under Megatron-LM's argument names; Megatron-LM and NeMo (Megatron-Bridge) spell the same
// options differently.
#pragma once

#include <headroom/scenarios/launch/launch_rows.hpp>

#include <span>
#include <string_view>

namespace headroom::launch {

/// Rows for every argument that binds to a scenario key, special rows included.
[[nodiscard]] std::span<const LaunchRow> megatron_rows() noexcept;
/// Arguments without effect on a scenario: optimizer schedule, data, checkpoints, logs, fusions.
[[nodiscard]] std::span<const std::string_view> megatron_passed() noexcept;
/// Keys that Megatron-Core has no argument for.
[[nodiscard]] std::span<const LaunchGap> megatron_gaps() noexcept;

/// A plan as arguments; with `explicitly` also those that equal Megatron-LM's defaults.
[[nodiscard]] LaunchWriting write_megatron(const LaunchPlan& plan, bool explicitly);

enum class Absent : bool {
  is_unsaid,   ///< overrides of a recipe: an absent argument keeps the recipe's value
  is_default,  ///< a whole command line: an absent argument has Megatron-LM's default
};
/// Reads arguments into the reading's plan.
void read_megatron(const LaunchItems& items, Absent absent, LaunchReading& reading);

/// The network's part of write_megatron and read_megatron.
void write_megatron_network(LaunchWriting& writing);
void read_megatron_network(const LaunchItems& items, Absent absent, LaunchReading& reading);

/// The part for details that no size depends on: epsilon, activation, rotary positions, routing rule.
void write_megatron_details(LaunchWriting& writing);
void read_megatron_details(const LaunchItems& items, Absent absent, LaunchReading& reading);

/// Pattern for the kinds of all layers, the shortest of several notations: `([0]*3+[1]*58)`.
[[nodiscard]] std::string layer_pattern(const std::vector<int>& layers);
/// Layers of a pattern, or of an integer N (the first of every N layers). Any other `value` is a problem and gives an
/// empty list.
[[nodiscard]] std::vector<int> layers_of_pattern(const ConfigValue& value, std::int64_t layers, LaunchReading& reading);

}  // namespace headroom::launch
