// SPDX-License-Identifier: Apache-2.0
// The prefix caches of a fleet's replicas, the tiers below them, and the cache-aware router.
#pragma once

#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/engine.hpp>
#include <headroom/model/serve/simulation/offload_tiers.hpp>
#include <headroom/model/serve/simulation/replica_cache.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace headroom {

struct ReplicaPool;
struct ServingFleet;

/// SGLang's router policy cache_aware (sgl-router/src/policies/cache_aware.rs, with its documented defaults). If the
/// busiest replica has more than `balance_abs` requests more than the idlest and more than `balance_rel` times as many,
/// the idlest is chosen; else the replica with the longest prefix if it exceeds the share `cache_threshold` of the
/// prompt (ties: the idler); else the idlest (SGLang: the one with the smallest tree). The router knows the current
/// contents of KV pools and replicas' own tiers, like a router that receives the engines' cache events.
struct PrefixRouting {
  double cache_threshold = 0.3;
  std::int64_t balance_abs = 64;
  double balance_rel = 1.5;
};

/// Caches of the engines that compute prompts: engine i of the fleet has cache i. Each lane of a pipeline has its own
/// cache; tiers belong to the replica. Built before a simulation; no heap afterwards.
class FleetCaches {
 public:
  /// All arguments must outlive the object; `hits` is indexed by request.
  FleetCaches(const ServingFleet& fleet, const RequestLoad& load, std::span<PrefixHits> hits);

  [[nodiscard]] ReplicaCache& of(std::size_t engine) noexcept { return caches_[engine]; }
  [[nodiscard]] std::size_t engines() const noexcept { return caches_.size(); }
  /// The time at which everything that tiers keep of a prompt is loaded to its engine; it is always loaded, never
  /// recomputed. `now` if they keep nothing beyond the pool.
  [[nodiscard]] Picoseconds load(SimulatedEngine& engine, std::size_t index, std::uint32_t request, Picoseconds now);
  /// The engine that a request is routed to.
  [[nodiscard]] std::size_t choose(std::span<SimulatedEngine> engines, std::uint32_t request, Picoseconds now) const;

 private:
  const PromptPrefixes& prefixes_;
  const std::vector<Request>& requests_;
  std::span<PrefixHits> hits_;
  PrefixRouting routing_;
  std::int64_t block_tokens_ = 1;
  std::size_t lanes_ = 1;
  std::vector<std::int32_t> sizes_;  ///< blocks of each id, where they differ
  std::vector<PrefixState> states_;
  std::unique_ptr<OffloadTiers> tiers_;
  std::vector<ReplicaCache> caches_;
};

}  // namespace headroom
