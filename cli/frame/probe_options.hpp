// SPDX-License-Identifier: Apache-2.0
// Probes and device selected on the command line.
#pragma once

#include <headroom/calibrate/samples/probe_plan.hpp>
#include <headroom/cli/frame/verb.hpp>

#include <cstdint>

namespace headroom::cli {

/// Reads --only, --dtype, --quick and --full. Throws ConfigError for a type of product that --only excludes, and for
/// --quick together with --full.
[[nodiscard]] ProbeChoice choice_of(const Arguments& arguments);
/// Reads --device, default 0. Throws ConfigError unless it is an integer >= 0.
[[nodiscard]] std::int64_t device_of(const Arguments& arguments);

}  // namespace headroom::cli
