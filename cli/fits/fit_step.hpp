// SPDX-License-Identifier: Apache-2.0
// `headroom fit --stack NAME|all RUNS.csv`: fits the numbers behind a training step to measured runs.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <vector>

namespace headroom::cli {

[[nodiscard]] Outcome fit_training(const Arguments& arguments, const std::vector<RunFile>& files);

}  // namespace headroom::cli
