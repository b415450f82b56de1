// SPDX-License-Identifier: Apache-2.0
// Table [money] of a scenario: a price, or the offer of a price list.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/scenario.hpp>

#include <string>

namespace headroom {

/// Without the table there is no price. `gpu`: the SKU's id, empty when it is unknown.
[[nodiscard]] Money read_money(ConfigTable& root, const Catalog& catalog, const std::string& gpu);

}  // namespace headroom
