// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/compare/offers.hpp>

#include <algorithm>

namespace headroom {
namespace {

Standing standing_of(const Offer& offer) noexcept {
  if (!offer.feasible) {
    return Standing::infeasible;
  }
  if (!offer.timed) {
    return Standing::untimed;
  }
  if (!offer.meets) {
    return Standing::misses;
  }
  return offer.price ? Standing::meets : Standing::unpriced;
}

}  // namespace

std::vector<RankedOffer> rank_offers(std::span<const Offer> offers) {
  std::vector<RankedOffer> ranked;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const Offer& offer = offers[i];
    const bool priced = offer.feasible && offer.timed && offer.price;
    ranked.push_back({i, standing_of(offer), priced ? offer.per_second / offer.price->raw() : 0.0});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const RankedOffer& a, const RankedOffer& b) {
    return a.standing != b.standing ? a.standing < b.standing : a.samples_per_dollar > b.samples_per_dollar;
  });
  return ranked;
}

}  // namespace headroom
