// SPDX-License-Identifier: Apache-2.0
// Simulates several engines behind one router.
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

/// How the router chooses an engine: in turn; fewest running and waiting requests, ties to the first; at random; one
/// queue for all replicas, served when a place is free; or PrefixRouting (without ids: fewest outstanding). The first
/// three choose for a session: its later turns go to the engine of the turn before.
enum class RequestRouting : std::uint8_t { round_robin, least_outstanding, random, shared_queue, prefix };

/// What the process between clients and a replica's engines works off, one thing after another, first come, first
/// served: the texts of prompts and the pieces of answers. Zero: it takes no time.
struct FrontWork {
  Picoseconds text{};   ///< of a token of a prompt
  Picoseconds piece{};  ///< of a token of an answer
  [[nodiscard]] bool any() const noexcept { return text > Picoseconds{0} || piece > Picoseconds{0}; }
  /// Most requests per second that pass, of mean lengths (tokens); infinite without work.
  [[nodiscard]] double most(double prompt, double output) const noexcept {
    return 1.0 / (prompt * seconds_of(text) + output * seconds_of(piece));
  }
};

/// Equal replicas; tables and limits are those of one replica.
struct ReplicaPool {
  const IterationTables* tables = nullptr;  ///< must outlive the simulation
  EngineSettings engine;
  std::int64_t replicas = 1;
  /// Concurrent batches of a replica, one per pipeline stage. Each is an engine with its share of sequences and blocks,
  /// and an iteration of the tables is a pass through all stages. Bubbles between unequal batches are not modelled.
  std::int64_t lanes = 1;
  FrontWork front;  ///< of each replica
};

/// Transfer of a prompt's cache from a prefill to a decode replica: bytes over the rate, one prompt at a time per
/// prefill replica, then the latency. The prefill engine frees its blocks when the prompt ends.
struct CacheTransfer {
  Bytes bytes_per_token{};
  BytesPerSecond rate{};
  Seconds latency{};
};

/// A further model on the GPUs of every replica: an engine with its own KV blocks that takes turns with the others. An
/// iteration uses the whole replica; of the engines with work the one that waited longest is next, ties go to the
/// first. (AlpaServe, Li et al. 2023, shares GPUs because loads of several models rarely peak together.)
struct BesideModel {
  const IterationTables* tables = nullptr;  ///< must outlive the simulation
  EngineSettings engine;
};

struct ServingFleet {
  ReplicaPool pool;  ///< pool of both phases, or of decodes alone if there is a prefill pool
  std::optional<ReplicaPool> prefill;
  CacheTransfer transfer;
  RequestRouting routing = RequestRouting::least_outstanding;
  PrefixRouting prefix_routing;
  /// Tiers below the KV pools of the replicas that compute prompts, in the order of look-up; a tier of 0 blocks is
  /// absent. Used only if requests have ids.
  std::array<OffloadTier, PrefixHits::most_tiers> tiers{};
  Picoseconds front_end{};      ///< delay from client to router of every request
  Picoseconds horizon = never;  ///< events after this time do not happen
  std::uint64_t seed = 0;       ///< seed of random routing
  std::vector<BesideModel> beside;
  /// The model of each service class: 0 is the pool's, i the i-th of `beside`. Ignored if `beside` is empty.
  std::vector<std::size_t> model_of_class;
};

struct PoolCounters {
  std::int64_t engines = 0;
  std::int64_t blocks = 0;       ///< blocks of all engines
  std::int64_t peak_blocks = 0;  ///< most blocks in use in one engine
  /// Blocks of one engine.
  std::int64_t engine_blocks = 0;
  EngineCounters sum;  ///< sums over engines; its peak_blocks is that of the fullest engine
};

struct FleetResult {
  std::vector<RequestTimes> requests;  ///< times by id, in the load's order
  Picoseconds end{};                   ///< time of the last event
  PoolCounters pool;
  PoolCounters prefill;  ///< zero engines: no prefill pool
  /// Counters of each model on a shared pool, in the order of ServingFleet::model_of_class; empty with one model.
  std::vector<PoolCounters> models;
  std::vector<PrefixHits> hits;  ///< by id; empty: no request has ids
  std::int64_t unanswered = 0;   ///< requests sent but not answered within simulated time
};

/// Every problem of the question, with its value and the way out; empty if it can be simulated.
[[nodiscard]] std::vector<std::string> problems(const ServingFleet& fleet, const RequestLoad& load);

/// Runs until every request is answered or refused, or to the horizon or the end of simulated time. No request is
/// dropped for waiting long: overload shows as growing waits and finally as unanswered requests. The result depends
/// only on the input, not on machine, threads or recording. Precondition: problems() is empty.
[[nodiscard]] FleetResult simulate(const ServingFleet& fleet,
                                   const RequestLoad& load,
                                   SimulationRecord* record = nullptr);

}  // namespace headroom
