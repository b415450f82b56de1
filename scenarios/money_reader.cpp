// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/look_up.hpp>
#include <headroom/scenarios/money_reader.hpp>

namespace headroom {
namespace {

/// The list's offer of the SKU on a market.
Money offer_of(
    ConfigTable& table, const std::string& id, Market market, const std::string& gpu, const Catalog& catalog) {
  const auto list = look_up(table, "prices", id, [&](const std::string& s) -> PriceList { return catalog.prices(s); });
  if (!list || gpu.empty()) {
    return {};
  }
  for (const PriceOffer& offer : list->offers) {
    if (offer.market == market && catalog.device(offer.gpu).id == gpu) {
      return {offer.price.value,
              list->name + ", " + std::string{market_names[static_cast<std::size_t>(market)]} + ", " + list->date};
    }
  }
  table.problem("prices", "price list '" + list->id + "' has no " +
                              std::string{market_names[static_cast<std::size_t>(market)]} + " offer for " + gpu);
  return {};
}

}  // namespace

Money read_money(ConfigTable& root, const Catalog& catalog, const std::string& gpu) {
  Money money;
  std::optional<ConfigTable> table = root.maybe_table("money");
  if (!table) {
    return money;
  }
  const std::optional<DollarsPerSecond> price = table->maybe_quantity<DollarsPerSecond>("price");
  const std::optional<std::string> list = table->maybe_text("prices");
  const std::size_t market = table->maybe_choice("market", market_names).value_or(0);
  if (price && list) {
    table->problem("prices", "state 'price' or 'prices', not both");
  } else if (price) {
    money = {price, "scenario"};
  } else if (list) {
    money = offer_of(*table, *list, static_cast<Market>(market), gpu, catalog);
  } else if (!table->has("price")) {
    table->problem("price", "[money] needs 'price', e.g. \"2.99 $/h\", or 'prices', the id of a price list");
  }
  table->finish();
  return money;
}

}  // namespace headroom
