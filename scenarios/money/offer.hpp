// SPDX-License-Identifier: Apache-2.0
// The offer of a price list for a SKU, a market and a class of regions.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/scenarios/money/money.hpp>

#include <string>
#include <string_view>

namespace headroom {

/// "scenario, 2026-08", "quote 17 of our provider, 2026-08-15", "stated on the command line, undated".
[[nodiscard]] std::string text_of(const Stated& stated);

struct FoundOffer {
  GpuPrice price;
  std::string why;            ///< reason why there is no offer, and what the list has instead; empty when found
  bool lacks_region = false;  ///< true when stating a region would settle the choice
};

/// Picks the offer for the region, else the one for any region. Without a region: the offer for any, else the price
/// that all regions share; where prices differ, the region must be stated. `region` is one of region_names, or empty.
/// Of a slice that the list does not sell: the card's, times the slice's part of the card
/// (PartitionScheme::card_share).
[[nodiscard]] FoundOffer find_offer(
    const PriceList& list, const Catalog& catalog, const std::string& gpu, Market market, std::string_view region);

}  // namespace headroom
