// SPDX-License-Identifier: Apache-2.0
// A strategy in one line.
#pragma once

#include <headroom/model/train/strategy/strategy.hpp>

#include <string>

namespace headroom {

/// "tp 4, pp 8, dp 32, micro-batch 1, ZeRO 1, recompute none, sequence parallel". Settings at their usual value are
/// left out.
[[nodiscard]] std::string strategy_text(const Strategy& strategy);

}  // namespace headroom
