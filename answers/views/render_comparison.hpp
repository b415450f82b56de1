// SPDX-License-Identifier: Apache-2.0
// Faces of plans side by side.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/scenarios/compare/comparison.hpp>

#include <string>

namespace headroom {

[[nodiscard]] std::string comparison_text(const Comparison& comparison);
/// Schema "headroom.compare/1": raw SI, the unit in the key.
[[nodiscard]] Value comparison_document(const Comparison& comparison);

}  // namespace headroom
