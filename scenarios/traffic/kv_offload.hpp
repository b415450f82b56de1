// SPDX-License-Identifier: Apache-2.0
// Where KV caches go that the GPUs have no room for: prefixes to tiers below the pool ([serving.kv_offload]), preempted
// sequences to the host (serving.preemption_mode).
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
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// In the order in which they are asked (LMCache's backends: local_cpu, local_disk, remote).
inline constexpr std::array<std::string_view, PrefixHits::most_tiers> offload_tier_names{"cpu", "disk", "remote"};

/// The tier that all replicas share; the others are of a replica.
inline constexpr std::size_t remote_tier = 2;
static_assert(offload_tier_names[remote_tier] == "remote");

struct KvOffloadTier {
  Bytes capacity{};
  std::optional<BytesPerSecond> bandwidth;  ///< of a replica, one direction; blank: the host links of its GPUs
  Seconds latency{};                        ///< of a load
};

struct KvOffload {
  std::array<std::optional<KvOffloadTier>, PrefixHits::most_tiers> tiers;
  std::optional<BytesPerSecond> host_link;  ///< of one GPU, one direction, where it is known
  [[nodiscard]] bool any() const noexcept { return tiers[0] || tiers[1] || tiers[2]; }
  /// Of a sequence's cache over so many host links. Precondition: the tier is there; its bandwidth, or the host link.
  [[nodiscard]] BytesPerSecond bandwidth(std::size_t tier, std::int64_t links) const;
};

/// Host links that a sequence's cache moves over, each with a part of its own: those of its attention ranks, but copies
/// of one KV head, or of a latent, are not moved faster for being several.
[[nodiscard]] std::int64_t host_links(const Architecture& architecture, const ServingLayout& layout) noexcept;

/// As the simulation takes them: blocks of `block` bytes, over `links` of the host.
[[nodiscard]] std::array<OffloadTier, PrefixHits::most_tiers> offload_tiers(const KvOffload& offload,
                                                                            Bytes block,
                                                                            std::int64_t links);

}  // namespace headroom
