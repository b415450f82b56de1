// SPDX-License-Identifier: Apache-2.0
// A new version of a service taken out to its replicas, some at a time: spare GPUs, capacity meanwhile, time, and the
// way back.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>

namespace headroom::scheduler {

struct RolloutPlan {
  std::int64_t replicas = 1;    ///< >= 1
  std::int64_t gpus_each = 1;   ///< >= 1
  double surge = 0.25;          ///< share of the replicas that may run beyond them, >= 0
  double unavailable = 0.0;     ///< share of the replicas that may be missing, 0 to 1
  Seconds drain{};              ///< from the last request that a replica is given until its GPUs are free
  Seconds start{};              ///< from free GPUs to the first request
  std::int64_t spare_gpus = 0;  ///< free beside the replicas', >= 0
};

/// As Kubernetes' rolling update of a Deployment (its reference for .spec.strategy.rollingUpdate): shares become
/// counts, the surge rounded up and the unavailable rounded down; where both would be 0, one replica may be missing.
struct Rollout {
  std::int64_t surge = 0;              ///< replicas, as written
  std::int64_t unavailable = 0;        ///< replicas, as written
  std::int64_t spare_gpus_wanted = 0;  ///< for the whole surge
  std::int64_t surge_had = 0;          ///< of the surge, what the spare GPUs hold
  /// No new replica has GPUs and no old one may go: as written the rollout waits for ever. What follows is told for as
  /// many replicas missing as the surge would have added.
  bool stuck = false;
  std::int64_t at_once = 0;  ///< replicas that are replaced at once
  std::int64_t batches = 0;  ///< replicas over that, rounded up
  double lowest = 1.0;       ///< share of the replicas that serve, at its least
  Seconds duration{};        ///< until all replicas are new and no GPU is held beyond theirs
  Seconds rollback_first{};  ///< from knowing that the first batch is bad to the old version everywhere
  Seconds rollback{};        ///< the same when all are new
};

[[nodiscard]] Rollout rollout(const RolloutPlan& plan);

}  // namespace headroom::scheduler
