// SPDX-License-Identifier: Apache-2.0
// `headroom fit --stack power`: fits what a GPU draws while an engine serves.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <vector>

namespace headroom::cli {

[[nodiscard]] Outcome fit_power_numbers(const Arguments& arguments, const std::vector<RunFile>& files);

}  // namespace headroom::cli
