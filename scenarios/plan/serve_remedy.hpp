// SPDX-License-Identifier: Apache-2.0
// What to change when a serving question does not fit, or runs fewer sequences at once than it asks for.
#pragma once

#include <headroom/scenarios/question/change.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <string>

namespace headroom {

/// What a change is to reach: room for one sequence with certainty, or all that are asked running at once.
enum class ServingGoal : std::uint8_t { fits, runs_all };

/// The smallest change that reaches the goal. The checkpoint's own format where wider weights are stated; a smaller
/// fraction when what lies beside it does not fit; else, in the order of the harm they do, the engine's settings
/// (max_num_seqs as asked, the fraction up to the engine's default, fewer tokens a step), more ranks of the same GPUs,
/// an 8-bit cache, and more GPUs as replicas or as ranks. Empty when none of these helps.
[[nodiscard]] Changes serving_changes(const ServeScenario& s, ServingGoal goal);

/// The smallest change on the same GPUs that reaches the goal with weights of a narrower format, the widest first: fp8
/// and nvfp4 where the SKU multiplies them, 4-bit integers, which every engine unpacks. The model's answers change with
/// it, and a checkpoint in that format must exist. Empty when none does.
[[nodiscard]] Changes narrower_weights(const ServeScenario& s, ServingGoal goal);

/// Why a replica's memory is refused, by its parts: "may not fit: the KV pool is 250 MiB give or take 819 MiB, one
/// sequence 200 MiB per GPU".
[[nodiscard]] std::string memory_refusal(const ServeScenario& s, const ServingMemory& memory);

/// Single changes of a replica `work`, each of which lets it surely hold a sequence: weights, a cache in 8 bit,
/// fewer sequences, a fraction up to 0.95, more tensor ranks of one host. Empty when none does.
[[nodiscard]] Changes ways_out(const ServeScenario& s, const ServingWorkload& work);

}  // namespace headroom
