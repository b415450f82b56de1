// SPDX-License-Identifier: Apache-2.0
// One job of a search: a scenario with the values of the job axes, compiled, with its goals as lines over the step.
#pragma once

#include <headroom/model/cost/power.hpp>
#include <headroom/scenarios/search/objective.hpp>
#include <headroom/scenarios/search/strategy_space.hpp>
#include <headroom/scenarios/train_answer.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace headroom {

/// A search as its scenario states it.
struct SearchQuestion {
  ConfigValue base;  ///< the document without [search] and [objective]
  std::string file;
  const Sources* sources = nullptr;  ///< must outlive the question
  FreedAxes axes;
  Objective objective;
  TermSet without;  ///< terms of the step that are left out
};

/// Whether a document searches.
[[nodiscard]] bool asks_for_search(const ConfigValue& root) noexcept;
/// Reads both tables; "any" of the job axes becomes what the catalog holds. ConfigError with every problem.
[[nodiscard]] SearchQuestion read_search(const ConfigValue& root, const std::string& file, const Sources& sources);

/// Jobs are the product of the job axes, the first outermost.
[[nodiscard]] std::uint64_t job_count(const SearchQuestion& question) noexcept;
/// Whether what is rented is searched, and which rental a job is: the product of those of its axes that name SKU,
/// number or price.
[[nodiscard]] bool searches_rentals(const SearchQuestion& question) noexcept;
[[nodiscard]] std::uint32_t rental_of(const SearchQuestion& question, std::uint64_t job) noexcept;
/// "hardware.gpus = 512", one for each job axis.
[[nodiscard]] std::vector<std::string> assignments_of(const SearchQuestion& question, std::uint64_t job);

/// goal = slope x step + constant, both in SI.
struct GoalLine {
  double slope = 0.0, constant = 0.0;
  [[nodiscard]] constexpr double at(Seconds step) const noexcept { return slope * step.raw() + constant; }
};

struct SearchJob {
  std::uint32_t index = 0;
  std::uint32_t rental = 0;  ///< as Candidate has it
  std::vector<std::string> assignments;
  Scenario scenario;
  CompiledTraining compiled;
  std::array<GoalLine, goal_count> goals{};  ///< of energy the least: all of the step at the least power
  double energy_steps = 0.0;                 ///< times GPUs: what a step's energy of one GPU is multiplied by
  std::optional<GpuPower> power;             ///< where the catalog has the SKU's
  Watts computing_more{};                    ///< that products and passes over memory draw, over the least
  Bytes room{};                              ///< what the upper end of the memory may take
  double steps = 0.0;                        ///< of the whole run; 0: not asked
  std::unique_ptr<StrategySpace> space;      ///< refers to `scenario`

  [[nodiscard]] const TrainScenario& train() const { return std::get<TrainScenario>(scenario.question); }
  /// Of a strategy; `memory` is the upper end.
  [[nodiscard]] double value(Goal goal, const Estimate& e) const noexcept {
    return goal == Goal::energy && power ? energy_steps * (gpu_energy(e.time, *power) + power->host * e.step).raw()
                                         : least(goal, e.step, e.device.high);
  }
  /// No strategy of at least this step, memory and time of products and passes within the step has less.
  [[nodiscard]] double least(Goal goal, Seconds step, Bytes memory, Seconds computing = {}) const noexcept {
    if (goal == Goal::memory) {
      return memory.raw();
    }
    const double line = goals[static_cast<std::size_t>(goal)].at(step);
    return goal == Goal::energy ? line + energy_steps * (computing_more * computing).raw() : line;
  }
};

/// A job that cannot be, and why.
struct DroppedJob {
  std::uint64_t job = 0;
  std::vector<std::string> assignments;
  std::string why;
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
