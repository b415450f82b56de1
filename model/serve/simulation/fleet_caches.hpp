// SPDX-License-Identifier: Apache-2.0
// The prefix caches of a fleet's replicas, the tiers below them, and the router that looks at both.
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

/// SGLang's router, policy cache_aware (sgl-router/src/policies/cache_aware.rs, with the defaults of its manual): where
/// the busiest replica has more than `balance_abs` requests over the idlest and more than `balance_rel` times as many,
/// the idlest; else the one with the longest prefix where that is more than `cache_threshold` of the prompt, the idler
/// of equals; else the idlest (there the one with the smallest tree). It knows what the replicas hold at that moment,
/// in the KV pool and in tiers of their own, as a router that is sent the engines' cache events does.
struct PrefixRouting {
  double cache_threshold = 0.3;
  std::int64_t balance_abs = 64;
  double balance_rel = 1.5;
};

/// Of the engines that compute prompts: engine i of the fleet has cache i. Lanes of a pipeline have a cache each, the
/// tiers are the replica's. Made once before a simulation; no heap afterwards.
class FleetCaches {
 public:
  /// All must outlive it; `hits` by request.
  FleetCaches(const ServingFleet& fleet, const RequestLoad& load, std::span<PrefixHits> hits);

  [[nodiscard]] ReplicaCache& of(std::size_t engine) noexcept { return caches_[engine]; }
  [[nodiscard]] std::size_t engines() const noexcept { return caches_.size(); }
  /// When a prompt that comes to an engine now has what tiers keep of it: always loaded, never computed instead. `now`
  /// where they keep nothing beyond what the pool holds.
  [[nodiscard]] Picoseconds load(SimulatedEngine& engine, std::size_t index, std::uint32_t request, Picoseconds now);
  /// The engine that a request goes to.
  [[nodiscard]] std::size_t choose(std::span<SimulatedEngine> engines, std::uint32_t request, Picoseconds now) const;

 private:
  const PromptPrefixes& prefixes_;
  const std::vector<Request>& requests_;
  std::span<PrefixHits> hits_;
  PrefixRouting routing_;
  std::size_t lanes_ = 1;
  std::vector<PrefixState> states_;
  std::unique_ptr<OffloadTiers> tiers_;
  std::vector<ReplicaCache> caches_;
};

}  // namespace headroom
