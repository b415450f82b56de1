// SPDX-License-Identifier: Apache-2.0
// What probes of an SM's habits found, beside the closed forms.
#pragma once

#include <headroom/calibrate/samples/probe_run.hpp>

#include <string>

namespace headroom::cli {

/// A row a sample: measured, by the formula, and the one over the other; empty without such samples.
[[nodiscard]] std::string unit_table(const ProbeRun& run);

}  // namespace headroom::cli
