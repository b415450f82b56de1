// SPDX-License-Identifier: Apache-2.0
// `headroom diagnose --against`: a run beside the plan of a scenario.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/cli/frame/verb.hpp>

namespace headroom::cli {

/// The diagnosis of a run, as --format says; with --against beside the plan of that scenario, and with --learn its step
/// as a row of that file. ConfigError for a scenario that trains no language model, a plan without a time, a run
/// without a step, and a file to learn of other columns.
[[nodiscard]] Outcome diagnosed(const Arguments& arguments, const RunReading& reading);

}  // namespace headroom::cli
