// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/date.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/money_keys.hpp>
#include <headroom/scenarios/money/offer.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/money_reader.hpp>

#include <algorithm>
#include <array>

namespace headroom {
namespace {

/// Whether a value was typed beside the file rather than in it.
bool typed(const ConfigValue& value) {
  return value.file && value.file->starts_with("--");
}

/// Who states `key` of a table and when. What a file states needs a date; what is typed is taken for today's.
Stated read_stated(ConfigTable& table, std::string_view key) {
  Stated stated;
  const std::optional<std::string> source = table.maybe_text("source");
  const std::optional<std::string> date = table.maybe_text("date");
  if (date && !date->empty() && !is_date_or_month(*date)) {
    table.problem("date", "'date' is " + quoted(*date) + "; it must look like \"2026-08\" or \"2026-08-15\"");
  }
  const ConfigValue* const value = table.value(key);
  if (!table.has("date") && value != nullptr && !typed(*value)) {
    table.problem(key, quoted(key) +
                           " has no date, and prices change within months: add date = \"2026-08\", the month "
                           "or day when it was true");
  }
  stated.date = date.value_or("");
  stated.source = source.value_or("");
  return stated;
}

using MoneyKeys = KeyedTable<keys::money, Kinds::all>;
using OwnedKeys = KeyedTable<keys::owned, Kinds::all>;

class MoneyReader {
 public:
  MoneyReader(MoneyKeys& table, const Catalog& catalog, const PricedHardware& hardware)
      : table_{table}, catalog_{catalog}, hardware_{hardware} {}

  Money run() {
    Money money;
    money.owned = read_owned();
    static_cast<GpuPrice&>(money) = read_price(table_, money.owned ? "" : table_.path());
    if (!money.price && money.owned && !table_.has("price") && !table_.has("prices")) {
      static_cast<GpuPrice&>(money) = owned_price(*money.owned);
    } else if (money.price && money.owned) {
      money.against.push_back(owned_price(*money.owned));
    }
    for (ConfigTable& of_offer : table_.tables("against")) {
      KeyedTable<keys::against, Kinds::all> other{std::move(of_offer)};
      if (GpuPrice price = read_price(other, other.path()); price.price) {
        money.against.push_back(std::move(price));
      }
      other.finish();
    }
    money.storage = read_storage();
    money.egress = read_egress();
    money.api = read_api();
    money.what_if = table_.get<"what_if">();
    table_.finish();
    return money;
  }

 private:
  /// A price of the table's own, or the offer of a list. `asks`: the table that must hold one of them; empty: none
  /// need.
  template <const KeyTable& rows>
  GpuPrice read_price(KeyedTable<rows, Kinds::all>& table, const std::string& asks) {
    GpuPrice result;
    const std::optional<DollarsPerSecond> price = table.template stated<"price">();
    const std::optional<std::string> list = table.template stated<"prices">();
    const std::optional<std::size_t> market = table.template stated<"market">();
    const std::optional<std::size_t> region = table.template stated<"region">();
    if (table.has("price") && table.has("prices")) {
      static_cast<void>(read_stated(table, "price"));
      table.problem("prices", "state 'price' or 'prices', not both");
    } else if (table.has("price")) {
      const Stated stated = read_stated(table, "price");
      result.price = price;
      result.source = text_of(stated);
      result.name = stated.source.empty() ? "stated price" : stated.source;
      result.date = stated.date;
      result.market = market ? paid_as(static_cast<Market>(*market)) : PaidAs::unstated;
      result.region = region ? std::string{region_names[*region]} : std::string{};
    } else if (list) {
      result = read_offer(table, *list, table.template get<"market", Market>(),
                          region ? region_names[*region] : std::string_view{});
    } else if (!asks.empty() && !table.has("prices")) {
      table.problem("price", "[" + asks + "] needs 'price', e.g. \"2.99 $/h\", or 'prices', the id of a price list");
    }
    return result;
  }

  GpuPrice read_offer(ConfigTable& table, const std::string& id, Market market, std::string_view region) {
    if (table.has("date")) {
      table.problem_at_key("date", "a price list has its own date; leave 'date' out");
      static_cast<void>(table.value("date"));
    }
    const auto list =
        look_up(table, "prices", id, [&](const std::string& s) -> PriceList { return catalog_.prices(s); });
    if (!list || hardware_.gpu.empty()) {
      return {};
    }
    FoundOffer found = find_offer(*list, catalog_, hardware_.gpu, market, region);
    if (!found.why.empty()) {
      table.problem(found.lacks_region ? "region" : "prices", found.why);
    }
    return std::move(found.price);
  }

  std::optional<OwnedHardware> read_owned() {
    auto table = OwnedKeys::maybe(table_);
    if (!table) {
      return std::nullopt;
    }
    OwnedHardware owned;
    Ownership& o = owned.terms;
    owned.stated = read_stated(*table, "capex");
    o.capex = table->get<"capex">();
    o.lifetime = table->get<"lifetime">();
    o.residual = table->get<"residual">();
    o.utilisation = table->get<"utilisation">();
    o.pue = table->get<"pue">();
    o.power_price = table->get<"power_price">();
    o.upkeep = table->get<"upkeep">();
    read_power(*table, owned);
    check_owned(*table, o);
    table->finish();
    return owned;
  }

  void read_power(OwnedKeys& table, OwnedHardware& owned) {
    if (const auto stated = table.stated<"power">()) {
      owned.terms.power = *stated;
      owned.power_source = "stated";
    } else if (hardware_.power) {
      owned.terms.power = hardware_.power->busy();
      owned.power_source = "the GPU at its limit and its share of the host (" + hardware_.power->host_source + ")";
    } else if (!table.has("power") && !hardware_.gpu.empty()) {
      table.problem("power",
                    "[money.owned] needs 'power', e.g. \"1 kW\" a GPU with its share of the host: the catalog has "
                    "no power of " +
                        hardware_.gpu);
    }
  }

  void check_owned(ConfigTable& table, const Ownership& o) {
    if (o.utilisation <= 0.0 && table.has("utilisation")) {
      table.problem("utilisation", "'utilisation' is 0: hardware that never works has no cost per hour of work");
    }
    if (o.residual >= o.capex && table.has("residual")) {
      table.problem("residual",
                    "'residual' is " + format(o.residual) + ", no less than the capex of " + format(o.capex));
    }
    if (o.upkeep * common_year > o.capex && table.has("upkeep")) {
      table.problem("upkeep", "'upkeep' is " + format(o.upkeep * common_year) + " a year, more than the capex of " +
                                  format(o.capex) + "; it is of one GPU, e.g. \"1500 $/y\"");
    }
  }

  GpuPrice owned_price(const OwnedHardware& owned) const {
    const OwnedCost cost = owned_cost(owned.terms);
    GpuPrice price;
    price.price = cost.total();
    price.name = "owned";
    price.source = "owned, " + text_of(owned.stated);
    price.date = owned.stated.date;
    price.market = PaidAs::owned;
    price.parts = {
        {CostPart::capital, cost.capital}, {CostPart::upkeep, cost.upkeep}, {CostPart::electricity, cost.electricity}};
    return price;
  }

  /// A price of a table, or the list's that it names: `pick` chooses the offer.
  template <class Q, const KeyTable& rows, class Pick>
  Q read_rate(KeyedTable<rows, Kinds::all>& table, Stated& stated, Pick pick) {
    if (const std::optional<std::string> id = table.template stated<"prices">()) {
      if (table.has("price")) {
        table.problem("prices", "state 'price' or 'prices', not both");
      }
      const auto list =
          look_up(table, "prices", *id, [&](const std::string& s) -> PriceList { return catalog_.prices(s); });
      if (!list) {
        return Q{};
      }
      stated = {list->name, list->date};
      const std::optional<Q> price = pick(*list);
      if (!price) {
        table.problem("prices", "price list '" + list->id + "' has no offer of [" + table.path() +
                                    "]; state 'price', its 'date' and 'source'");
      }
      return price.value_or(Q{});
    }
    const Q price = table.template needed<"price">();
    stated = read_stated(table, "price");
    return price;
  }

  std::optional<StorageQuestion> read_storage() {
    auto table = KeyedTable<keys::storage, Kinds::all>::maybe(table_);
    if (!table) {
      return std::nullopt;
    }
    StorageQuestion storage;
    storage.size = table->get<"size">();
    storage.kept = table->stated<"kept">();
    const std::optional<std::string> service = table->stated<"service">();
    storage.price = read_rate<DollarsPerByteSecond>(
        *table, storage.stated, [&](const PriceList& list) -> std::optional<DollarsPerByteSecond> {
          const auto found = std::find_if(list.storage.begin(), list.storage.end(), [&](const StorageOffer& offer) {
            return !service || offer.service == *service;
          });
          if (found == list.storage.end()) {
            return std::nullopt;
          }
          storage.stated.source += ", " + found->service;
          return found->price.value;
        });
    table->finish();
    return storage;
  }

  std::optional<EgressQuestion> read_egress() {
    auto table = KeyedTable<keys::egress, Kinds::all>::maybe(table_);
    if (!table) {
      return std::nullopt;
    }
    EgressQuestion egress;
    egress.size = table->get<"size">();
    egress.price =
        read_rate<DollarsPerByte>(*table, egress.stated, [](const PriceList& list) -> std::optional<DollarsPerByte> {
          return list.egress.empty() ? std::nullopt : std::optional{list.egress.front().price.value};
        });
    table->finish();
    return egress;
  }

  std::optional<ApiPrice> read_api() {
    auto table = KeyedTable<keys::api, Kinds::serve>::maybe(table_);
    if (!table) {
      return std::nullopt;
    }
    if (!hardware_.serves) {
      table_.problem("api",
                     "[money.api] is held against serving one's own model; a training run has no API to compare");
    }
    ApiPrice api;
    api.name = table->get<"name">();
    api.input = table->get<"input">();
    api.stated = read_stated(*table, "output");
    api.output = table->get<"output">();
    table->finish();
    return api;
  }

  MoneyKeys& table_;
  const Catalog& catalog_;
  const PricedHardware& hardware_;
};

/// "size, price" of a table, of an array of tables of the first.
std::string keys_text(const ConfigValue& stated) {
  const ConfigValue& table = stated.items.empty() ? stated : stated.items.front();
  std::string text;
  for (const ConfigEntry& entry : table.entries) {
    text += (text.empty() ? "" : ", ") + entry.key;
  }
  return text;
}

}  // namespace

Money read_money(ConfigTable& root, const Catalog& catalog, const PricedHardware& hardware) {
  auto table = MoneyKeys::maybe(root);
  return table ? MoneyReader{*table, catalog, hardware}.run() : Money{};
}

void tell_idle_money(ConfigTable& root, const IdleMoney& why, std::vector<std::string>& assumptions) {
  const ConfigValue* const money = root.value("money");
  const auto tell = [&](std::string_view key, std::string_view reason) {
    const ConfigValue* const stated = money->find(key);
    if (reason.empty() || stated == nullptr || (stated->kind == ConfigValue::Kind::boolean && !stated->boolean)) {
      return;
    }
    const std::string keys = keys_text(*stated);
    assumptions.push_back("money." + std::string{key} + (keys.empty() ? "" : " (" + keys + ")") +
                          " has no effect: " + std::string{reason});
  };
  if (money != nullptr) {
    tell("against", why.offers);
    tell("storage", why.bytes);
    tell("egress", why.bytes);
    tell("what_if", why.variants);
  }
}

EnergyQuestion read_energy(ConfigTable& root, const Money& money, std::optional<Watts>* node_power) {
  EnergyQuestion energy;
  if (money.owned) {
    energy.pue = money.owned->terms.pue;
    energy.power_price = money.owned->terms.power_price;
    energy.stated = money.owned->stated;
  }
  auto table = KeyedTable<keys::energy, Kinds::all>::maybe(root);
  if (!table) {
    return energy;
  }
  if (const auto pue = table->stated<"pue">()) {
    energy.pue = pue;
  }
  if (const auto price = table->stated<"power_price">()) {
    energy.power_price = price;
    energy.stated = read_stated(*table, "power_price");
  }
  energy.rack_power = table->stated<"rack_power">();
  if (node_power != nullptr) {
    *node_power = table->stated<"node_power">();
  }
  table->finish();
  return energy;
}

}  // namespace headroom
