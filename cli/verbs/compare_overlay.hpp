// SPDX-License-Identifier: Apache-2.0
// `headroom compare SCENARIO --overlay FOLDER`: one plan with and without a data folder.
#pragma once

#include <headroom/cli/frame/verb.hpp>

namespace headroom::cli {

/// Lists the plan's numbers that the folder changes, with the change.
[[nodiscard]] Outcome compare_overlay(const Arguments& arguments);

}  // namespace headroom::cli
