// SPDX-License-Identifier: Apache-2.0
// A replica as the simulation needs it: tables of its iterations, and its engine's rules, limits and KV blocks.
#pragma once

#include <headroom/model/serve/engine/client_facts.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/memory/memory.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>
#include <headroom/model/serve/tables/make_tables.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace headroom {

struct SimulatedReplica {
  std::shared_ptr<const IterationTables> tables;
  EngineSettings engine;
  std::int64_t lanes = 1;   ///< concurrent batches, one per pipeline stage
  Picoseconds front_end{};  ///< the way of a mean prompt to the front end (IterationStack::way without its turn)
  FrontWork front;          ///< what a front end works off in turn
  std::int64_t gpus = 1;
  /// A pool of `replicas` equal replicas. The tables are this object's, which must outlive the pool.
  [[nodiscard]] ReplicaPool pool(std::int64_t replicas) const noexcept {
    return {tables.get(), engine, replicas, lanes, front};
  }
};

/// Settings of the engine besides its limits.
struct SimulatedHabits {
  std::optional<bool> chunked_prefill;  ///< nullopt: the scheduler's default
  std::int64_t longest = 0;             ///< most tokens of a sequence, for the tables; 0: the limits' length
  std::int64_t prompt = 0;              ///< tokens of a typical prompt, for the tables (TableReach::chunk); 0: unknown
  double text = 0.0;                    ///< mean tokens of a prompt, cached ones too: what the front end tokenises
  std::int64_t beams = 1;               ///< answers of a request that decode side by side, without speculation
  double clock = 1.0;                   ///< clock of products under a power cap over the uncapped clock
  MixTerms terms;                       ///< kernel terms of the replica if priced before; empty: priced here
  ClientFacts client;                   ///< how answers are streamed
  const Drafting* drafting = nullptr;   ///< set for an engine that speculates
};

/// Processes of a front end share its work as one that is faster by their number.
[[nodiscard]] FrontWork front_work(const IterationStack& stack, const ClientFacts& client) noexcept;

/// `memory` is the result of serving_memory() for `limits`, whose sequence_tokens should be a typical length: sliding
/// windows and recurrent states take no block per token, and the pool is what such sequences fit into. Attention-DP
/// ranks act in step; here they are one engine with the places, blocks and prompt tokens of all. Precondition:
/// memory.capacity >= 1.
[[nodiscard]] SimulatedReplica simulated_replica(const Replica& replica,
                                                 const ServingStack& stack,
                                                 const IterationPhysics& physics,
                                                 const ServingLimits& limits,
                                                 const ServingMemory& memory,
                                                 const SimulatedHabits& habits = {});

}  // namespace headroom
