// SPDX-License-Identifier: Apache-2.0
// An iteration's kernels with what an engine adds to them.
#pragma once

#include <headroom/model/serve/engine/iteration_stack.hpp>
#include <headroom/model/serve/replica/replica.hpp>

namespace headroom {

/// Of sequences dealt to groups, those of the group with the most: ceil(sequences / groups), and of numbers that are
/// means the line between the whole ones around them.
[[nodiscard]] double of_busiest_group(double sequences, double groups) noexcept;

/// Launches of an iteration that only some layers have, seconds of all of them.
struct EngineLaunches {
  Seconds experts{};         ///< around grouped products
  Seconds indexers{};        ///< of sparse attention: scores, top-k and gather
  bool own_experts = false;  ///< `experts` stands for the launches of the measured kernels too
};
[[nodiscard]] EngineLaunches engine_launches(const Replica& replica,
                                             const IterationStack& stack,
                                             const IterationPhysics& physics) noexcept;

/// Kernel seconds with an engine's factors, gaps and host in:
///   kernels = sum over kinds of factor x seconds; decode attention no faster than its products on the vector units
///             where the engine's kernels have no tensor cores for them (norm3 of both)
///   experts scaled by blocks further times `block_experts` as far as an expert's rows leave a tile of 64 empty,
///   products of nvfp4 times `nvfp4`, those of narrow weights that are unpacked times `weight_only`, of many rows no
///   less than 1, and what writes packed weights out before a product times `written_out`
///
///   gaps    = layers x layer + expert layers x expert_layer (or the engine's launches of mxfp4 experts, in place of
///             those in the kernels' time) + layers with an indexer x indexer; in a step with prompts the launches
///             max(layers x layer, prompt kernels x prompt_launch + layers of delta rules x delta_layer +
///             layers of unpacked mxfp4 experts x mxfp4_call), less what
///             runs beside kernels: overlap x min(kernels, launches)
///   host    = step + sequence x (decodes + chunks) of the busiest attention group: under attention-DP each rank
///             schedules its own, beside the others
[[nodiscard]] IterationTerms engine_terms(const Replica& replica,
                                          const IterationMix& mix,
                                          IterationTerms kernels,
                                          const IterationStack& stack,
                                          const IterationPhysics& physics) noexcept;

/// Host seconds that drafts of `sequences` add to an iteration where the engine does not overlap them:
/// draft_step + draft_sequence x sequences of the busiest attention group.
[[nodiscard]] double drafting_host(const IterationStack& stack, double sequences, double groups) noexcept;

}  // namespace headroom
