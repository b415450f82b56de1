// SPDX-License-Identifier: Apache-2.0
// Keys of [money], the tables below it and [energy].
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/scenarios/keys/rows.hpp>

namespace headroom::keys {

inline constexpr double kilowatt_hour = 3.6e6;  ///< joules
inline constexpr DollarsPerJoule cheapest_power{0.001 / kilowatt_hour};
inline constexpr DollarsPerJoule dearest_power{2.0 / kilowatt_hour};

inline constexpr Key date_row = of_type("date", KeyType::month)
                                    .blank_is("an undated price, which may be typed and stands in no file")
                                    .says("It is the month or the day when what is stated was true.");
inline constexpr Key source_row =
    text("source").usually_named("scenario").says("It says who states it, such as a quote of a provider.");
inline constexpr Key pue_row = number("pue", 1.0, 3.0)
                                   .says("It is the power of the building over that of the machines.")
                                   .refused_as(
                                       "power of the building over power of the machines lies between 1 and 3, 1.1 to "
                                       "1.5 where it is built for them");
inline constexpr Key power_price_row = quantity<DollarsPerJoule>("power_price", cheapest_power, dearest_power)
                                           .says("It is the price of electricity, such as \"0.10 $/kWh\".")
                                           .refused_as("electricity costs between 0.001 and 2 $/kWh");
inline constexpr Key size_row = quantity<Bytes>("size").needed();
inline constexpr Key list_row =
    text("prices").or_nothing("the price that is stated").says("It is the id of a price list of the catalog.");

/// What the GPUs cost, and what else they might.
inline constexpr std::array offer_rows{
    quantity<DollarsPerSecond>("price")
        .blank_from(KeySource::publication, "the price of the list, or of one's own hardware")
        .named_by("prices")
        .says("It is the price of one GPU, such as \"2.99 $/h\".")
        .but("It goes without prices only.")
        .typed_as("--price", "MONEY", "price of a GPU, e.g. '2.99 $/h'"),
    date_row,
    source_row,
    text("prices")
        .or_nothing("the price that is stated")
        .says("It is the id of a price list of the catalog ('headroom catalog list prices').")
        .but("It goes without price only.")
        .typed_as("--prices", "ID", "price list of the catalog"),
    choice("market", market_names)
        .usually(0)
        .says("It is the way in which the offer is rented; beside price it is a label that break-evens read."),
    choice("region", region_names)
        .blank_is("the offer for any region, else the one price that all share")
        .says("It is the region of the offer; several prices without it are listed and refused."),
};

inline constexpr std::array own_money_rows{
    of_type("against", KeyType::tables)
        .or_nothing("no other offer")
        .says("It lists other ways to pay for the same GPUs."),
    boolean("what_if").usually(false).says(
        "It asks for half the tokens, half the parameters and narrower recipes beside a training plan."),
    table("owned").or_nothing("that nothing is owned").says("It describes hardware of one's own."),
    table("storage").or_nothing("that nothing is stored").says("It says what storage costs."),
    table("egress").or_nothing("that nothing leaves").says("It says what egress costs."),
    table("api")
        .of(Kinds::serve)
        .or_nothing("no comparison")
        .says("It is the price of an API that serving one's own model is held against."),
};

inline constexpr std::array money_rows = joined(offer_rows, own_money_rows);

inline constexpr std::array owned_rows{
    quantity<Dollars>("capex", Dollars{50.0}, Dollars{1e6})
        .needed()
        .says("It is what one GPU costs with its share of host and network, in dollars.")
        .refused_as("it is of one GPU with its share of host and network, between 50 $ and 1 M$"),
    quantity<Seconds>("lifetime", 30.0 * day, 20.0 * common_year)
        .needed()
        .says("It is the time over which it is written off, such as \"4 y\".")
        .refused_as("hardware is written off over 30 days to 20 years; \"4 y\" is usual"),
    number("utilisation", 0.0, 1.0).above(0.0, 1.0).needed().says("It is the share of the lifetime that it works."),
    power_price_row.needed(),
    pue_row.needed(),
    quantity<Watts>("power", Watts{1.0}, Watts{1e4})
        .blank_is("the GPU at its limit and its share of the host")
        .says("It is the power of one GPU with its share of the host while it works, in watts.")
        .refused_as("it is of one GPU with its share of the host, at most 10 kW; a node's goes by its GPUs"),
    quantity_or_zero<Dollars>("residual")
        .usually(0)
        .says("It is what one GPU sells for at the end, in dollars.")
        .but("It is less than capex."),
    quantity_or_zero<DollarsPerSecond>("upkeep")
        .usually(0)
        .says("It is the price of staff, space and repair of one GPU, such as \"1500 $/y\".")
        .but("Of a year it is at most capex."),
    date_row,
    source_row,
};

inline constexpr std::array storage_rows{
    size_row.says("It is what is stored, in bytes."),
    quantity<DollarsPerByteSecond>("price")
        .blank_from(KeySource::publication, "the price of the list")
        .named_by("prices")
        .says("It is the price of storage, such as \"0.02 $/GB/month\".")
        .but("One of price and prices is required."),
    date_row,
    source_row,
    list_row,
    text("service").blank_is("the list's first").says("It is the service of the list that stores it."),
    quantity<Seconds>("kept").blank_is("the time of the run").says("It is the time that it is kept; a month is 730 h."),
};

inline constexpr std::array egress_rows{
    size_row.says("It is what leaves, in bytes."),
    quantity<DollarsPerByte>("price")
        .blank_from(KeySource::publication, "the price of the list")
        .named_by("prices")
        .says("It is the price of egress, such as \"0.09 $/GB\".")
        .but("One of price and prices is required."),
    date_row,
    source_row,
    list_row,
};

inline constexpr std::array api_rows{
    quantity_or_zero<Dollars>("input").needed().says("It is the price of a million prompt tokens, in dollars."),
    quantity<Dollars>("output", Dollars{1e-4}, Dollars{1e4})
        .needed()
        .says("It is the price of a million output tokens, in dollars.")
        .refused_as("it is of a million output tokens"),
    text("name").usually_named("API").says("It names the API in answers."),
    date_row,
    source_row,
};

inline constexpr std::array energy_rows{
    pue_row.or_nothing("that of [money.owned], else the energy of the machines alone"),
    power_price_row.or_nothing("that of [money.owned], else no dollars of electricity"),
    quantity<Watts>("rack_power")
        .or_nothing("no count of racks")
        .says("It is the power of a rack, in watts: it says how many nodes at their GPUs' limit a rack feeds."),
    quantity<Watts>("node_power", Watts{1.0}, Watts{1e6})
        .of(Kinds::batch)
        .such_as("1887 W")
        .blank_is("GPUs and host by the catalog")
        .says("It is the power of a node while its GPUs work, as measured."),
    date_row.but("It goes with power_price only."),
    source_row.but("It goes with power_price only."),
};

inline constexpr KeyTable money{"money", Kinds::all, money_rows};
inline constexpr KeyTable against{"money.against", Kinds::all, offer_rows};
inline constexpr KeyTable owned{"money.owned", Kinds::all, owned_rows};
inline constexpr KeyTable storage{"money.storage", Kinds::all, storage_rows};
inline constexpr KeyTable egress{"money.egress", Kinds::all, egress_rows};
inline constexpr KeyTable api{"money.api", Kinds::serve, api_rows};
inline constexpr KeyTable energy{"energy", Kinds::modelled | Kinds::post_train, energy_rows};

}  // namespace headroom::keys
