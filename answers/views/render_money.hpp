// SPDX-License-Identifier: Apache-2.0
// Prices with their dates, the bill, other ways to pay, and what a plan draws: text and JSON of all kinds of plans.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/scenarios/money/bill.hpp>
#include <headroom/scenarios/money/energy.hpp>
#include <headroom/scenarios/money/what_if.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The price with its source, parts of an owned one; or how to state one. Two blanks before each line.
[[nodiscard]] std::string price_text(const Money& money);
/// What a GPU and its host draw, the building, the rack; empty without a power. Two blanks before each line.
[[nodiscard]] std::string energy_text(const std::optional<PlanEnergy>& energy);
/// A row of the answer: energy of the run, else of a million `items`.
void energy_row(Table& table, const std::optional<PlanEnergy>& energy, std::string_view items);
/// The bill where there is more than GPUs to pay, other ways to pay, cheaper variants; empty without any.
[[nodiscard]] std::string bill_text(const Bill& bill, const std::vector<Variant>& variants = {});

/// Members `money` and `energy` of a plan's object, absent without a price or a power. `per_million`:
/// "j_per_million_tokens".
[[nodiscard]] Value money_value(const Money& money, const Bill& bill, const std::vector<Variant>& variants = {});
[[nodiscard]] Value energy_value(const std::optional<PlanEnergy>& energy, std::string_view per_million);

}  // namespace headroom
