// SPDX-License-Identifier: Apache-2.0
// KV caches outside GPU memory: prefixes in tiers below the pool ([serving.kv_offload]), and preempted sequences in
// host memory (serving.preemption_mode).
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/engine/layout.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/offload_tiers.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

/// Tiers in the order of lookup (LMCache's backends local_cpu, local_disk, remote).
inline constexpr std::array<std::string_view, PrefixHits::most_tiers> offload_tier_names{"cpu", "disk", "remote"};

/// The tier that all replicas share. Each of the others belongs to a replica.
inline constexpr std::size_t shared_tier = 2;
static_assert(offload_tier_names[shared_tier] == "remote");

/// One tier.
struct KvOffloadTier {
  Bytes capacity{};
  std::optional<BytesPerSecond> bandwidth;  ///< rate of a replica in one direction; absent: its GPUs' host links
  Seconds latency{};                        ///< latency of one load
};

struct KvOffload {
  std::array<std::optional<KvOffloadTier>, PrefixHits::most_tiers> tiers;
  std::optional<BytesPerSecond> host_link;  ///< host link of one GPU in one direction; absent: unknown
  [[nodiscard]] bool any() const noexcept { return tiers[0] || tiers[1] || tiers[2]; }
  /// Rate at which a sequence's cache moves over `links` host links. Precondition: the tier exists and has a bandwidth,
  /// or the host link is known.
  [[nodiscard]] BytesPerSecond bandwidth(std::size_t tier, std::int64_t links) const;
};

/// Host links that move a sequence's cache in parallel: one per attention rank that holds a distinct part. Copies of a
/// KV head or of a latent do not add bandwidth.
[[nodiscard]] std::int64_t host_links(const Architecture& architecture, const ServingLayout& layout) noexcept;

/// The tiers as the simulation takes them: blocks of `block` bytes, moved over `links` host links.
[[nodiscard]] std::array<OffloadTier, PrefixHits::most_tiers> offload_tiers(const KvOffload& offload,
                                                                            Bytes block,
                                                                            std::int64_t links);

}  // namespace headroom
