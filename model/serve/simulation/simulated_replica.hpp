// SPDX-License-Identifier: Apache-2.0
// A replica as the simulation takes it: its iterations as tables, its engine's rules, limits and KV blocks.
#pragma once

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
  std::int64_t lanes = 1;   ///< batches under way at once, one a pipeline stage
  Picoseconds front_end{};  ///< the stack's `request`
  std::int64_t gpus = 1;
  /// Equal replicas; the tables are this one's and must outlive the pool.
  [[nodiscard]] ReplicaPool pool(std::int64_t replicas) const noexcept {
    return {tables.get(), engine, replicas, lanes};
  }
};

/// What the engine was told, beside its limits.
struct SimulatedHabits {
  std::optional<bool> chunked_prefill;  ///< nullopt: as the scheduler's default
  std::int64_t longest = 0;             ///< tokens that a sequence may grow to, for the tables; 0: the limits' length
  std::int64_t prompt = 0;              ///< tokens of a usual prompt, for the tables (TableReach::chunk); 0: not known
  double clock = 1.0;                   ///< of what multiplies, under a power cap
  MixTerms terms;                       ///< the replica's kernels where they were priced before; empty: priced here
  const Drafting* drafting = nullptr;   ///< of an engine that speculates
};

/// `memory` is serving_memory()'s answer to `limits`, whose sequence_tokens should be a typical length: sliding windows
/// and recurrent states take no block for each token, and the pool is what such sequences fit into. Attention ranks
/// that run data parallel act in step; here they are one engine with the places, blocks and prompt tokens of all of
/// them. Precondition: memory.capacity is at least 1.
[[nodiscard]] SimulatedReplica simulated_replica(const Replica& replica,
                                                 const ServingStack& stack,
                                                 const IterationPhysics& physics,
                                                 const ServingLimits& limits,
                                                 const ServingMemory& memory,
                                                 const SimulatedHabits& habits = {});

}  // namespace headroom
