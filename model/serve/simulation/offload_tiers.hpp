// SPDX-License-Identifier: Apache-2.0
// Tiers for prefixes below the GPUs' memory: host memory, disk, a store that all replicas share.
#pragma once

#include <headroom/model/serve/load/prompt_prefixes.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/block_ages.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

/// One tier, of each replica or shared by all. Blocks are those of the engine.
struct OffloadTier {
  std::int64_t blocks = 0;    ///< capacity in blocks
  Picoseconds per_block{};    ///< time to load one block: its bytes over the replica's rate to the tier
  Picoseconds latency{};      ///< latency of a load
  bool all_replicas = false;  ///< one tier for all replicas, each with its own link to it
};

/// Write-through, as in LMCache, vLLM's OffloadingConnector and SGLang's HiCache (write_through): a computed prompt is
/// written to every tier, and each tier evicts its least recently used blocks. Writing takes no time. Answers are not
/// kept (LMCache's save_decode_cache is off); blocks that no other prompt shares take space like the others.
class OffloadTiers {
 public:
  /// `sizes`: prefixes.blocks(block_tokens). All of these must outlive the object.
  OffloadTiers(const PromptPrefixes& prefixes,
               std::span<const OffloadTier> tiers,
               std::span<const Request> requests,
               std::span<const std::int32_t> sizes,
               std::size_t replicas,
               std::int64_t block_tokens);

  /// Number of consecutive ids of a request, from `known` on, that are kept for a replica.
  [[nodiscard]] std::uint32_t held(std::size_t replica, std::uint32_t request, std::uint32_t known) const noexcept;
  /// Number of consecutive ids of a request, from `known` on, in the replica's own tiers.
  [[nodiscard]] std::uint32_t own(std::size_t replica, std::uint32_t request, std::uint32_t known) const noexcept;
  /// Starts to load ids `known` to `end` of a request, each from the first tier that has it. A replica loads one prompt
  /// at a time from a tier, and from several tiers in parallel. Returns the time at which all are loaded, recorded in
  /// `hits`.
  Picoseconds load(std::size_t replica,
                   std::uint32_t request,
                   std::uint32_t known,
                   std::uint32_t end,
                   Picoseconds now,
                   PrefixHits& hits) noexcept;
  /// Makes the whole prompt the newest entry of every tier.
  void store(std::size_t replica, std::uint32_t request) noexcept;

 private:
  [[nodiscard]] std::size_t place(std::size_t replica, std::size_t tier) const noexcept {
    return replica * tiers_.size() + tier;
  }
  [[nodiscard]] BlockAges& kept(std::size_t replica, std::size_t tier) noexcept {
    return kept_[place(tiers_[tier].all_replicas ? 0 : replica, tier)];
  }
  [[nodiscard]] const BlockAges& kept(std::size_t replica, std::size_t tier) const noexcept {
    return kept_[place(tiers_[tier].all_replicas ? 0 : replica, tier)];
  }
  [[nodiscard]] std::size_t tier_of(std::size_t replica, std::uint32_t id, bool own_alone) const noexcept;

  const PromptPrefixes* prefixes_;
  std::span<const OffloadTier> tiers_;
  std::span<const Request> requests_;
  std::int64_t block_tokens_;
  std::vector<BlockAges> kept_;         ///< by replica and tier; shared tiers use replica 0
  std::vector<Picoseconds> link_free_;  ///< time from which each replica's link to each tier is free
};

}  // namespace headroom
