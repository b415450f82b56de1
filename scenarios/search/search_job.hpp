// SPDX-License-Identifier: Apache-2.0
// One job of a search: a scenario with the values of the job axes, compiled, with its goals as lines over the step.
#pragma once

#include <headroom/model/power/power.hpp>
#include <headroom/scenarios/goodput/run_clock.hpp>
#include <headroom/scenarios/search/dropped_job.hpp>
#include <headroom/scenarios/search/objective.hpp>
#include <headroom/scenarios/search/strategy_space.hpp>
#include <headroom/scenarios/training/train_answer.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A search as its scenario states it, [search] and [objective] with the rest.
struct SearchQuestion : Statement {
  Statement base;  ///< of a job, with the values of the job axes
  FreedAxes axes;
  Objective objective;
  bool asks_run = false;    ///< of the whole run: asks_run()
  bool asks_money = false;  ///< of dollars, by [money] or an axis of price lists
  TermSet without;          ///< terms of the step that are left out
};

/// Whether a document searches.
[[nodiscard]] bool asks_for_search(const ConfigValue& root) noexcept;
/// Reads both tables; "any" of the job axes becomes what the catalog holds. ConfigError with every problem.
[[nodiscard]] SearchQuestion read_search(const ConfigValue& root, const std::string& file, const Sources& sources);

/// Jobs of a search at the most; a question of more is refused.
inline constexpr std::uint64_t most_jobs = 1'000'000;

/// Jobs are the product of the job axes, the first outermost.
[[nodiscard]] std::uint64_t job_count(const SearchQuestion& question) noexcept;
/// Whether the model or what is rented is searched, and which rental a job is: the product of those of its axes that
/// name model, SKU, number or price.
[[nodiscard]] bool searches_rentals(const SearchQuestion& question) noexcept;
[[nodiscard]] std::uint32_t rental_of(const SearchQuestion& question, std::uint64_t job) noexcept;
/// What makes a job of the question: one for each job axis.
[[nodiscard]] Changes changes_of(const SearchQuestion& question, std::uint64_t job);

/// Whether a goal counts what failures and saves add: of a run, not of a step.
[[nodiscard]] constexpr bool of_calendar(Goal goal) noexcept {
  return goal == Goal::time || goal == Goal::cost || goal == Goal::energy || goal == Goal::gpu_hours;
}

/// goal = slope x step + constant, both in SI; the step as its calendar time where that is counted.
struct GoalLine {
  double slope = 0.0, constant = 0.0;
  [[nodiscard]] constexpr double at(Seconds step) const noexcept { return slope * step.raw() + constant; }
};

struct SearchJob {
  std::uint32_t index = 0;
  std::uint32_t rental = 0;  ///< as Candidate has it
  Changes changes;
  Scenario scenario;
  CompiledTraining compiled;
  std::array<GoalLine, goal_count> goals{};  ///< of energy the least: all of the time at the least power
  double energy_steps = 0.0;                 ///< times GPUs and PUE: what a step's energy of one GPU is multiplied by
  double spare_share = 0.0;                  ///< GPUs that stand by over those that train
  std::optional<GpuPower> power;             ///< where the catalog has the SKU's
  Watts computing_more{};                    ///< that products and passes over memory draw, over the least
  Bytes room{};                              ///< what the upper end of the memory may take
  double steps = 0.0;                        ///< of the whole run; 0: not asked
  double work_steps = 0.0;                   ///< of the run, or of a million tokens where none is stated
  double spent_each = 0.0;                   ///< dollars of a second of the run; GPUs where nothing is priced
  double width = 0.0;                        ///< 80 % of the step
  Seconds sure_step{};                       ///< the longest that keeps deadline and budget as sure as asked
  std::optional<goodput::RunClock> clock;    ///< where the scenario says what fails
  std::unique_ptr<StrategySpace> space;      ///< refers to `scenario`

  [[nodiscard]] const TrainScenario& train() const { return std::get<TrainScenario>(scenario.question); }
  /// Of a strategy.
  [[nodiscard]] double value(Goal goal, const Estimate& e) const noexcept {
    return goal == Goal::energy && power ? energy_steps * energy(e).raw() : line(goal, e.step, e.device.high);
  }
  /// What hangs on step and memory alone, `memory` its upper end: every goal but energy, and of energy the least.
  [[nodiscard]] double line(Goal goal, Seconds step, Bytes memory) const noexcept {
    const Seconds taken = counts_failures(goal) ? clock->held(step) : step;
    return goal == Goal::memory ? memory.raw() : goals[static_cast<std::size_t>(goal)].at(taken);
  }
  /// No strategy of at least this step, memory and time of products and passes within the step has less. The time of a
  /// run that mostly saves hardly hangs on its step, and its closed form rounds.
  [[nodiscard]] double least(Goal goal, Seconds step, Bytes memory, Seconds computing = {}) const noexcept {
    const double more = goal == Goal::energy ? energy_steps * (computing_more * computing).raw() : 0.0;
    return (counts_failures(goal) ? 1.0 - bound_rounding : 1.0) * (line(goal, step, memory) + more);
  }

  /// Of the run, or of a million tokens: calendar time where that is counted.
  [[nodiscard]] Seconds run_time(Seconds step) const noexcept {
    return work_steps * (clock ? clock->held(step) : step);
  }
  /// No strategy of at least this step takes less.
  [[nodiscard]] Seconds least_time(Seconds step) const noexcept {
    return (clock ? 1.0 - bound_rounding : 1.0) * run_time(step);
  }
  [[nodiscard]] double spent(Seconds time) const noexcept { return spent_each * time.raw(); }
  /// A step over the longest that keeps the limits with the probability asked for; 0 where there are none.
  [[nodiscard]] double strain(Seconds step) const noexcept { return step / sure_step; }
  /// When the run of such a step ends, as a plan says it: wide by the step's errors, failures with them where counted;
  /// for ever where at their highest rate it never gets ahead.
  [[nodiscard]] Interval<Seconds> run_interval(Seconds step) const;
  /// Its dollars. Precondition: a price.
  [[nodiscard]] Interval<Dollars> cost_interval(const Interval<Seconds>& run) const;

 private:
  static constexpr double bound_rounding = 1e-12;
  [[nodiscard]] bool counts_failures(Goal goal) const noexcept { return clock && of_calendar(goal); }
  /// Of one GPU with its share of the host and of the spares, in a step: evaluation draws as training does, what it is
  /// held for beside both it waits through, as energy_of has it.
  [[nodiscard]] Joules energy(const Estimate& e) const noexcept {
    const Seconds held = clock ? clock->held(e.step) : e.step;
    const Seconds worked = clock ? clock->worked(e.step) : e.step;
    return worked / e.step * gpu_energy(e.time, *power) + power->host * worked +
           (power->of(Draw::waiting) + power->host) * (held - worked) +
           spare_share * ((power->idle + power->host) * held);
  }
};

/// The job, or why there is none: a broken combination, no price, no kernels, more GPUs than are on hand.
struct MadeJob {
  std::unique_ptr<SearchJob> job;
  DroppedJob dropped;
};
/// ConfigError with every problem of the scenario that the job's values make.
[[nodiscard]] Scenario scenario_of(const SearchQuestion& question, std::uint64_t job);
[[nodiscard]] MadeJob make_job(const SearchQuestion& question, std::uint64_t index);

/// Coordinates of the front: those asked for, else time and dollars (GPU-hours without a price) of several jobs, time
/// and memory of one.
[[nodiscard]] std::vector<Goal> front_goals(const SearchQuestion& question);

}  // namespace headroom
