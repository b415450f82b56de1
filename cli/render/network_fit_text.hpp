// SPDX-License-Identifier: Apache-2.0
// A fit of networks' calls as tables: numbers, errors by group, rows inside their intervals.
#pragma once

#include <headroom/calibrate/networks/fit_networks.hpp>

#include <string>

namespace headroom::cli {

[[nodiscard]] std::string network_fit_text(const NetworkFit& fit);

}  // namespace headroom::cli
