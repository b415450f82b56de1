// SPDX-License-Identifier: Apache-2.0
// One schedule from its first arrival to its last end, event by event.
#pragma once

#include <headroom/model/scheduler/cluster_jobs.hpp>
#include <headroom/model/scheduler/cluster_state.hpp>

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace headroom::scheduler {

inline constexpr std::size_t free_choice = std::numeric_limits<std::size_t>::max();
struct ListOrder {
  std::vector<std::size_t> ranks;  ///< by job, each number once: the lower goes first among equal priorities and shares
  std::vector<std::size_t>
      pins;  ///< by job, the choice that it takes where it may, or free_choice; empty: all are free
};

/// The schedule of a policy whose jobs go by `order`, and for Order::shortest without regard to arrivals. At each
/// moment ends come before arrivals, and both before what starts. `bound` and `proven` are left unset.
[[nodiscard]] Schedule run_cluster(const ClusterQuestion& question, const Policy& policy, const ListOrder& order);

/// A job's start that was decided beforehand.
struct PlannedStart {
  std::size_t job = 0, choice = 0;
  Seconds start{};
  std::vector<NodePart> parts;
};

/// The schedule in which each job starts as planned, at an end or an arrival, and none is stopped. `starts`: in order
/// of time.
[[nodiscard]] Schedule run_planned(const ClusterQuestion& question, std::span<const PlannedStart> starts);

}  // namespace headroom::scheduler
