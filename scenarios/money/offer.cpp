// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/money/offer.hpp>

#include <algorithm>
#include <vector>

namespace headroom {
namespace {

constexpr std::string_view undated = "stated on the command line, undated";

std::string word(Market market) {
  return std::string{market_names[static_cast<std::size_t>(market)]};
}

/// "us 3.50 $/h, eu 3.20 $/h"
std::string listed(const std::vector<const PriceOffer*>& offers) {
  const std::string text =
      joined(offers, [&](const PriceOffer* offer) { return offer->region + " " + format(offer->price.value); });
  return text;
}

/// Other offers that the list has for the SKU: "on-demand (any), spot (eu)".
std::string sold(const PriceList& list, const Catalog& catalog, const std::string& gpu) {
  std::string text;
  for (const PriceOffer& offer : list.offers) {
    if (catalog.device(offer.gpu).id == gpu) {
      text += (text.empty() ? "; it has " : ", ") + word(offer.market) + " (" + offer.region + ")";
    }
  }
  return text.empty() ? "; see 'headroom catalog list prices'" : text;
}

GpuPrice price_of(const PriceList& list, const PriceOffer& offer, std::string_view region) {
  GpuPrice price;
  price.price = offer.price.value;
  price.name = list.name;
  price.date = list.date;
  price.market = paid_as(offer.market);
  price.region = region;
  price.source =
      list.name + ", " + word(offer.market) + (region == "any" ? "" : ", " + std::string{region}) + ", " + list.date;
  return price;
}

}  // namespace

std::string text_of(const Stated& stated) {
  if (stated.date.empty()) {
    return stated.source.empty() ? std::string{undated} : stated.source + ", " + std::string{undated};
  }
  return (stated.source.empty() ? "scenario" : stated.source) + ", " + stated.date;
}

FoundOffer find_offer(
    const PriceList& list, const Catalog& catalog, const std::string& gpu, Market market, std::string_view region) {
  std::vector<const PriceOffer*> offers;
  for (const PriceOffer& offer : list.offers) {
    if (offer.market == market && catalog.device(offer.gpu).id == gpu) {
      offers.push_back(&offer);
    }
  }
  if (const std::optional<Device::Slice>& slice = catalog.device(gpu).slice; slice && offers.empty()) {
    // Who sells cards sells no slices: a slice costs its part of the card, whoever has the rest.
    FoundOffer whole = find_offer(list, catalog, slice->card, market, region);
    if (whole.price.price) {
      *whole.price.price *= slice->share;
      whole.price.source += ", " + percent(slice->share, 3) + " of a card " + slice->card;
    }
    return whole;
  }
  const auto of_region = [&](std::string_view name) -> const PriceOffer* {
    const auto found =
        std::find_if(offers.begin(), offers.end(), [&](const PriceOffer* offer) { return offer->region == name; });
    return found == offers.end() ? nullptr : *found;
  };
  FoundOffer result;
  if (offers.empty()) {
    result.why = "price list '" + list.id + "' has no " + word(market) + " offer for " + gpu + sold(list, catalog, gpu);
    return result;
  }
  const PriceOffer* const stated = region.empty() ? nullptr : of_region(region);
  if (const PriceOffer* const found = stated != nullptr ? stated : of_region("any")) {
    result.price = price_of(list, *found, found->region);
    return result;
  }
  if (!region.empty()) {
    result.why = "price list '" + list.id + "' has no " + word(market) + " offer for " + gpu + " in region " +
                 quoted(region) + "; it has " + listed(offers);
    return result;
  }
  const bool alike = std::all_of(offers.begin(), offers.end(), [&](const PriceOffer* offer) {
    return offer->price.value == offers.front()->price.value;
  });
  if (!alike) {
    result.lacks_region = true;
    result.why = "price list '" + list.id + "' has several " + word(market) + " offers for " + gpu + ": " +
                 listed(offers) + "; state 'region'";
    return result;
  }
  result.price = price_of(list, *offers.front(), offers.size() == 1 ? std::string_view{offers.front()->region} : "any");
  return result;
}

}  // namespace headroom
