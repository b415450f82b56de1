// SPDX-License-Identifier: Apache-2.0
// Which of the jobs that wait start now, where, and whom they stop.
#pragma once

#include <headroom/model/scheduler/cluster_state.hpp>
#include <headroom/model/scheduler/pool_outlook.hpp>
#include <headroom/model/scheduler/waiting_jobs.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <span>
#include <vector>

namespace headroom::scheduler {

/// One pass at each moment at which something changed: jobs are asked in the order of their rights; each starts on the
/// choice on which it would end first, waiting counted, then on the cheapest; one whose best choice has to wait makes
/// itself room by stopping others where it may, or is reserved that choice's pool where it is the first that waits for
/// it. Afterwards those that wait are asked again for choices that spill. Under Order::fair the first may be another
/// one whenever a job starts or ends, and a large gang would lose its reservation to small ones again and again: there
/// a job keeps it until it starts, while smaller gangs wait for the pool and none of higher priority waits.
///
/// How long a job would wait for a choice is estimated: until enough of the pool's GPUs are free, and the work of those
/// before it that wait for the same pool over the pool's GPUs. Only jobs with several choices depend on it.
/// Under Order::fifo no job waits that could start.
class Dispatcher {
 public:
  /// `ranks`: by job, each number once.
  Dispatcher(ClusterState& state, const Policy& policy, std::vector<std::size_t> ranks);

  /// A job begins to wait. Precondition: one of its choices is allowed.
  void enter(std::size_t job);
  /// Starts and stops jobs; afterwards none that waits could start.
  void pass(Seconds now);
  /// Takes what was started since it was asked last, in that order; one may have been stopped since.
  [[nodiscard]] std::vector<std::size_t> take_started();
  /// The same of those that were stopped; one may have been started since.
  [[nodiscard]] std::vector<std::size_t> take_stopped();
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }

 private:
  /// Of a tenant in a pool whose quota keeps one of its jobs waiting: the same as a pool's outlook, in counts alone.
  struct QuotaHold {
    bool active = false;
    bool closed = false;
    Seconds shadow{};
    std::int64_t extra = 0;
  };
  /// A way for a job to go on.
  struct Way {
    std::size_t choice = 0;
    Seconds end{};
    Dollars cost{};
    bool now = false;
    [[nodiscard]] bool better_than(const Way& o) const noexcept {
      return end < o.end || (end == o.end && cost < o.cost);
    }
  };
  /// A line's next job, the first of all lines' on top of a heap.
  struct Turn {
    std::int64_t priority = 0;
    double share = 0.0;
    std::size_t rank = 0, line = 0;
    [[nodiscard]] bool after(const Turn& o) const noexcept {
      if (priority != o.priority) {
        return priority < o.priority;
      }
      return share != o.share ? share > o.share : rank > o.rank;
    }
  };
  struct Line {
    WaitingLine own, spill;
    std::vector<std::size_t> job_at;
    std::size_t cursor = 0;
  };

  /// How a job may take a choice.
  enum class Use : std::uint8_t { never, own, spill };
  [[nodiscard]] std::vector<Use> uses_of(std::size_t job) const;
  [[nodiscard]] Way way(std::size_t job, std::size_t choice, Seconds now);
  [[nodiscard]] Seconds wait_until(std::size_t job, const Choice& choice, Seconds now);
  [[nodiscard]] QuotaHold& quota_hold(std::size_t tenant, std::size_t pool);
  [[nodiscard]] bool quota_lets(std::size_t tenant, const Choice& choice, Seconds end);
  [[nodiscard]] Seconds quota_shadow(std::size_t tenant, const Choice& choice, std::int64_t& extra) const;

  void begin_pass(Seconds now);
  void ask_holders(Seconds now);
  [[nodiscard]] std::int64_t least_gang(std::size_t job, std::size_t pool) const;
  void round(bool spilling, Seconds now);
  void visit(std::size_t job, Seconds now);
  void visit_spill(std::size_t job, Seconds now);
  void block(std::size_t job, std::size_t choice);
  void start(std::size_t job, std::size_t choice, std::vector<NodePart> parts, Seconds now);
  [[nodiscard]] bool stop_others_for(std::size_t job, std::size_t choice, Seconds now);
  [[nodiscard]] bool next_turn(std::size_t line, bool spilling, Turn& turn, std::size_t& place);
  [[nodiscard]] Line& line_of(std::size_t job) noexcept;
  void leave(std::size_t job);
  /// Which pools a job is asked for again: all of its choices', or for a while fewer.
  void stand_for_own(std::size_t job, std::size_t only);
  void stand_for_spill(std::size_t job, bool at_all);
  void ask_again_halfway(std::size_t job, Seconds now, Seconds until);
  void refresh_limit(std::size_t pool, Seconds now);
  void set_target(std::size_t job, std::size_t choice);
  void clear_target(std::size_t job);

  ClusterState& state_;
  Policy policy_;
  std::vector<std::size_t> ranks_;
  std::vector<std::size_t> place_;  // of a job in its tenant's line
  std::vector<Line> lines_;         // by tenant; one for all where neither shares nor quotas tell them apart
  bool one_line_ = false;
  std::vector<PoolOutlook> outlooks_;
  std::vector<PoolLimit> limits_, own_limits_;  // by pool, in this pass; of a tenant with a quota
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> holders_;                        // by pool, for which job it is reserved; none
  std::vector<std::size_t> asked_;                          // in this pass already, because they hold a reservation
  std::map<std::int64_t, std::size_t> waiting_priorities_;  // jobs of each
  std::vector<QuotaHold> quota_holds_;
  std::vector<std::size_t> used_quota_holds_;
  std::vector<Turn> turns_;  // a heap
  std::vector<std::size_t> started_, stopped_jobs_;
  std::size_t waiting_ = 0;
  bool stopped_ = false;  // someone, in this round
  bool any_spill_ = false, spilling_ = false;
  /// Jobs that could start and rather wait are asked again halfway to the start that they expect, not at every moment.
  struct Again {
    Seconds at{};
    std::size_t job = 0;
    bool operator>(const Again& o) const noexcept { return at > o.at || (at == o.at && job > o.job); }
  };
  std::priority_queue<Again, std::vector<Again>, std::greater<>> again_;
  std::vector<std::vector<Use>> uses_;  // by job and choice, of those that have waited
  bool weighs_ = false;                 // some job has several choices
  std::vector<RankSums> backlog_;       // GPU-seconds that wait, by pool and rank
  struct Target {
    std::size_t pool = 0;
    double area = 0.0;  // 0: none
  };
  std::vector<Target> targets_;
};

}  // namespace headroom::scheduler
