// SPDX-License-Identifier: Apache-2.0
// What is known of a pool's future in one pass of the scheduler: who has it reserved, when GPUs come free.
#pragma once

#include <headroom/model/scheduler/cluster_state.hpp>
#include <headroom/model/scheduler/waiting_jobs.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom::scheduler {

/// One pool, between two passes unchanged but by what the pass itself starts and stops.
///
/// EASY backfill (Lifka 1995; Mu'alem and Feitelson 2001, section 2): the first job that waits for the pool is reserved
/// the GPUs that are free at its shadow time, the earliest planned end after which its gang has room. Another may start
/// where it ends by then, or takes only GPUs that the reserved job will not. Nodes are told apart: what a job may take
/// of a node beyond the shadow time is the lesser of what is free there now and what the reserved job leaves there.
class PoolOutlook {
 public:
  PoolOutlook(const ClusterState& state, std::size_t pool) : state_{&state}, pool_{pool} {}

  void begin_pass() noexcept;
  /// No other job starts there in this pass.
  void close() noexcept { closed_ = true; }
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  [[nodiscard]] bool reserved() const noexcept { return reserved_gpus_ > 0; }
  /// For the first job that waits for it.
  void reserve(std::int64_t gpus) noexcept { reserved_gpus_ = gpus; }

  /// Whether a gang that runs until `end` may start now.
  [[nodiscard]] bool may_start(std::int64_t gpus, Seconds end);
  /// Where it goes. Precondition: it may.
  [[nodiscard]] std::vector<NodePart> place(std::int64_t gpus, Seconds end);
  /// The pool's state has changed: a job that runs until `end` started on these parts.
  void started(const std::vector<NodePart>& parts, Seconds end);
  /// A job stopped that held these parts.
  void stopped(const std::vector<NodePart>& parts);
  /// Whether a gang that runs until `end` may have what the room would be: whether no reservation speaks against it.
  [[nodiscard]] bool ends_before_reserved(Seconds end);

  /// When as many GPUs will be free, wherever they lie, of those that run and of what is reserved; at least the next
  /// end where as many are free and the gang yet has no room. Precondition: it may not start now.
  [[nodiscard]] Seconds free_again(std::int64_t gpus, Seconds now);
  [[nodiscard]] PoolLimit limit(Seconds now) const noexcept;

 private:
  void look_ahead();
  const ClusterState* state_;
  std::size_t pool_;
  bool closed_ = false;
  std::int64_t reserved_gpus_ = 0;  // 0: none
  bool known_ = false;              // shadow, extra_ and both_ are
  Seconds shadow_{};
  NodeRoom extra_;  // free at the shadow time beside the reserved job
  NodeRoom both_;   // the lesser of that and what is free now
  bool ends_known_ = false;
  std::vector<std::int64_t> free_after_;  // the i-th planned end
};

}  // namespace headroom::scheduler
