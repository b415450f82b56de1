// SPDX-License-Identifier: Apache-2.0
// `headroom compare SCENARIO --overlay FOLDER`: one plan without and with a data folder.
#pragma once

#include <headroom/cli/frame/verb.hpp>

namespace headroom::cli {

/// Which numbers of the plan the folder changes, and by how much.
[[nodiscard]] Outcome compare_overlay(const Arguments& arguments);

}  // namespace headroom::cli
