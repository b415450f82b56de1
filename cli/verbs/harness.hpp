// SPDX-License-Identifier: Apache-2.0
// `headroom compare SCENARIO --harness CELLS.csv`: what to expect of each SKU and scale, and whether it is reached.
#pragma once

#include <headroom/cli/frame/verb.hpp>

namespace headroom::cli {

/// Exit code 1 where a measured cell is slower than its tolerance allows.
[[nodiscard]] Outcome run_harness(const Arguments& arguments);

}  // namespace headroom::cli
