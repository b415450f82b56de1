// SPDX-License-Identifier: Apache-2.0
// `headroom fit --stack post`: numbers of post-training softwares.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <vector>

namespace headroom::cli {

/// Fits, tells errors by figure and source, and writes the numbers where --write says so.
[[nodiscard]] Outcome fit_post_training_numbers(const Arguments& arguments, const std::vector<RunFile>& files);

}  // namespace headroom::cli
