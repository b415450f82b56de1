// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/rows.hpp>

#include <array>

namespace headroom {
namespace {

using namespace rows;

constexpr double kilowatt_hour = 3.6e6;  ///< joules
constexpr DollarsPerJoule cheapest_power{0.001 / kilowatt_hour};
constexpr DollarsPerJoule dearest_power{2.0 / kilowatt_hour};

constexpr Key date = of_type("date", KeyType::month)
                         .blank_is("an undated price, which may be typed and stands in no file")
                         .says("It is the month or the day when what is stated was true.");
constexpr Key source =
    text("source").blank_is("scenario").says("It says who states it, such as a quote of a provider.");
constexpr Key pue = number("pue", 1.0, 3.0).says("It is the power of the building over that of the machines.");
constexpr Key power_price = quantity<DollarsPerJoule>("power_price", cheapest_power, dearest_power)
                                .says("It is the price of electricity, such as \"0.10 $/kWh\".");
constexpr Key size = quantity<Bytes>("size").needed();
constexpr Key list =
    text("prices").blank_is("the price that is stated").says("It is the id of a price list of the catalog.");

/// What the GPUs cost, and what else they might.
constexpr std::array offer_rows{
    quantity<DollarsPerSecond>("price")
        .blank_is("the price of the list, or of one's own hardware")
        .says("It is the price of one GPU, such as \"2.99 $/h\".")
        .but("It goes without prices only."),
    date,
    source,
    text("prices")
        .blank_is("the price that is stated")
        .says("It is the id of a price list of the catalog ('headroom catalog list prices').")
        .but("It goes without price only."),
    choice("market", market_names).blank_is("on-demand").says("It is the way in which the offer is rented."),
    choice("region", region_names)
        .blank_is("the offer for any region, else the one price that all share")
        .says("It is the region of the offer."),
};

constexpr std::array money_rows{
    of_type("against", KeyType::tables)
        .blank_is("no other offer")
        .says("It lists other ways to pay for the same GPUs."),
    boolean("what_if").blank_is("false").says(
        "It asks for half the tokens, half the parameters and narrower recipes beside a training plan."),
    table("owned").blank_is("that nothing is owned").says("It describes hardware of one's own."),
    table("storage").blank_is("that nothing is stored").says("It says what storage costs."),
    table("egress").blank_is("that nothing leaves").says("It says what egress costs."),
    table("api")
        .of(Kinds::serve)
        .blank_is("no comparison")
        .says("It is the price of an API that serving one's own model is held against."),
};

constexpr std::array owned_rows{
    quantity<Dollars>("capex", Dollars{50.0}, Dollars{1e6})
        .needed()
        .says("It is what one GPU costs with its share of host and network, in dollars."),
    quantity<Seconds>("lifetime", 30.0 * day, 20.0 * common_year)
        .needed()
        .says("It is the time over which it is written off, such as \"4 y\"."),
    number("utilisation", 0.0, 1.0).above(0.0, 1.0).needed().says("It is the share of the lifetime that it works."),
    power_price.needed(),
    pue.needed(),
    quantity<Watts>("power", Watts{1.0}, Watts{1e4})
        .blank_is("the GPU at its limit and its share of the host")
        .says("It is the power of one GPU with its share of the host while it works, in watts."),
    quantity_or_zero<Dollars>("residual")
        .blank_is("0 $")
        .says("It is what one GPU sells for at the end, in dollars.")
        .but("It is less than capex."),
    quantity_or_zero<DollarsPerSecond>("upkeep")
        .blank_is("0 $/y")
        .says("It is the price of staff, space and repair of one GPU, such as \"1500 $/y\".")
        .but("Of a year it is at most capex."),
    date,
    source,
};

constexpr std::array storage_rows{
    size.says("It is what is stored, in bytes."),
    quantity<DollarsPerByteSecond>("price")
        .blank_is("the price of the list")
        .says("It is the price of storage, such as \"0.02 $/GB/month\".")
        .but("One of price and prices is required."),
    date,
    source,
    list,
    text("service").blank_is("the list's first").says("It is the service of the list that stores it."),
    quantity<Seconds>("kept").blank_is("the time of the run").says("It is the time that it is kept."),
};

constexpr std::array egress_rows{
    size.says("It is what leaves, in bytes."),
    quantity<DollarsPerByte>("price")
        .blank_is("the price of the list")
        .says("It is the price of egress, such as \"0.09 $/GB\".")
        .but("One of price and prices is required."),
    date,
    source,
    list,
};

constexpr std::array api_rows{
    quantity_or_zero<Dollars>("input").needed().says("It is the price of a million prompt tokens, in dollars."),
    quantity<Dollars>("output", Dollars{1e-4}, Dollars{1e4})
        .needed()
        .says("It is the price of a million output tokens, in dollars."),
    text("name").blank_is("API").says("It names the API in answers."),
    date,
    source,
};

constexpr std::array energy_rows{
    pue.blank_is("that of [money.owned], else the energy of the machines alone"),
    power_price.blank_is("that of [money.owned], else no dollars of electricity"),
    quantity<Watts>("rack_power")
        .blank_is("no count of racks")
        .says("It is the power of a rack, in watts: it says how many nodes at their GPUs' limit a rack feeds."),
    date.but("It goes with power_price only."),
    source.but("It goes with power_price only."),
};

constexpr std::array tables{
    KeyTable{"money", Kinds::all, offer_rows},           KeyTable{"money", Kinds::all, money_rows},
    KeyTable{"money.against", Kinds::all, offer_rows},   KeyTable{"money.owned", Kinds::all, owned_rows},
    KeyTable{"money.storage", Kinds::all, storage_rows}, KeyTable{"money.egress", Kinds::all, egress_rows},
    KeyTable{"money.api", Kinds::serve, api_rows},       KeyTable{"energy", Kinds::all, energy_rows},
};

}  // namespace

std::span<const KeyTable> keys_of_money() noexcept {
  return tables;
}

}  // namespace headroom
