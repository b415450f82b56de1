// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/fleet_caches.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <algorithm>

namespace headroom {

FleetCaches::FleetCaches(const ServingFleet& fleet, const RequestLoad& load, std::span<PrefixHits> hits)
    : prefixes_{load.prefixes},
      requests_{load.requests},
      hits_{hits},
      routing_{fleet.prefix_routing},
      states_(load.requests.size()) {
  const ReplicaPool& pool = fleet.prefill ? *fleet.prefill : fleet.pool;
  block_tokens_ = pool.engine.block_tokens;
  lanes_ = static_cast<std::size_t>(pool.lanes);
  sizes_ = prefixes_.blocks(block_tokens_);
  const auto replicas = static_cast<std::size_t>(pool.replicas);
  const bool tiers =
      std::any_of(fleet.tiers.begin(), fleet.tiers.end(), [](const OffloadTier& t) { return t.blocks > 0; });
  if (tiers) {
    tiers_ = std::make_unique<OffloadTiers>(prefixes_, fleet.tiers, requests_, sizes_, replicas, block_tokens_);
  }
  caches_.reserve(replicas * lanes_);
  for (std::size_t i = 0; i < replicas * lanes_; ++i) {
    caches_.emplace_back(prefixes_, states_, hits_, sizes_, pool.engine.blocks / pool.lanes, block_tokens_,
                         tiers_.get(), i / lanes_);
  }
}

Picoseconds FleetCaches::load(SimulatedEngine& engine, std::size_t index, std::uint32_t request, Picoseconds now) {
  if (!tiers_ || prefixes_.of(request).empty()) {
    return now;
  }
  engine.settle(now);
  const std::size_t replica = index / lanes_;
  const std::uint32_t known = caches_[index].held(request);
  const std::uint32_t end = tiers_->held(replica, request, known);
  if (end == known) {
    return now;
  }
  states_[request].brought_at = known;
  states_[request].brought = end;
  return tiers_->load(replica, request, known, end, now, hits_[request]);
}

std::size_t FleetCaches::choose(std::span<SimulatedEngine> engines, std::uint32_t request, Picoseconds now) const {
  std::size_t idlest = 0;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    idlest = engines[i].outstanding() < engines[idlest].outstanding() ? i : idlest;
    most = std::max(most, engines[i].outstanding());
  }
  const std::int64_t least = engines[idlest].outstanding();
  const bool uneven = most - least > routing_.balance_abs &&
                      static_cast<double>(most) > routing_.balance_rel * static_cast<double>(least);
  if (uneven || prefixes_.of(request).empty()) {
    return idlest;
  }
  std::size_t best = idlest;
  std::uint32_t longest = 0;
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    engines[i].settle(now);
    std::uint32_t held = caches_[i].held(request);
    held = tiers_ ? tiers_->own(i / lanes_, request, held) : held;
    if (held > longest || (held == longest && engines[i].outstanding() < engines[best].outstanding())) {
      best = i;
      longest = held;
    }
  }
  const auto found = static_cast<double>(prefixes_.whole_tokens(request, longest, block_tokens_));
  return found > routing_.cache_threshold * requests_[request].prompt_tokens ? best : idlest;
}

}  // namespace headroom
