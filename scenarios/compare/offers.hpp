// SPDX-License-Identifier: Apache-2.0
// What a dollar buys: machines that do the same work, ranked by samples per dollar among those that meet an objective.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {

/// One machine and what it does.
struct Offer {
  bool feasible = true;                   ///< false: the work does not fit, whatever it costs
  bool timed = true;                      ///< false: nobody measured what its rate would stand on
  double per_second = 0.0;                ///< samples
  std::optional<DollarsPerSecond> price;  ///< of the whole machine, busy or idle
  bool meets = true;                      ///< its objective: latency, deadline
};

enum class Standing : std::uint8_t { meets, misses, unpriced, untimed, infeasible };
inline constexpr std::array<std::string_view, 5> standing_names{"meets", "misses", "unpriced", "untimed", "infeasible"};

struct RankedOffer {
  std::size_t offer = 0;  ///< its position in the span
  Standing standing = Standing::meets;
  double samples_per_dollar = 0.0;  ///< rate / price; 0 without a price or where nothing fits
};

/// Offers that meet their objective first, most samples a dollar first; then those that miss it, those without a price,
/// those without a rate, those on which the work does not fit, each in that order.
[[nodiscard]] std::vector<RankedOffer> rank_offers(std::span<const Offer> offers);

}  // namespace headroom
