// SPDX-License-Identifier: Apache-2.0
// Tables [money] and [energy] of a scenario: prices of a list or of the user's own, always with their date.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/scenarios/money/money.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What the prices are of.
struct PricedHardware {
  std::string gpu;                ///< the SKU's id, empty when it is unknown
  std::optional<GpuPower> power;  ///< where the catalog knows it
  bool serves = false;            ///< an API is something to hold against
};

/// Without the table there is no price. Problems: a price in a file without its date, another currency, several offers
/// to choose from, and numbers of owned hardware that cannot be.
[[nodiscard]] Money read_money(ConfigTable& root, const Catalog& catalog, const PricedHardware& hardware);

/// Why parts of [money] move nothing of an answer; empty: they do.
struct IdleMoney {
  std::string_view offers;    ///< [[money.against]]
  std::string_view bytes;     ///< [money.storage] and [money.egress]
  std::string_view variants;  ///< what_if
};
/// Tells of what is stated of these that it has no effect.
void tell_idle_money(ConfigTable& root, const IdleMoney& why, std::vector<std::string>& assumptions);

/// PUE and price of electricity that [energy] leaves out are those of [money.owned]. `node_power`: of a question of
/// kind batch, which may state what a node draws.
[[nodiscard]] EnergyQuestion read_energy(ConfigTable& root,
                                         const Money& money,
                                         std::optional<Watts>* node_power = nullptr);

}  // namespace headroom
