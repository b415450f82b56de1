// SPDX-License-Identifier: Apache-2.0
// A comparison of fleets as text and as a document.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/scenarios/fleet/fleet_comparison.hpp>

#include <string>

namespace headroom {

/// Text for people: the verdict on each fleet, the keys and numbers that differ, and the ranking.
[[nodiscard]] std::string fleet_comparison_text(const FleetComparison& comparison);
/// The document of schema "headroom.compare_fleets/1", in SI units.
[[nodiscard]] Value fleet_comparison_document(const FleetComparison& comparison);

}  // namespace headroom
