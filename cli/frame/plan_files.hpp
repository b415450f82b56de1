// SPDX-License-Identifier: Apache-2.0
// Files beside a scenario that a plan takes numbers from.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/plan/own_runs.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <string>
#include <vector>

namespace headroom::cli {

/// Reads files of measured runs, none of none: rows as CSV and, of a serving plan, results of clients in any form that
/// `import` takes, whose blank cells are the plan's. ConfigError with problems in them and rows that are not runs of
/// this plan.
[[nodiscard]] std::vector<RunFile> read_given_runs(const std::vector<std::string>& files,
                                                   const Scenario& scenario,
                                                   TermSet without);

/// Replaces predicted memory by the values of an engine's log. ConfigError where the log is of another engine.
void take_engine_log(const std::string& file, Scenario& scenario);

}  // namespace headroom::cli
