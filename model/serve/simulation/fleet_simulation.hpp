// SPDX-License-Identifier: Apache-2.0
// Several engines behind one router, requests in, times out.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/engine.hpp>
#include <headroom/model/serve/simulation/fleet_caches.hpp>
#include <headroom/model/serve/simulation/offload_tiers.hpp>
#include <headroom/model/serve/simulation/simulation_record.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Which engine a request goes to: in turn; to the one with the fewest requests that run or wait, the first of equals;
/// by chance; none before one has a place for it, so that all replicas share one queue; or by PrefixRouting, which of
/// requests without ids is the fewest outstanding.
enum class RequestRouting : std::uint8_t { round_robin, least_outstanding, random, shared_queue, prefix };

/// Equal replicas. Tables and limits are those of one replica.
struct ReplicaPool {
  const IterationTables* tables = nullptr;  ///< must outlive the simulation
  EngineSettings engine;
  std::int64_t replicas = 1;
  /// Batches of a replica that are under way at once, one a pipeline stage: each is an engine of its own with its share
  /// of sequences and blocks, and an iteration of the tables is a pass through all stages. Bubbles between batches of
  /// unequal length are left out.
  std::int64_t lanes = 1;
};

/// Of a prompt's cache, from a prefill replica to a decode replica: bytes over the rate, one prompt at a time from a
/// replica, then the latency. The prefill engine gives its blocks free when the prompt ends.
struct CacheTransfer {
  Bytes bytes_per_token{};
  BytesPerSecond rate{};
  Seconds latency{};
};

/// A model beside the pool's on the GPUs of every replica: an engine of its own, with KV blocks of its own, that takes
/// turns with the others. An iteration has the whole replica; of the engines with work the one that has waited longest
/// is next, of equals the first. (AlpaServe, Li et al. 2023, shares GPUs for the same reason: the loads of several
/// models rarely peak together.)
struct BesideModel {
  const IterationTables* tables = nullptr;  ///< must outlive the simulation
  EngineSettings engine;
};

/// What serves.
struct ServingFleet {
  ReplicaPool pool;  ///< of both phases, or of decodes alone when there is a prefill pool
  std::optional<ReplicaPool> prefill;
  CacheTransfer transfer;
  RequestRouting routing = RequestRouting::least_outstanding;
  PrefixRouting prefix_routing;
  /// Below the KV pools of the replicas that compute prompts, the first to be asked first; of no blocks: no tier. Read
  /// where requests have ids.
  std::array<OffloadTier, PrefixHits::most_tiers> tiers{};
  Picoseconds front_end{};      ///< from a client to the router, before every request
  Picoseconds horizon = never;  ///< events after it do not happen
  std::uint64_t seed = 0;       ///< of random routing
  std::vector<BesideModel> beside;
  /// The model of each service class: 0 the pool's, i the i-th of `beside`. Not read where there is none.
  std::vector<std::size_t> model_of_class;
};

/// What a pool did, its engines together.
struct PoolCounters {
  std::int64_t engines = 0;
  std::int64_t blocks = 0;       ///< of all pools
  std::int64_t peak_blocks = 0;  ///< of the fullest engine
  std::int64_t engine_blocks = 0;
  EngineCounters sum;  ///< peak_blocks of it is the fullest engine's
};

struct FleetResult {
  std::vector<RequestTimes> requests;  ///< by id: the load's order
  Picoseconds end{};                   ///< of the last event
  PoolCounters pool;
  PoolCounters prefill;  ///< no engines: no such pool
  /// Of several models on one pool each one's engines, in the order of ServingFleet::model_of_class; else empty.
  std::vector<PoolCounters> models;
  std::vector<PrefixHits> hits;  ///< by id; empty: no request has ids
  std::int64_t unanswered = 0;   ///< requests that were sent and whose answer lies beyond simulated time
};

/// Everything that makes the question meaningless, each with its value and the way out; empty when it can be run.
[[nodiscard]] std::vector<std::string> problems(const ServingFleet& fleet, const RequestLoad& load);

/// Runs until every request is answered or refused, or to the horizon, or to the end of simulated time: no request is
/// dropped for waiting long, so that overload shows as growing waits, and at last as requests without an answer. The
/// same result for the same input, on any machine and beside any number of threads, with a record or without.
/// Precondition: no problems().
[[nodiscard]] FleetResult simulate(const ServingFleet& fleet,
                                   const RequestLoad& load,
                                   SimulationRecord* record = nullptr);

}  // namespace headroom
