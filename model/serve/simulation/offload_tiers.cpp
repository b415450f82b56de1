// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/offload_tiers.hpp>

#include <algorithm>
#include <array>

namespace headroom {
OffloadTiers::OffloadTiers(const PromptPrefixes& prefixes,
                           std::span<const OffloadTier> tiers,
                           std::span<const Request> requests,
                           std::span<const std::int32_t> sizes,
                           std::size_t replicas,
                           std::int64_t block_tokens)
    : prefixes_{&prefixes},
      tiers_{tiers},
      requests_{requests},
      block_tokens_{block_tokens},
      link_free_(replicas * tiers.size(), Picoseconds{0}) {
  kept_.reserve(replicas * tiers.size());
  const auto runs = static_cast<std::int64_t>(requests.size());
  for (std::size_t replica = 0; replica < replicas; ++replica) {
    for (const OffloadTier& tier : tiers) {
      const bool here = !tier.all_replicas || replica == 0;
      kept_.emplace_back(here ? prefixes.distinct : 0, prefixes.id_tokens / block_tokens, sizes,
                         here ? std::min({tier.blocks, runs, most_block_runs}) : 0);
    }
  }
}

std::size_t OffloadTiers::tier_of(std::size_t replica, std::uint32_t id, bool own_alone) const noexcept {
  std::size_t tier = 0;
  while (tier < tiers_.size() && ((own_alone && tiers_[tier].all_replicas) || !kept(replica, tier).holds(id))) {
    ++tier;
  }
  return tier;
}

std::uint32_t OffloadTiers::held(std::size_t replica, std::uint32_t request, std::uint32_t known) const noexcept {
  const std::span<const std::uint32_t> ids = prefixes_->of(request);
  while (known < ids.size() && tier_of(replica, ids[known], false) < tiers_.size()) {
    ++known;
  }
  return known;
}

std::uint32_t OffloadTiers::own(std::size_t replica, std::uint32_t request, std::uint32_t known) const noexcept {
  const std::span<const std::uint32_t> ids = prefixes_->of(request);
  while (known < ids.size() && tier_of(replica, ids[known], true) < tiers_.size()) {
    ++known;
  }
  return known;
}

Picoseconds OffloadTiers::load(std::size_t replica,
                               std::uint32_t request,
                               std::uint32_t known,
                               std::uint32_t end,
                               Picoseconds now,
                               PrefixHits& hits) noexcept {
  std::array<std::int64_t, PrefixHits::most_tiers> blocks{};
  for (const std::uint32_t id : prefixes_->of(request).subspan(known, end - known)) {
    const std::size_t tier = tier_of(replica, id, false);
    blocks[tier] += kept(replica, tier).size_of(id);
  }
  Picoseconds ready = now;
  for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
    if (blocks[tier] == 0) {
      continue;
    }
    Picoseconds& link = link_free_[place(replica, tier)];
    link = std::max(link, now) + tiers_[tier].per_block * blocks[tier];
    ready = std::max(ready, link + tiers_[tier].latency);
    hits.loaded[tier] = static_cast<std::int32_t>(blocks[tier] * block_tokens_);
  }
  hits.loading = ready - now;
  return ready;
}

void OffloadTiers::store(std::size_t replica, std::uint32_t request) noexcept {
  const std::span<const std::uint32_t> ids = prefixes_->of(request);
  const std::int64_t blocks = (requests_[request].prompt_tokens + block_tokens_ - 1) / block_tokens_;
  for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
    BlockAges& kept = this->kept(replica, tier);
    std::int64_t named = 0;
    for (const std::uint32_t id : ids) {
      named += kept.size_of(id);
    }
    kept.add_unnamed(blocks - named);
    // Last id first, so that the end of a prompt is older and evicted first.
    for (std::size_t i = ids.size(); i > 0; --i) {
      if (kept.holds(ids[i - 1])) {
        kept.remove(ids[i - 1]);
      }
      kept.add(ids[i - 1]);
    }
    if (kept.blocks() > tiers_[tier].blocks) {
      kept.drop(kept.blocks() - tiers_[tier].blocks);
    }
  }
}

}  // namespace headroom
