// SPDX-License-Identifier: Apache-2.0
// Why GPUs are free while jobs wait.
#pragma once

#include <headroom/model/scheduler/cluster_state.hpp>
#include <headroom/model/scheduler/waiting_jobs.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::scheduler {

/// Integrates PoolUse::stranded and PoolUse::fragmented over time, from one moment of change to the next.
class IdleMeter {
 public:
  explicit IdleMeter(const ClusterState& state);
  /// Which jobs wait, as of now; those that do already or do not are ignored.
  void waits(std::size_t job);
  void waits_no_more(std::size_t job);
  /// A time passed in which nothing changed.
  void pass(Seconds time);
  [[nodiscard]] double stranded(std::size_t pool) const noexcept { return stranded_[pool]; }
  [[nodiscard]] double fragmented(std::size_t pool) const noexcept { return fragmented_[pool]; }

 private:
  void count(std::size_t job, double sign);
  [[nodiscard]] std::size_t sizes_up_to(std::int64_t gpus) const noexcept;
  const ClusterState* state_;
  std::vector<std::int64_t> sizes_;         // of gangs, rising
  std::vector<bool> waits_;                 // by job
  std::vector<RankSums> outside_, inside_;  // by pool: of jobs without a choice there, and with one
  std::vector<std::size_t> limited_;        // tenants with quotas
  std::vector<std::size_t> limited_index_;  // by tenant, from 1; 0: none
  std::vector<RankSums> inside_limited_;    // of those, by index and pool
  std::vector<double> stranded_, fragmented_;
  std::size_t waiting_ = 0;
};

}  // namespace headroom::scheduler
