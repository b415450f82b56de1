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

/// What lies between the kernels of an iteration: in a graph that is replayed, and where the host launches them.
struct IterationGaps {
  double replayed = 0.0;  ///< seconds between kernels
  double launched = 0.0;  ///< seconds that the host takes to launch them all; 0: one graph
  /// Of kernels that take so many seconds: what launches take beyond them, or lies between them.
  [[nodiscard]] double beside(double kernels, double overlap) const noexcept;
};
[[nodiscard]] IterationGaps iteration_gaps(const Replica& replica,
                                           const IterationMix& mix,
                                           const IterationStack& stack,
                                           const IterationPhysics& physics) noexcept;
/// Seconds that the host takes to launch an iteration with prompts, where those of at most `graphs` tokens are launched
/// in pieces of a graph; without prompts 0.
[[nodiscard]] double launched_seconds(const Replica& replica,
                                      const IterationMix& mix,
                                      const IterationStack& stack,
                                      double graphs) noexcept;
/// Most tokens of an iteration whose prompts the engine replays in pieces of a graph.
[[nodiscard]] double graph_tokens(const Replica& replica, const IterationStack& stack) noexcept;

/// Kernel seconds with an engine's factors, gaps and host in:
///   kernels = sum over kinds of factor x seconds; decode attention no faster than its products on the vector units
///             where the engine's kernels have no tensor cores for them (norm3 of both)
///   experts scaled by blocks further times `block_experts`, products of nvfp4 times `nvfp4`, those of narrow weights
///   that are unpacked times `weight_only`, of many rows no less than 1, and what writes packed weights out before a
///   product times `written_out`
///   gaps    = layers x layer + expert layers x expert_layer (or the engine's launches of mxfp4 experts, in place of
///             those in the kernels' time) + layers with an indexer x indexer; in a step with prompts, which the host
///             launches kernel by kernel and ahead of the device, no less than launches - overlap x min(kernels,
///             launches) with launches = prompt_layer x kernels / those of a plain layer
///   host    = step + sequence x (decodes + chunks) of the busiest attention group: under attention-DP each rank
///             schedules its own, beside the others
[[nodiscard]] IterationTerms engine_terms(const Replica& replica,
                                          const IterationMix& mix,
                                          IterationTerms kernels,
                                          const IterationStack& stack,
                                          const IterationPhysics& physics) noexcept;

}  // namespace headroom
