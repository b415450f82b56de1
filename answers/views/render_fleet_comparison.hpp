// SPDX-License-Identifier: Apache-2.0
// Faces of fleets side by side.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/scenarios/fleet/fleet_comparison.hpp>

#include <string>

namespace headroom {

[[nodiscard]] std::string fleet_comparison_text(const FleetComparison& comparison);
/// Schema "headroom.compare_fleets/1": raw SI, the unit in the key.
[[nodiscard]] Value fleet_comparison_document(const FleetComparison& comparison);

}  // namespace headroom
