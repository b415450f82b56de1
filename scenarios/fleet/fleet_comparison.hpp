// SPDX-License-Identifier: Apache-2.0
// Fleets side by side: in what they differ, and which keeps what is promised for the least.
#pragma once

#include <headroom/scenarios/compare/comparison.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace headroom {

struct ComparedFleet {
  std::string file;
  FleetPlan plan;
};

/// Of two fleets or more.
struct FleetComparison {
  std::vector<ComparedFleet> fleets;  ///< as given
  std::vector<RefusedPlan> refused;   ///< beside the fleets, as given
  std::vector<DifferingKey> keys;     ///< as stated, or as the first option has it
  bool priced = false;                ///< all that keep what is promised have a price
  std::vector<std::size_t> ranking;   ///< of those that do, by goal(); of equals as given
  bool complete = true;               ///< false: one of them was stopped before all of it was looked at
  bool time_over = false;             ///< it is not complete because its time ran out
  /// Of a fleet that keeps what is promised: dollars per million output tokens where all are priced, else GPUs per
  /// request a second.
  [[nodiscard]] double goal(std::size_t fleet) const;
};

/// Plans each as plan_fleet() does. ConfigError for fewer than two, refused ones among them.
[[nodiscard]] FleetComparison compare_fleets(const std::vector<AskedFleet>& asked,
                                             const FleetPlanOptions& options,
                                             std::vector<RefusedPlan> refused = {});

}  // namespace headroom
