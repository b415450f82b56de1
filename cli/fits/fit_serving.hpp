// SPDX-License-Identifier: Apache-2.0
// `headroom fit --stack serving`: fits the numbers behind a serving iteration to measured rows.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <vector>

namespace headroom::cli {

[[nodiscard]] Outcome fit_serving_times(const Arguments& arguments, const std::vector<RunFile>& files);

}  // namespace headroom::cli
