// SPDX-License-Identifier: Apache-2.0
// A question about occupancy, and whether the architecture can run what it asks about.
#pragma once

#include <headroom/hardware/catalog/unit_limits.hpp>
#include <headroom/model/laboratory/occupancy_cures.hpp>

#include <cstdint>
#include <optional>

namespace headroom::cli {

struct OccupancyAsked {
  WaitingKernel kernel;
  std::int64_t cluster = 1;
  std::optional<std::int64_t> tensor_memory;  ///< columns of a block
  std::optional<Seconds> latency;
  std::optional<double> blocks;  ///< of the grid
  std::optional<Bytes> spilled;  ///< of a thread
};

/// Throws ConfigError with everything that the architecture does not allow, each with its limit and the limit's source.
void check_occupancy(const OccupancyAsked& asked, const UnitLimits& unit);

}  // namespace headroom::cli
