// SPDX-License-Identifier: Apache-2.0
// Effect of failures on a long training run: the share of the time spent on useful training, and the completion time.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/goodput/checkpoint.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::goodput {

/// What happens between a failure and the next training step.
struct Recovery {
  Seconds detection{};        ///< time until the failure is noticed (e.g. a watchdog's timeout)
  Seconds restart{};          ///< time for processes, communicators, loading and slow first steps
  double swap_share = 1.0;    ///< share of failures that take a host away, 0 to 1; others restart in place
  std::int64_t hosts = 1;     ///< hosts of the complete run, >= 1
  std::int64_t spares = 0;    ///< standby hosts, >= 0
  Seconds repair{};           ///< mean time until a lost host is back; zero: a replacement is there at once
  std::int64_t may_miss = 0;  ///< hosts the run can continue without (slower), 0 to hosts - 1; beyond, it waits
  /// Relative rate with one host missing, in (0, 1]; each further one costs as much. Absent: (hosts - 1) / hosts.
  std::optional<double> kept;

  [[nodiscard]] constexpr Seconds stop() const noexcept { return detection + restart; }
  /// Relative rate with `missing` hosts, 0 to 1.
  [[nodiscard]] double rate(std::int64_t missing) const noexcept;
};

struct Run {
  Seconds work{};      ///< time of the run without any failure or save
  Seconds mtbf{};      ///< mean time between failures of the whole job
  Seconds interval{};  ///< training time between two saves
  CheckpointTime save;
  Recovery recovery;
};

/// Shares of the completion time; they add up to 1.
struct TimeShares {
  double useful = 0.0;    ///< work that is kept, at the rate of the complete job
  double saving = 0.0;    ///< stalls for saves that are kept
  double rework = 0.0;    ///< training and stalls that a failure undid
  double recovery = 0.0;  ///< detection and restart, also restarts that take hosts back in
  double slower = 0.0;    ///< time lost to running useful work on fewer hosts
  double waiting = 0.0;   ///< time stopped for lack of a host
};

struct Goodput {
  double ratio = 0.0;  ///< effective training time ratio: work over completion time, 0 to 1
  Seconds stall{};     ///< time that training stops for one save
  double failures = 0.0;
  TimeShares shares;
  Interval<Seconds> completion;  ///< mean and 80 % interval over runs, at this failure rate exactly
};

/// One problem of a run, in words, and the key of [goodput] that causes it.
struct RunProblem {
  std::string_view key;
  std::string text;
};
/// All problems: no mean time between failures, negative times, a checkpoint that takes longer than the mean time
/// between failures, counts and shares out of bounds. Empty when `run` is valid.
[[nodiscard]] std::vector<RunProblem> run_problems(const Run& run);

/// Stationary number of hosts away: all repairs run in parallel, hosts fail at rate swap_share / mtbf while the run
/// runs. State k = 0 .. spares + may_miss + 1 has weight a^k / k! with a = swap_share x repair / mtbf; in the last
/// state the run waits (Erlang 1917's loss formula, valid for any distribution of the repair time).
struct HostPool {
  double waiting = 0.0;  ///< share of the time, 0 to 1
  double rate = 1.0;     ///< mean relative rate of the time that is not waiting, 0 to 1
  Hertz rejoins{};       ///< rate at which hosts are taken back into a running job
};
[[nodiscard]] HostPool host_pool(const Recovery& recovery, Seconds mtbf);

/// Everything but the work that completion time depends on. No heap and no exceptions: a search calls it for every
/// strategy.
struct Pace {
  Seconds mtbf{}, interval{}, stop{};
  CheckpointTime save;
  double rate = 1.0;  ///< mean relative rate of the time that is not waiting, 0 to 1
  double left = 1.0;  ///< share of the time that is neither waiting nor taking hosts back in, 0 to 1

  /// Training time between saves; a run shorter than the interval is saved once, at its end.
  [[nodiscard]] Seconds spacing(Seconds work) const noexcept { return interval < work ? interval : work; }
  /// Running time (WallFactor) over the mean rate and over `left`. Never falls as `work` grows.
  [[nodiscard]] Seconds completion(Seconds work) const noexcept;
};
/// Throws ConfigError with all run_problems, or when taking hosts back leaves no time to train.
[[nodiscard]] Pace pace_of(const Run& run);

/// Closed form. Running time by Daly 2006, equation 20, with the lag of asynchronous saves (WallFactor), over the mean
/// rate and the share of time that the host pool leaves. Failures come at 1 / mtbf in that time, and e^(-R/M) of it is
/// not recovery. The interval is normal with the variance of a compound Poisson sum of R + w + uniform(0, tau + C) and
/// of the waits: a first-order result, which `simulate` refines. Throws ConfigError with all run_problems.
[[nodiscard]] Goodput goodput(const Run& run);

/// The run at the low, middle and high end of a failure rate; the interval between saves stays the same, because it is
/// chosen before the rate is known. Completion: tenth percentile at the low rate to ninetieth at the high rate.
struct GoodputRange {
  Goodput few, middle, many;
  Interval<Seconds> completion;
};
/// `run.mtbf` is ignored. Throws ConfigError as job_mtbf and goodput do.
[[nodiscard]] GoodputRange goodput_over(const Run& run,
                                        const Interval<Hertz>& per_gpu,
                                        double gpus,
                                        Hertz per_job = Hertz{});

}  // namespace headroom::goodput
