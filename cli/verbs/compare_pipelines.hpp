// SPDX-License-Identifier: Apache-2.0
// `headroom compare --pipelines`: two pipelines that reach the same thing, by time, money and energy at equal quality.
#pragma once

#include <headroom/cli/frame/verb.hpp>

namespace headroom::cli {

[[nodiscard]] Outcome run_pipelines(const Arguments& arguments);

}  // namespace headroom::cli
