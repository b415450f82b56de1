// SPDX-License-Identifier: Apache-2.0
// Trainings as MLLOG tells them: steps, evaluations, what comes before the first step, and how runs differ.
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/calibrate/loads/load_reading.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr double least_named = 0.03;

Seconds sum_of(const std::vector<Seconds>& times) {
  Seconds sum{};
  for (const Seconds time : times) {
    sum += time;
  }
  return sum;
}

/// Steps as the log tells them: each; else a batch over the rate; else a block over its steps.
std::vector<double> step_times(const TrainingRun& run) {
  std::vector<double> steps;
  for (const Seconds step : run.steps) {
    steps.push_back(step.raw());
  }
  for (std::size_t i = 0; steps.size() < run.rates.size() && run.steps.empty() && run.batch && i < run.rates.size();
       ++i) {
    steps.push_back(*run.batch / run.rates[i]);
  }
  for (std::size_t i = 0; run.steps.empty() && run.rates.empty() && run.batch && i < run.blocks.size(); ++i) {
    if (run.block_samples[i] && *run.batch > 0.0) {
      steps.push_back(run.blocks[i].raw() * *run.batch / *run.block_samples[i]);
    }
  }
  return steps;
}

FindingCell number_cell(std::optional<double> number) {
  return number ? FindingCell{*number} : FindingCell{};
}
FindingCell time_cell(std::optional<Seconds> time) {
  return time ? FindingCell{*time} : FindingCell{};
}

void add_training(const TrainingRun& run, const std::string& file, FindingTable& table, RunReading& reading) {
  const std::vector<double> steps = step_times(run);
  const Seconds evaluations = sum_of(run.evaluations);
  const std::optional<double> evaluated = run.run && run.run->raw() > 0.0 && !run.evaluations.empty()
                                              ? std::optional{evaluations / *run.run}
                                              : std::nullopt;
  const auto step = steps.empty() ? std::nullopt : std::optional{Seconds{mean(steps)}};
  table.rows.push_back({file, time_cell(run.init), time_cell(run.run),
                        static_cast<std::int64_t>(run.evaluations.size()),
                        time_cell(run.evaluations.empty() ? std::nullopt : std::optional{evaluations}),
                        number_cell(evaluated), time_cell(step), number_cell(relative_deviation(steps)),
                        number_cell(run.rates.empty() ? std::nullopt : std::optional{mean(run.rates)}),
                        run.status.empty() ? std::string{"did not end"} : run.status});
  if (!reading.step && step) {
    reading.step = step;
    reading.steps = static_cast<std::int64_t>(steps.size());
  }
  const std::string place = file + ":" + std::to_string(run.line) + ": ";
  if (evaluated && *evaluated >= least_named) {
    reading.causes.push_back(
        {CauseKind::evaluation,
         *evaluated,
         1.0 - *evaluated,
         "Evaluations take " + format(evaluations) + " of a run of " + format(*run.run) + ", " +
             counted(static_cast<std::int64_t>(run.evaluations.size()), "evaluation") + " of " +
             format(evaluations / real(static_cast<std::int64_t>(run.evaluations.size()))) + ".",
         "Evaluate less often or on fewer samples, on other GPUs beside the training, or with larger batches.",
         {place + "eval_start to eval_stop"}});
  }
  if (run.init && run.run) {
    const double share = *run.init / (*run.init + *run.run);
    if (share >= least_named) {
      reading.causes.push_back(
          {CauseKind::initialisation,
           share,
           1.0 - share,
           "Before the first step " + format(*run.init) + " go by, " + percent(share, 2) + " of all the time.",
           "Keep compiled kernels and prepared data, load the checkpoint from local disks, start ranks at once.",
           {place + "init_start to init_stop"}});
    }
  }
  constexpr std::size_t enough = 8;
  if (steps.size() >= enough) {
    const std::size_t quarter = steps.size() / 4;
    const double early = median({steps.data(), quarter});
    const double late = median({steps.data() + (steps.size() - quarter), quarter});
    if (late > (1.0 + least_named) * early) {
      reading.notes.push_back(file + ": steps take " + percent(late / early - 1.0, 2) +
                              " longer at the end than at the start; look at clocks, memory and what else runs.");
    }
  }
  if (run.status == "aborted") {
    reading.notes.push_back(file + ": the run was aborted before its quality was reached.");
  }
}

}  // namespace

void add_trainings(std::span<const BenchmarkResult> results, RunReading& reading) {
  FindingTable table{"trainings",
                     "Trainings:",
                     {{"log", "<log"},
                      {"init_s", "before"},
                      {"run_s", "run"},
                      {"evaluations", "evaluations"},
                      {"evaluation_s", "they take"},
                      {"evaluation_share", "of the run"},
                      {"step_s", "step"},
                      {"step_spread", "deviation over mean"},
                      {"samples_per_s", "samples/s"},
                      {"status", "<status"}},
                     {}};
  std::vector<double> runs;
  for (const BenchmarkResult& result : results) {
    for (const TrainingRun& run : result.trainings) {
      add_training(run, result.file, table, reading);
      if (run.run && run.status != "aborted") {
        runs.push_back(run.run->raw());
      }
    }
  }
  if (const std::optional<double> spread = relative_deviation(runs)) {
    reading.notes.push_back(counted(static_cast<std::int64_t>(runs.size()), "run") + " take " +
                            format(Seconds{mean(runs)}) + " on average, with a deviation of " + percent(*spread, 2) +
                            ".");
  }
  keep_table(std::move(table), reading);
}

}  // namespace headroom
