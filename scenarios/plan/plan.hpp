// SPDX-License-Identifier: Apache-2.0
// The answer to a scenario: what it needs, how long, how much, what binds, and what to change when it cannot be.
#pragma once

#include <headroom/model/serve/fixed_load/serving_bound.hpp>
#include <headroom/model/serve/fixed_load/serving_times.hpp>
#include <headroom/model/train/memory/load_peak.hpp>
#include <headroom/model/train/step/axis_traffic.hpp>
#include <headroom/scenarios/money/bill.hpp>
#include <headroom/scenarios/money/energy.hpp>
#include <headroom/scenarios/money/what_if.hpp>
#include <headroom/scenarios/plan/advice.hpp>
#include <headroom/scenarios/plan/nearest_runs.hpp>
#include <headroom/scenarios/plan/own_effect.hpp>
#include <headroom/scenarios/plan/own_runs.hpp>
#include <headroom/scenarios/plan/sensitivity.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/training/offload.hpp>
#include <headroom/scenarios/training/run_outlook.hpp>
#include <headroom/scenarios/training/train_answer.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headroom {

/// One or a few changes, and what memory and step are then.
struct Remedy {
  Changes changes;
  Strategy strategy;
  Bytes memory{};
  Seconds step{};  ///< what remedies are ranked by
};

struct TrainPlan {
  Strategy strategy;  ///< open axes filled
  Estimate estimate;
  std::string way_out;            ///< when it does not surely fit and no remedy was found
  std::vector<Remedy> remedies;   ///< when it does not surely fit: fewest changes, cheapest step first
  std::string verdict;            ///< one sentence: "fits", or the numbers that break it or may
  std::vector<Problem> problems;  ///< every rule the strategy breaks; empty when it only does not fit
  std::string binds;              ///< what the time goes to; empty where no time is priced
  std::optional<OffloadPlan> offload;
  std::optional<LoadPeak> load;             ///< where the scenario says what is loaded
  std::optional<FedStep> fed;               ///< where the scenario says how data is loaded
  Bytes sent_data{}, sent_tensor{};         ///< by a GPU in a step for data and tensor parallelism, where it is priced
  AxisTraffic sent{};                       ///< the same over every group, of a layer and in a step
  std::shared_ptr<const JobGroups> groups;  ///< of the job, where its time is priced
  Interval<Seconds> step;
  Interval<Bytes> memory;  ///< as the device shows it; the verdict compares its ends with the capacity
  Bytes live{};            ///< what tensors take at the peak
  Bytes reserved{};        ///< what the allocator holds then
  Interval<double> tokens_per_s;
  Interval<double> tokens_per_s_per_gpu;
  Interval<double> mfu;
  Interval<double> model_flops_per_gpu;  ///< FLOP/s
  Interval<Seconds> duration;            ///< of the training alone; zero when no token count was given
  Interval<Seconds> calendar;            ///< that GPUs are held for: the duration and what failures and saves add
  std::optional<RunOutlook> outlook;     ///< where the scenario says what fails
  Interval<double> gpu_hours;            ///< of the calendar time, spare hosts among them
  Interval<Dollars> cost;                ///< of the calendar time; zero without a price
  Interval<Dollars> cost_per_million_tokens;
  Bill bill;                         ///< of a run with a price
  std::optional<PlanEnergy> energy;  ///< where the catalog has the SKU's power
  std::vector<Variant> variants;     ///< cheaper ones, where they are asked for
  TrainAdvice advice;
  /// Of the calendar time, what is the training alone; 1 where nothing else is counted.
  [[nodiscard]] double useful() const noexcept { return calendar.mid > Seconds{} ? duration.mid / calendar.mid : 1.0; }
};

/// What drafting buys under a fixed load: the same question without it, memory and all.
struct SpeculationGain {
  Seconds tpot{}, tpot_without{};
  double output_tokens_per_s = 0.0, output_tokens_per_s_without = 0.0;
  double step_tokens = 1.0;
  /// Of the tokens of a sequence; below 1 drafting slows down.
  [[nodiscard]] double speedup() const noexcept { return tpot_without / tpot; }
  /// "2.53 tokens a step make tokens come 1.61 times as fast, and 1.55 times as many in all".
  [[nodiscard]] std::string text() const;
};

struct ServePlan {
  ServingEstimate estimate;
  std::string verdict;
  std::vector<Problem> problems;
  std::string binds;
  Changes changes;             ///< the smallest that make it fit
  Changes changes_of_weights;  ///< the smallest with weights of another format, on the same GPUs
  Changes changes_for_all;     ///< the smallest that run all that are asked at once
  Interval<double> running;    ///< sequences that run at once, of those asked, over all replicas
  /// Tokens that each sequence of the batch may grow to; nullopt: any number, for the cache stops growing.
  std::optional<std::int64_t> longest_sequence;
  std::string memory_source;          ///< where the width of the capacity's interval comes from
  std::optional<ServingTimes> times;  ///< by measured kernels, its own or other SKUs'
  std::optional<ServingBound> bound;  ///< where no kernels serve: all that is said of time, and no price of it
  std::string untimed;                ///< why there are no times
  std::string times_source;           ///< where the width of each interval comes from
  Interval<Seconds> ttft;             ///< mean over a benchmark's requests, all that are in flight beside it
  Interval<Seconds> tpot;
  Interval<double> output_tokens_per_s;
  Interval<double> input_tokens_per_s;  ///< of a pool that prefills: prompts computed
  Interval<double> requests_per_s;
  std::optional<SpeculationGain> speculation;        ///< where tokens are drafted and kernels measured
  Interval<Dollars> cost_per_million_output_tokens;  ///< of everything, over the output tokens
  /// The same money split by the time that prompts and decodes take.
  Interval<Dollars> cost_per_million_input_tokens_apart, cost_per_million_output_tokens_apart;
  Bill bill;
  std::optional<PlanEnergy> energy;
  std::string other_kernels;  ///< what the times of a SKU rest on whose kernels nobody measured; empty of any other
};

struct Plan {
  Scenario scenario;
  TermSet without;                ///< terms of the step that were left out
  PlanPart part = PlanPart::all;  ///< what was answered: memory alone also where no curve describes the layers' kernels
  std::variant<TrainPlan, ServePlan> answer;
  std::vector<std::string> notes;            ///< assumptions of the scenario and of the plan
  std::string interval_source;               ///< where the width of the intervals comes from
  std::optional<PlanConfidence> confidence;  ///< of a training plan's times
  std::optional<OwnRuns> own_runs;           ///< that moved its numbers and its level
  std::optional<OwnEffect> own_effect;       ///< what they do to it
  std::optional<NearestRuns> nearest;        ///< filled by who prints them: nothing above reads it
  std::vector<Sensitivity> sensitivities;    ///< the same, of a timed training plan
  std::vector<ExplainEntry> explain;         ///< filled when asked for
  /// Not refused: it fits, or may not, which the verdict says.
  [[nodiscard]] bool feasible() const noexcept;
  /// The probability that it fits: the device holds what a training step takes; a replica's KV pool one sequence.
  /// nullopt of a strategy or a layout that breaks a rule.
  [[nodiscard]] std::optional<double> chance_to_fit() const noexcept;
};

/// Prices a scenario; with `explain` every term is recorded. ConfigError when a time is asked for and the SKU has no
/// peak for the recipe. `own_runs` belong to training questions.
[[nodiscard]] Plan make_plan(Scenario scenario,
                             bool explain,
                             PlanPart part = PlanPart::all,
                             TermSet without = {},
                             std::optional<OwnRuns> own_runs = std::nullopt);

/// The same without remedies and without the record of terms: one plan of many that are held side by side.
[[nodiscard]] Plan price_plan(Scenario scenario);

/// The pipeline of a training plan's step as trace-event JSON. ConfigError for a plan without one: of serving, refused,
/// of memory alone, or of a schedule that cannot run its micro-batches.
[[nodiscard]] std::string trace_of(const Plan& plan);

}  // namespace headroom
