// SPDX-License-Identifier: Apache-2.0
// What probes of attention, decode, passes and transfers found, in one table.
#pragma once

#include <headroom/calibrate/samples/probe_run.hpp>

#include <string>

namespace headroom::cli {

/// The best rate of each family and op; empty without such samples.
[[nodiscard]] std::string kinds_table(const ProbeRun& run);

}  // namespace headroom::cli
