// SPDX-License-Identifier: Apache-2.0
// Documents of kind sharing, into which keys are planted one at a time.
#pragma once

#include "../../scenarios/key_hosts.hpp"
#include <array>

namespace headroom::test {

inline constexpr std::array sharing_hosts{
    // Stated tenants on a card with slices, paid for.
    KeyHost{Kinds::sharing, HostReader::scenario, R"(
schema = 1
kind = "sharing"
[hardware]
gpu = "a30"
[sharing]
simulated = 3000
[[tenant]]
name = "search"
busy = 0.45
memory = "2 GB"
rate = "40 req/s"
call = "9 ms"
spread = 0.3
[tenant.slo]
p95 = "40 ms"
[[tenant]]
name = "finetune"
kind = "training"
busy = 1.0
memory = "4 GB"
step = "1.2 s"
[money]
price = "1 $/h"
date = "2026-08"
[[money.against]]
price = "2 $/h"
date = "2026-08"
[money.storage]
size = "400 TB"
price = "0.02 $/GB/month"
date = "2026-08"
[money.egress]
size = "2 TB"
price = "0.09 $/GB"
date = "2026-08"
)"},
    // A closed tenant first, on hardware of one's own.
    KeyHost{Kinds::sharing, HostReader::scenario, R"(
schema = 1
kind = "sharing"
[hardware]
gpu = "h100-sxm-80gb"
[sharing]
simulated = 3000
[[tenant]]
name = "train"
kind = "training"
busy = 0.6
memory = "4 GB"
[[tenant]]
name = "other"
busy = 0.5
memory = "4 GB"
[money.owned]
capex = "30000 $"
lifetime = "4 y"
utilisation = 0.9
power_price = "0.1 $/kWh"
pue = 1.2
date = "2026-08"
)"},
    // Paid for from a price list.
    KeyHost{Kinds::sharing, HostReader::scenario, R"(
schema = 1
kind = "sharing"
[hardware]
gpu = "h100-sxm-80gb"
[sharing]
simulated = 1000
[[tenant]]
name = "search"
busy = 0.45
memory = "2 GB"
rate = "40 req/s"
call = "9 ms"
[money]
prices = "verda-2026-08"
[[money.against]]
prices = "nebius-2026-08"
)",
            " money."},
};

}  // namespace headroom::test
