// SPDX-License-Identifier: Apache-2.0
// A cluster's schedule as a drawing: GPUs of each pool upward, time to the right.
#pragma once

#include <headroom/answers/markup/place.hpp>

#include <string>

namespace headroom {

/// SVG of the holds of a document of kind cluster; those of the most GPU-seconds where there are more than a page
/// shows. Nothing without holds.
[[nodiscard]] std::string cluster_timeline(const report::Place& cluster);

}  // namespace headroom
