// SPDX-License-Identifier: Apache-2.0
// Replicas that fail or are taken away, and the spare ones that stand in for them.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <optional>

namespace headroom {

/// Table [fleet.failures].
struct FleetFailures {
  std::optional<Seconds> mtbf_per_gpu;       ///< mean time between failures of one GPU
  std::optional<Seconds> preemptions_every;  ///< of a replica on spot capacity, mean
  Seconds back{};                            ///< from the failure until the replica serves again, mean
  double availability = 0.999;               ///< share of the time that enough replicas are up
  /// Share of the time that a replica of `gpus` is up: 1 / (1 + rate x back); failures and preemptions add up.
  [[nodiscard]] double up(std::int64_t gpus) const noexcept;
};

/// Share of the time that at least `needed` of `all` are up, each for itself with the share `up` (k out of n: Barlow
/// and Proschan 1975, section 2.1).
[[nodiscard]] double enough_up(std::int64_t needed, std::int64_t all, double up) noexcept;

/// The fewest spare ones for which enough_up() reaches `availability`. Precondition: 0 < up <= 1, availability < 1.
[[nodiscard]] std::int64_t spare_for(std::int64_t needed, double up, double availability) noexcept;

}  // namespace headroom
