// SPDX-License-Identifier: Apache-2.0
// The effect of prefix caches and lower tiers on the prompts of a run.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>

#include <array>
#include <cstdint>

namespace headroom {

/// Sums over the counted requests that were started.
struct PrefixMetrics {
  std::int64_t requests = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t shareable = 0;  ///< tokens with ids: whole blocks that another prompt shares
  std::int64_t pool = 0;       ///< tokens found in the KV pool
  struct Tier {
    std::int64_t tokens = 0;    ///< tokens found in the tier and not computed
    std::int64_t loaded = 0;    ///< tokens loaded from the tier, useful or not
    std::int64_t requests = 0;  ///< requests that loaded tokens from the tier
  };
  std::array<Tier, PrefixHits::most_tiers> tiers{};
  std::int64_t loads = 0;   ///< requests that loaded anything
  TimeSummary loading;      ///< times of loads, from arrival at the replica until all is loaded
  TimeSummary ttft_loaded;  ///< times to first token of requests that loaded anything
  /// Share of the prompt tokens that were not computed.
  [[nodiscard]] double hit_share() const noexcept;
  [[nodiscard]] double share(std::int64_t tokens) const noexcept {
    return prompt_tokens > 0 ? static_cast<double>(tokens) / static_cast<double>(prompt_tokens) : 0.0;
  }
};

/// Leaves out the first `warm_up` requests. All zero for a run without ids.
[[nodiscard]] PrefixMetrics prefix_metrics(const RequestLoad& load,
                                           const FleetResult& result,
                                           std::int64_t warm_up = 0);

}  // namespace headroom
