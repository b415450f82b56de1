// SPDX-License-Identifier: Apache-2.0
// The offer of a price list for a SKU, a market and a class of regions.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/scenarios/money/money.hpp>

#include <string>
#include <string_view>

namespace headroom {

struct FoundOffer {
  GpuPrice price;
  std::string why;            ///< there is none to take, and what there is instead
  bool lacks_region = false;  ///< a region would decide
};

/// The offer of the region, else the one for any. Without a region: the one for any, else the price that all regions
/// share; where they differ the region must be stated. `region`: one of region_names, empty when not stated.
[[nodiscard]] FoundOffer find_offer(
    const PriceList& list, const Catalog& catalog, const std::string& gpu, Market market, std::string_view region);

}  // namespace headroom
