// SPDX-License-Identifier: Apache-2.0
// Where a prefix is kept below the GPUs' memory: the host's, a disk, a store that all replicas share.
#pragma once

#include <headroom/model/serve/load/prompt_prefixes.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/block_ages.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

/// One tier, of each replica or of all together. Blocks are those of the engine.
struct OffloadTier {
  std::int64_t blocks = 0;    ///< that it holds
  Picoseconds per_block{};    ///< to load one: its bytes over the rate of a replica's way to the tier
  Picoseconds latency{};      ///< of a load
  bool all_replicas = false;  ///< one for all, each with a way of its own to it
};

/// Write-through, as LMCache, vLLM's OffloadingConnector and SGLang's HiCache (write_through) do: a prompt goes to
/// every tier when it is computed, and each tier lets its least recently used blocks go. Writing takes no time. Answers
/// are not kept (LMCache's save_decode_cache is off), and what no other prompt shares takes room like the rest.
class OffloadTiers {
 public:
  /// `prompts` by request, in tokens; the prefixes and the tiers must outlive it.
  OffloadTiers(const PromptPrefixes& prefixes,
               std::span<const OffloadTier> tiers,
               std::span<const Request> requests,
               std::size_t replicas,
               std::int64_t block_tokens);

  /// Ids of a request from `known` on that are kept for a replica, without a gap.
  [[nodiscard]] std::uint32_t held(std::size_t replica, std::uint32_t request, std::uint32_t known) const noexcept;
  /// The same of tiers of its own.
  [[nodiscard]] std::uint32_t own(std::size_t replica, std::uint32_t request, std::uint32_t known) const noexcept;
  /// Starts to load ids `known` to `end` of a request, each from the first tier that keeps it. A replica loads one
  /// prompt at a time from a tier, and from several tiers at once. When all have come; `hits` takes note of them.
  Picoseconds load(std::size_t replica,
                   std::uint32_t request,
                   std::uint32_t known,
                   std::uint32_t end,
                   Picoseconds now,
                   PrefixHits& hits) noexcept;
  /// The whole prompt is the newest of every tier.
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
  std::int64_t block_tokens_, id_blocks_;
  std::vector<BlockAges> kept_;         ///< by replica and tier; of shared tiers that of replica 0
  std::vector<Picoseconds> link_free_;  ///< likewise, each replica's own
};

}  // namespace headroom
