// SPDX-License-Identifier: Apache-2.0
// A node that spoils a run now and then: the chance to hold one, and the runs that find it.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>

namespace headroom::goodput {

/// What a stated chance of a node to turn bad in a day means for a job.
struct BadNodes {
  double of_node = 0.0;  ///< chance of one node in a day, 0 to 1
  std::int64_t nodes = 1;
  double of_day = 0.0;           ///< that any node turns bad in a day: 1 - (1 - p)^N, nodes on their own
  double of_run = 0.0;           ///< in the time of the run
  std::int64_t bisect_runs = 0;  ///< runs on half of what is left that find one bad node: log2 N, rounded up
};
/// Precondition: 0 <= p <= 1, nodes >= 1, run >= 0.
[[nodiscard]] BadNodes bad_nodes(double of_node, std::int64_t nodes, Seconds run) noexcept;

}  // namespace headroom::goodput
