// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/scheduler/job_progress.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::scheduler {
namespace {

/// Credits of work on a choice's GPUs.
double charge(const Choice& choice, const Pool& pool, Seconds work) noexcept {
  return real(choice.gpus) * pool.credits * std::max(work.raw(), 0.0);
}

}  // namespace

Seconds stretch_time(const Job& job, const JobProgress& progress, const Choice& choice, const Pool& pool) {
  Seconds time = progress.stretches == 0 ? choice.time : (1.0 - progress.kept) * choice.time + job.restart;
  if (pool.rented) {
    time += pool.start_up;
  }
  return time;
}

void begin_stretch(const Job& job, JobProgress& progress, const Choice& choice, const Pool& pool, Seconds now) {
  progress.from = now;
  progress.begin = pool.rented ? now + pool.start_up : now;
  progress.restart = progress.stretches == 0 ? Seconds{} : job.restart;
  progress.planned_end = now + stretch_time(job, progress, choice, pool);
  progress.end = progress.planned_end;
  progress.crashes = false;
  if (job.crash) {
    const Seconds crash = progress.begin + std::max(*job.crash - progress.ran, Seconds{});
    if (crash < progress.planned_end) {
      progress.crashes = true;
      progress.end = crash;
    }
  }
  ++progress.stretches;
}

Seconds stop_stretch(const Job& job, JobProgress& progress, const Choice& choice, const Pool& pool, Seconds now) {
  const Seconds ran = std::max(now - progress.begin, Seconds{});
  const Seconds restart = std::min(ran, progress.restart);
  const Seconds before = progress.kept * choice.time;
  const Seconds reached = std::min(before + (ran - restart), choice.time);
  Seconds kept = reached;
  if (job.checkpoint > Seconds{}) {
    // The grid of another pool's time may lie below what was kept there, which is not lost.
    kept = std::max(before, std::floor(reached / job.checkpoint) * job.checkpoint);
  }
  progress.used += charge(choice, pool, kept - before);
  progress.kept = kept / choice.time;
  progress.ran += ran;
  return (reached - kept) + restart;
}

Seconds end_stretch(JobProgress& progress, const Choice& choice, const Pool& pool) {
  const Seconds ran = std::max(progress.end - progress.begin, Seconds{});
  const Seconds restart = std::min(ran, progress.restart);
  progress.ran += ran;
  progress.used += charge(choice, pool, progress.crashes ? ran - restart : (1.0 - progress.kept) * choice.time);
  return restart;
}

}  // namespace headroom::scheduler
