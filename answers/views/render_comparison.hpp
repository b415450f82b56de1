// SPDX-License-Identifier: Apache-2.0
// Faces of plans side by side.
#pragma once

#include <headroom/scenarios/compare/comparison.hpp>

#include <string>

namespace headroom {

[[nodiscard]] std::string comparison_text(const Comparison& comparison);
/// Schema "headroom.compare/1": raw SI, the unit in the key.
[[nodiscard]] std::string comparison_json(const Comparison& comparison);

}  // namespace headroom
