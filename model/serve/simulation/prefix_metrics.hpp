// SPDX-License-Identifier: Apache-2.0
// What prefix caches and the tiers below them did for the prompts of a run.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>

#include <array>
#include <cstdint>

namespace headroom {

/// Of the counted requests that were started.
struct PrefixMetrics {
  std::int64_t requests = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t shareable = 0;  ///< tokens with ids: whole blocks that some other prompt has too
  std::int64_t pool = 0;       ///< tokens found in the KV pool
  struct Tier {
    std::int64_t tokens = 0;    ///< found there and not computed
    std::int64_t loaded = 0;    ///< tokens that were loaded, of use or not
    std::int64_t requests = 0;  ///< that loaded some
  };
  std::array<Tier, PrefixHits::most_tiers> tiers{};
  std::int64_t loads = 0;   ///< requests that loaded anything
  TimeSummary loading;      ///< of those: from the arrival at the replica until all had come
  TimeSummary ttft_loaded;  ///< of those
  /// Of the prompt tokens, those that were not computed.
  [[nodiscard]] double hit_share() const noexcept;
  [[nodiscard]] double share(std::int64_t tokens) const noexcept {
    return prompt_tokens > 0 ? static_cast<double>(tokens) / static_cast<double>(prompt_tokens) : 0.0;
  }
};

/// The first `warm_up` requests are not counted. Nothing of a run without ids.
[[nodiscard]] PrefixMetrics prefix_metrics(const RequestLoad& load,
                                           const FleetResult& result,
                                           std::int64_t warm_up = 0);

}  // namespace headroom
