// SPDX-License-Identifier: Apache-2.0
// What to change when a serving question does not fit, or runs fewer sequences at once than it asks for.
#pragma once

#include <headroom/scenarios/scenario.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

/// What a change is to reach: room for one sequence with certainty, or all that are asked running at once.
enum class ServingGoal : std::uint8_t { fits, runs_all };

/// Sequences that one replica has to run for the asked concurrency.
[[nodiscard]] std::int64_t sequences_asked(const ServingWorkload& work) noexcept;

/// The smallest change that reaches the goal. A smaller fraction when what lies beside it does not fit; else, in the
/// order of the harm they do, the engine's settings (max_num_seqs as asked, the fraction up to the engine's default,
/// fewer tokens a step), more ranks of the same GPUs, an 8-bit cache, and more GPUs as replicas or as ranks. Empty when
/// none of these helps.
[[nodiscard]] std::vector<std::string> serving_changes(const ServeScenario& s, ServingGoal goal);

}  // namespace headroom
