// SPDX-License-Identifier: Apache-2.0
// Answers as results of benchmarks and as bills.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <string_view>

namespace headroom::cli {

/// Whether a form of `headroom export` is one: llm-d, mlperf-endpoints, focus.
[[nodiscard]] bool is_report_form(std::string_view form) noexcept;

/// The answer in the form of --to; a bill as --start and --hours say. ConfigError where the form is of serving and the
/// plan of training, where no time was priced, and for a bill without a price or an end.
[[nodiscard]] ExportedLaunch report_of(const Plan& plan, const Arguments& arguments);
[[nodiscard]] ExportedLaunch report_of(const FleetPlan& plan, const Arguments& arguments);

}  // namespace headroom::cli
