// SPDX-License-Identifier: Apache-2.0
// What runs where on a cluster, at one moment of a schedule that is being made.
#pragma once

#include <headroom/model/scheduler/cluster_jobs.hpp>
#include <headroom/model/scheduler/job_progress.hpp>
#include <headroom/model/scheduler/node_room.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom::scheduler {

/// The question, as every part of the scheduler sees it.
struct ClusterQuestion {
  std::span<const Pool> pools;
  std::span<const Tenant> tenants;
  std::span<const Job> jobs;
};

/// Whether a choice is taken only where no other can start: marked so, or of a rented pool where the job may use
/// others.
[[nodiscard]] bool spills(std::span<const Pool> pools, const Job& job, std::size_t choice) noexcept;

class ClusterState {
 public:
  explicit ClusterState(const ClusterQuestion& question);

  /// Of a pool, in the order of planned ends and then of jobs.
  struct Running {
    Seconds planned_end{};
    std::size_t job = 0;
    bool operator<(const Running& o) const noexcept {
      return planned_end < o.planned_end || (planned_end == o.planned_end && job < o.job);
    }
  };

  [[nodiscard]] const ClusterQuestion& question() const noexcept { return question_; }
  [[nodiscard]] const NodeRoom& room(std::size_t pool) const noexcept { return rooms_[pool]; }
  [[nodiscard]] const std::vector<Running>& running(std::size_t pool) const noexcept { return running_[pool]; }
  [[nodiscard]] std::int64_t held(std::size_t tenant, std::size_t pool) const noexcept {
    return held_[tenant * question_.pools.size() + pool];
  }
  /// GPUs that the tenant may still take of the pool.
  [[nodiscard]] std::int64_t quota_left(std::size_t tenant, std::size_t pool) const noexcept;
  /// The largest of its shares of pools, over its weight (Ghodsi et al. 2011, section 4.3).
  [[nodiscard]] double weighted_share(std::size_t tenant) const noexcept;

  [[nodiscard]] JobProgress& progress(std::size_t job) noexcept { return progress_[job]; }
  [[nodiscard]] const JobProgress& progress(std::size_t job) const noexcept { return progress_[job]; }
  [[nodiscard]] JobRun& run(std::size_t job) noexcept { return runs_[job]; }
  [[nodiscard]] const JobRun& run(std::size_t job) const noexcept { return runs_[job]; }
  /// Of the stretch in which the job is, or was last.
  [[nodiscard]] const Choice& choice(std::size_t job) const noexcept {
    return question_.jobs[job].choices[runs_[job].choice];
  }
  /// From now to the job's end, should it start on the choice now.
  [[nodiscard]] Seconds time_on(std::size_t job, std::size_t choice) const;

  /// Starts a job that waits. Precondition: the parts are free.
  void start(std::size_t job, std::size_t choice, std::vector<NodePart> parts, Seconds now);
  /// Stops one that runs, which waits again.
  void stop(std::size_t job, Seconds now);
  /// Ends one whose end has come.
  void end(std::size_t job);

  [[nodiscard]] std::vector<Hold> take_holds();
  [[nodiscard]] std::vector<JobRun> take_runs() { return std::move(runs_); }

 private:
  void release(std::size_t job, Seconds now);
  ClusterQuestion question_;
  std::vector<NodeRoom> rooms_;
  std::vector<GpuMap> maps_;
  std::vector<std::vector<Running>> running_;
  std::vector<std::int64_t> held_;  // tenant * pools + pool
  std::vector<JobProgress> progress_;
  std::vector<JobRun> runs_;
  std::vector<Hold> holds_;
};

}  // namespace headroom::scheduler
