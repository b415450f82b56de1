// SPDX-License-Identifier: Apache-2.0
// From what a launch file said to a scenario document: sizes that follow from each other, the network, contradictions.
#pragma once

#include <headroom/scenarios/launch/launch_rows.hpp>

#include <span>
#include <string>

namespace headroom {
struct Sources;
}  // namespace headroom

namespace headroom::launch {

/// Adds what follows (GPUs from nodes, chunks from layers, shards from replicas, tokens from iterations) and what
/// `assignments` state; compares stated numbers of the network with a named model, or finds the preset that has them.
[[nodiscard]] ConfigValue settle(LaunchReading& reading,
                                 std::span<const std::string> assignments,
                                 const Sources& sources);

/// Reads the document as a scenario. Throws ConfigError with everything that was found until here, what is missing and
/// the rules that the strategy breaks.
[[nodiscard]] Scenario read_settled(const ConfigValue& document, LaunchReading& reading, const Sources& sources);

/// Whether a serving engine's line was read.
[[nodiscard]] bool is_serving(const LaunchReading& reading);

/// settle() for a serving engine's line: the preset of its checkpoint, GPUs from its ranks.
[[nodiscard]] ConfigValue settle_serving(LaunchReading& reading,
                                         std::span<const std::string> assignments,
                                         const Sources& sources);

}  // namespace headroom::launch
