// SPDX-License-Identifier: Apache-2.0
// What failures leave of a long training run: the share of the time that is training, and when it ends.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/goodput/checkpoint.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::goodput {

/// From a failure to training again.
struct Recovery {
  Seconds detection{};        ///< until somebody knows: a watchdog's patience
  Seconds restart{};          ///< processes, communicators, loading, the first slow steps
  double swap_share = 1.0;    ///< of failures that take a host away; the rest restart where they are
  std::int64_t hosts = 1;     ///< that the run has when whole
  std::int64_t spares = 0;    ///< hosts that stand by
  Seconds repair{};           ///< mean, until a host taken away is back; zero: another is there at once
  std::int64_t may_miss = 0;  ///< hosts that the run goes on without, slower; beyond these it waits
  /// Rate with one host missing over that of all; each further one costs as much again. Nothing: (hosts - 1) / hosts.
  std::optional<double> kept;

  [[nodiscard]] constexpr Seconds stop() const noexcept { return detection + restart; }
  /// Rate with `missing` hosts over that of all; at least zero.
  [[nodiscard]] double rate(std::int64_t missing) const noexcept;
};

struct Run {
  Seconds work{};      ///< what it takes when nothing ever fails and nothing is saved
  Seconds mtbf{};      ///< of the job
  Seconds interval{};  ///< of training between two saves
  CheckpointTime save;
  Recovery recovery;
};

/// Where the time goes; all add up to 1.
struct TimeShares {
  double useful = 0.0;    ///< work that is kept, at the rate of the whole job
  double saving = 0.0;    ///< stalls of saves that are kept
  double rework = 0.0;    ///< training and stalls that a failure undid
  double recovery = 0.0;  ///< detection and restart, and restarts that take hosts back in
  double slower = 0.0;    ///< useful work on fewer hosts
  double waiting = 0.0;   ///< for a host
};

struct Goodput {
  double ratio = 0.0;  ///< effective training time ratio: work over completion
  Seconds stall{};     ///< of a save
  double failures = 0.0;
  TimeShares shares;
  Interval<Seconds> completion;  ///< mean and 80 % of the runs; that the rate itself is uncertain is not in
};

/// One thing that is wrong with a run, in words, and the scenario key of [goodput] that states it.
struct RunProblem {
  std::string_view key;
  std::string text;
};
/// All of them: no mean time between failures, negative times, a checkpoint that takes longer than the job lives,
/// counts and shares that cannot be.
[[nodiscard]] std::vector<RunProblem> run_problems(const Run& run);

/// Hosts away from a run in the long run: as many repairs at once as there are hosts away, failures at a rate of
/// swap_share / mtbf while the run runs. States k = 0 .. spares + may_miss + 1 have weights a^k / k!, a =
/// swap_share x repair / mtbf, the last one waits (Erlang 1917's loss formula; it holds for any distribution of the
/// repair time).
struct HostPool {
  double waiting = 0.0;  ///< share of the time
  double rate = 1.0;     ///< mean rate of the time that is not waiting
  Hertz rejoins{};       ///< hosts taken back into a running job
};
[[nodiscard]] HostPool host_pool(const Recovery& recovery, Seconds mtbf);

/// What the completion hangs on beside the work. No heap and no exceptions: a search asks it for every strategy.
struct Pace {
  Seconds mtbf{}, interval{}, stop{};
  CheckpointTime save;
  double rate = 1.0;  ///< mean over the time that is not waiting, of that of all hosts
  double left = 1.0;  ///< of the time, what neither waits nor takes hosts back in

  /// A run shorter than the interval is saved once, at its end.
  [[nodiscard]] Seconds spacing(Seconds work) const noexcept { return interval < work ? interval : work; }
  /// Running time, by WallFactor, over the mean rate and the share of the time that is left for it. Never falls as the
  /// work grows.
  [[nodiscard]] Seconds completion(Seconds work) const noexcept;
};
/// ConfigError with all of run_problems, or where hosts come back so often that nothing is left.
[[nodiscard]] Pace pace_of(const Run& run);

/// Closed form. Running time by Daly 2006, equation 20 with the lag of asynchronous saves (WallFactor), over the mean
/// rate and the share of the time that the host pool leaves. Failures come in that time at 1 / mtbf; e^(-R/M) of it is
/// not recovery. The interval is normal with the variance of a compound Poisson sum of R + w + uniform(0, tau + C), and
/// of the waits: good to first order, the simulation has the rest. ConfigError with all of run_problems.
[[nodiscard]] Goodput goodput(const Run& run);

/// The run at the low, middle and high end of a rate, its interval between saves as it stands: one is chosen before the
/// rate is known. Completion: from the tenth percentile at the low rate to the ninetieth at the high one.
struct GoodputRange {
  Goodput few, middle, many;
  Interval<Seconds> completion;
};
/// `run.mtbf` is not read. ConfigError as job_mtbf and goodput.
[[nodiscard]] GoodputRange goodput_over(const Run& run,
                                        const Interval<Hertz>& per_gpu,
                                        double gpus,
                                        Hertz per_job = Hertz{});

}  // namespace headroom::goodput
