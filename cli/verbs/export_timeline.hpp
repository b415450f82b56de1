// SPDX-License-Identifier: Apache-2.0
// Files that profilers and monitors would leave of a training plan's run, and faults planted into it.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <string>
#include <string_view>

namespace headroom::cli {

/// Whether a form of `headroom export` is such a file: kineto, chakra, dcgm.
[[nodiscard]] bool is_timeline_form(std::string_view form) noexcept;

/// Simulates the run as --ranks, --steps, --seed and --plant say, and writes --to. A file of each rank where --output
/// holds {rank}; else one rank's, the first. `said` is printed to stderr. ConfigError for what the options say wrongly.
[[nodiscard]] Outcome write_timeline(const Plan& plan, const Arguments& arguments, const std::string& said);

}  // namespace headroom::cli
