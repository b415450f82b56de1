// SPDX-License-Identifier: Apache-2.0
// `headroom fit --stack classic`: fits the laws of classic machine learning, video, simulators and policies.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <vector>

namespace headroom::cli {

[[nodiscard]] Outcome fit_classic_laws(const Arguments& arguments, const std::vector<RunFile>& files);

}  // namespace headroom::cli
