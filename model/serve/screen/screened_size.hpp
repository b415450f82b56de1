// SPDX-License-Identifier: Apache-2.0
// The number of copies of a fleet that meets the objectives, by closed forms.
#pragma once

#include <headroom/model/serve/load/tail_objective.hpp>
#include <headroom/model/serve/screen/screen.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <cstdint>
#include <span>

namespace headroom {

/// A fleet with `units` times the replicas, and the prefill replicas, of a unit.
[[nodiscard]] ServingFleet fleet_of(const ServingFleet& unit, std::int64_t units) noexcept;

/// A number of units as the screen finds it, without simulation.
struct ScreenedSize {
  std::int64_t units = 0;  ///< smallest sufficient number; 0: none up to `most_units`
  ServingScreen screen;    ///< screen of that number of units
};
/// The objectives apply to all requests together, since the screen has no classes. About ten screens, no heap.
/// Precondition: problems() of fleet and traffic are empty.
[[nodiscard]] ScreenedSize screened_size(const ServingFleet& unit,
                                         const ScreenTraffic& traffic,
                                         std::span<const TailObjective> objectives,
                                         std::int64_t most_units = 4096) noexcept;

}  // namespace headroom
