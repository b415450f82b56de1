// SPDX-License-Identifier: Apache-2.0
// Which probes and which device the command line asks for.
#pragma once

#include <headroom/calibrate/samples/probe_plan.hpp>
#include <headroom/cli/frame/verb.hpp>

#include <cstdint>

namespace headroom::cli {

/// --only, --dtype, --quick and --full. ConfigError for a type of products that --only leaves out, and for both of
/// --quick and --full.
[[nodiscard]] ProbeChoice choice_of(const Arguments& arguments);
/// --device, 0 by default. ConfigError for what is no integer from 0.
[[nodiscard]] std::int64_t device_of(const Arguments& arguments);

}  // namespace headroom::cli
