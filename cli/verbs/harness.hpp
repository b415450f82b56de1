// SPDX-License-Identifier: Apache-2.0
// `headroom compare SCENARIO --harness CELLS.csv`: expected rates over SKUs and scales, compared with measured ones.
#pragma once

#include <headroom/cli/frame/verb.hpp>

namespace headroom::cli {

/// Exit code 1 when a measured cell is slower than its tolerance.
[[nodiscard]] Outcome run_harness(const Arguments& arguments);

}  // namespace headroom::cli
