// SPDX-License-Identifier: Apache-2.0
// Replicas that fail or are preempted, and the spare replicas that replace them.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <optional>

namespace headroom {

/// Table [fleet.failures].
struct FleetFailures {
  std::optional<Seconds> mtbf_per_gpu;       ///< mean time between failures of one GPU
  std::optional<Seconds> preemptions_every;  ///< mean time between preemptions of a replica on spot capacity
  Seconds back{};                            ///< mean time from a failure until the replica serves again
  double availability = 0.999;               ///< share of the time that enough replicas are up, in (0, 1)
  /// Share of the time that a replica of `gpus` GPUs is up: 1 / (1 + rate x back), where the rates of failures and
  /// preemptions add up.
  [[nodiscard]] double up(std::int64_t gpus) const noexcept;
};

/// Probability that at least `needed` of `all` replicas are up, each independently with probability `up` (k out of n:
/// Barlow and Proschan 1975, section 2.1).
[[nodiscard]] double enough_up(std::int64_t needed, std::int64_t all, double up) noexcept;

/// Fewest spare replicas for which enough_up() reaches `availability`. Preconditions: 0 < up <= 1, availability < 1.
[[nodiscard]] std::int64_t spare_for(std::int64_t needed, double up, double availability) noexcept;

}  // namespace headroom
