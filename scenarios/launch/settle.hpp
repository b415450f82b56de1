// SPDX-License-Identifier: Apache-2.0
// From the keys of a launch file to a scenario document: derived sizes, the network, contradictions.
#pragma once

#include <headroom/scenarios/launch/launch_rows.hpp>

#include <span>
#include <string>

namespace headroom {
struct Sources;
}  // namespace headroom

namespace headroom::launch {

/// Adds `assignments` and what follows from other keys (GPUs from nodes, chunks from layers, shards from replicas,
/// tokens from iterations). Compares the network's numbers with the named model, or finds the preset that has them.
[[nodiscard]] ConfigValue settle(LaunchReading& reading,
                                 std::span<const std::string> assignments,
                                 const Sources& sources);

/// Reads the document as a scenario. Throws ConfigError with all problems so far, missing keys and broken rules of the
/// strategy.
[[nodiscard]] Scenario read_settled(const ConfigValue& document, LaunchReading& reading, const Sources& sources);

/// Whether the reading is that of a serving engine's launch line.
[[nodiscard]] bool is_serving(const LaunchReading& reading);

/// settle() for a serving engine: the preset of its checkpoint, and GPUs from its ranks.
[[nodiscard]] ConfigValue settle_serving(LaunchReading& reading,
                                         std::span<const std::string> assignments,
                                         const Sources& sources);

}  // namespace headroom::launch
