// SPDX-License-Identifier: Apache-2.0
// Measured habits of an SM beside what the closed forms of unit_laws.hpp make of the simplest measurement of each.
#pragma once

#include <headroom/calibrate/probe/probe_kinds.hpp>
#include <headroom/core/quantity.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

struct UnitTiming {
  UnitProbe probe;
  Seconds time;  ///< > 0
};

struct UnitComparison {
  UnitTiming measured;
  std::optional<Seconds> formula;  ///< absent: what the others are compared with, or nothing to compare it with
  std::string law;                 ///< in words, such as "8 sectors a warp"; empty without a formula
};

/// One comparison a timing, in their order. Formulas need no constant of the device, because each takes it from other
/// timings of the same run:
///   stride, offset, random  the sectors of a stride of 1, and as many more as the warps touch; an offset touches none
///                           that its neighbours do not
///   banks, diverge          the time at width 1, as often as words share a bank, or as there are paths
///   occupancy               the time at width 1 over the width (Little 1961), no less than that at the largest
///   atomics                 likewise
///   grid_sync               on the line through the fewest and the most CTAs
[[nodiscard]] std::vector<UnitComparison> compared_with_laws(std::span<const UnitTiming> timings);

}  // namespace headroom
