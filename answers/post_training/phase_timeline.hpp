// SPDX-License-Identifier: Apache-2.0
// The phases of post-training as boxes over time, a band a pool.
#pragma once

#include <headroom/answers/markup/place.hpp>

#include <string>

namespace headroom {

/// Of the document of an answer; empty where it has no timeline.
[[nodiscard]] std::string phase_timeline(const report::Place& answer);

}  // namespace headroom
