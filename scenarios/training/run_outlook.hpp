// SPDX-License-Identifier: Apache-2.0
// When a training run ends: what failures, saves and pauses add to the time of its steps, and how far that is known.
#pragma once

#include <headroom/model/estimate/explain.hpp>
#include <headroom/scenarios/goodput/run_clock.hpp>
#include <headroom/scenarios/goodput/simulation.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// What a save of the whole job writes: weights and optimizer states of the memory model, of adapters where they alone
/// are trained.
struct CheckpointStates {
  Bytes total{};
  double of_parameter = 0.0;  ///< bytes
};
[[nodiscard]] CheckpointStates checkpoint_states(const TrainScenario& train);

/// The days on which a run may end.
struct EndDate {
  std::chrono::sys_days low{}, mid{}, high{};
};

struct RunOutlook {
  goodput::Run run;                  ///< at the middle rate
  Interval<double> ratio;            ///< effective training time; low at the high rate
  Interval<Seconds> mtbf;            ///< of the job; low at the high rate
  double failures = 0.0;             ///< of the run, at the middle rate
  Seconds stall{}, young{}, daly{};  ///< of a save; intervals
  goodput::TimeShares shares;        ///< of the time, at the middle rate; `useful` without evaluation
  double evaluation = 0.0;           ///< share of the time
  Interval<Seconds> completion;      ///< closed form, chance alone: 80 % of runs at the middle rate
  Interval<Seconds> by_rate;         ///< means at the ends of the rate, the interval between saves as it stands
  double width = 0.0;                ///< 80 % of the step
  /// Of all that is not known: the step's time, the rate, chance (docs/goodput.md, "When it ends").
  Interval<Seconds> calendar;
  std::optional<goodput::SimulatedRuns> simulated;
  std::int64_t runs = 0;  ///< of the simulation
  std::optional<EndDate> end;
  /// Mean of the simulated runs over the closed form's, less one.
  [[nodiscard]] double disagreement() const noexcept { return simulated->mean / completion.mid - 1.0; }
};

/// The clock of the job, whatever its strategy. Needs `long_run` and tokens. ConfigError, at the place of [goodput],
/// for a job that never gets ahead.
[[nodiscard]] goodput::RunClock clock_of(const TrainScenario& train);

/// How the outlook is asked.
struct OutlookRequest {
  Seconds step{};              ///< of the plan
  double width = 0.0;          ///< 80 % of it
  std::optional<double> kept;  ///< rate with one host missing, of a plan on fewer; blank: as stated, else by hosts
  bool simulates = false;
};
/// The same clock at the plan's step. ConfigError as clock_of, also for saves so many steps apart that no run gets
/// ahead.
[[nodiscard]] RunOutlook outlook_of(const TrainScenario& train, const OutlookRequest& request);

/// Independent errors of the logarithm: each side's half widths add as squares. `chance`, `rate`: intervals around the
/// same middle; `width` of the step.
[[nodiscard]] Interval<Seconds> combined(const Interval<Seconds>& chance, const Interval<Seconds>& rate, double width);

/// How each number of the outlook came about.
[[nodiscard]] std::vector<ExplainEntry> explain_outlook(const TrainScenario& train, const RunOutlook& outlook);
/// The same of a target loss.
[[nodiscard]] std::vector<ExplainEntry> explain_target(const goodput::Target& target, double batch_tokens);

/// "failures: none counted; at the published rates a job of 512 GPUs stops every 31.1 to 160 h ([goodput] prices that)"
[[nodiscard]] std::string uncounted_failures(std::int64_t gpus);

}  // namespace headroom
