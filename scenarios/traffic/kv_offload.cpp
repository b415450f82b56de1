// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/traffic/kv_offload.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

BytesPerSecond KvOffload::bandwidth(std::size_t tier, std::int64_t links) const {
  const std::optional<BytesPerSecond>& stated = tiers.at(tier)->bandwidth;
  return stated ? *stated : real(links) * host_link.value();
}

std::int64_t host_links(const Architecture& architecture, const ServingLayout& layout) noexcept {
  const std::int64_t heads = architecture.mla ? 1 : std::max<std::int64_t>(1, architecture.kv_heads);
  return layout.pp * std::min(layout.tp, heads);
}

std::array<OffloadTier, PrefixHits::most_tiers> offload_tiers(const KvOffload& offload,
                                                              Bytes block,
                                                              std::int64_t links) {
  constexpr double most_blocks = 0x1p40;
  std::array<OffloadTier, PrefixHits::most_tiers> tiers;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    // A model with recurrent layers only has no cache per token to keep.
    if (!offload.tiers[i] || !(block > Bytes{})) {
      continue;
    }
    tiers[i].blocks = static_cast<std::int64_t>(std::min(most_blocks, std::floor(offload.tiers[i]->capacity / block)));
    tiers[i].per_block = picoseconds((block / offload.bandwidth(i, links)).raw());
    tiers[i].latency = picoseconds(offload.tiers[i]->latency.raw());
    tiers[i].all_replicas = i == shared_tier;
  }
  return tiers;
}

}  // namespace headroom
