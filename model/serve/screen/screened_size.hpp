// SPDX-License-Identifier: Apache-2.0
// How many copies of a fleet keep what is promised, by closed forms.
#pragma once

#include <headroom/model/serve/load/tail_objective.hpp>
#include <headroom/model/serve/screen/screen.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <cstdint>
#include <span>

namespace headroom {

/// A fleet of `units` copies of a unit: its replicas, and its prefill replicas, so many times.
[[nodiscard]] ServingFleet fleet_of(const ServingFleet& unit, std::int64_t units) noexcept;

/// Units as the screen counts them, without a simulation.
struct ScreenedSize {
  std::int64_t units = 0;  ///< 0: not up to `most_units`
  ServingScreen screen;    ///< of that many, when there are
};
/// Objectives are of all requests together: the screen knows no classes. About ten screens, no
/// heap. Precondition: no problems() of fleet and traffic.
[[nodiscard]] ScreenedSize screened_size(const ServingFleet& unit,
                                         const ScreenTraffic& traffic,
                                         std::span<const TailObjective> objectives,
                                         std::int64_t most_units = 4096) noexcept;

}  // namespace headroom
