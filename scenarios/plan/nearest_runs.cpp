// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/measured/training_row.hpp>
#include <headroom/scenarios/plan/nearest_runs.hpp>
#include <headroom/scenarios/plan/own_runs.hpp>
#include <headroom/scenarios/plan/runs_beside.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace headroom {
namespace {

constexpr double near = 1.5;
constexpr std::size_t most_told = 3;

// What a difference in kind is taken to be worth, as a factor of the step's time. They rank, and price nothing:
// another generation or kind of network never counts as near, another recipe or software alone does.
constexpr double another_sku = 1.15;
constexpr double another_software = 1.25;
constexpr double another_precision = 1.4;
constexpr double another_generation = 2.0;
constexpr double another_class = 2.0;

double squared_log(double ratio) noexcept {
  const double log = std::log(ratio);
  return log * log;
}

/// A configuration, and the row that speaks for it.
struct Candidate {
  const JobsOfRuns::Job* job = nullptr;
  double distance = 0.0;
  bool own = false;
};

/// Times before throughputs, and those before rates of FLOP, whose conventions differ between sources.
int rank_of(std::string_view metric) noexcept {
  constexpr std::array<std::string_view, 6> order{"step_time_s", "tokens_per_s_per_gpu", "samples_per_s",
                                                  "mfu",         "model_tflops_per_gpu", "hardware_tflops_per_gpu"};
  return static_cast<int>(std::find(order.begin(), order.end(), metric) - order.begin());
}

JobFeatures features_of(const RunConfiguration& run, const RowJob& job) {
  JobFeatures f;
  f.parameters = count_parameters(job.architecture).active;
  f.gpus = real(filled(run.gpus));
  f.seq_len = real(filled(run.seq_len));
  f.step_tokens = real(filled(run.global_batch)) * f.seq_len;
  f.sku = job.device->id;
  f.generation = job.device->generation;
  f.software = job.software == nullptr ? "" : job.software->id;
  f.precision = std::string{name_of(job.precision)};
  f.run_class = job.run_class;
  return f;
}

NearRun near_run(const Candidate& candidate, const RowPrediction& prediction) {
  const RunRow& row = *candidate.job->row;
  NearRun run;
  run.id = row.id;
  run.model = row.run.model;
  run.gpu = candidate.job->features.sku;
  run.framework = row.run.framework;
  run.source = row.source;
  run.metric = row.metric;
  run.unit = row.unit;
  run.gpus = filled(row.run.gpus);
  run.distance = candidate.distance;
  run.measured = row.measured;
  run.predicted = prediction.predicted;
  run.step_error = std::exp(step_error(row.metric, prediction.predicted, row.measured)) - 1.0;
  run.own = candidate.own;
  return run;
}

/// Whether the first row speaks for a configuration that both hold: the first of equal ranks does.
bool speaks_before(const RunRow& one, const RunRow& other) noexcept {
  return rank_of(one.metric) <= rank_of(other.metric);
}

/// Nearest first.
std::vector<Candidate> ranked(const JobFeatures& asked, const JobsOfRuns& own, const JobsOfRuns& published) {
  std::vector<Candidate> all;
  all.reserve(own.jobs().size() + published.jobs().size());
  const auto add = [&](const JobsOfRuns::Job& job, bool is_own) {
    all.push_back({&job, job_distance(asked, job.features), is_own});
  };
  for (const auto& [key, job] : own.jobs()) {
    const auto other = published.jobs().find(key);
    if (other == published.jobs().end() || speaks_before(*job.row, *other->second.row)) {
      add(job, true);
    }
  }
  for (const auto& [key, job] : published.jobs()) {
    const auto other = own.jobs().find(key);
    if (other == own.jobs().end() || !speaks_before(*other->second.row, *job.row)) {
      add(job, false);
    }
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair{a.distance, std::string_view{a.job->row->id}} <
           std::pair{b.distance, std::string_view{b.job->row->id}};
  });
  return all;
}

}  // namespace

double job_distance(const JobFeatures& a, const JobFeatures& b) noexcept {
  double sum = squared_log(a.parameters / b.parameters) + squared_log(a.gpus / b.gpus) +
               squared_log(a.step_tokens / b.step_tokens) + squared_log(a.seq_len / b.seq_len);
  if (a.generation != b.generation) {
    sum += squared_log(another_generation);
  } else if (a.sku != b.sku) {
    sum += squared_log(another_sku);
  }
  sum += a.software != b.software ? squared_log(another_software) : 0.0;
  sum += a.precision != b.precision ? squared_log(another_precision) : 0.0;
  sum += a.run_class != b.run_class ? squared_log(another_class) : 0.0;
  return std::exp(std::sqrt(sum));
}

JobFeatures features_of(const TrainScenario& train) {
  JobFeatures f;
  f.parameters = count_parameters(train.architecture).active;
  f.gpus = real(train.work.shape.gpus);
  f.seq_len = real(train.work.shape.seq_len);
  f.step_tokens = real(train.work.shape.global_batch) * f.seq_len;
  f.sku = train.device.id;
  f.generation = train.device.generation;
  f.software = train.software.id;
  f.precision = std::string{name_of(train.work.precision)};
  f.run_class = class_of(train.device, train.architecture, train.work.options.method != Method::full,
                         step_confidence(*train.data).measured);
  return f;
}

JobsOfRuns::JobsOfRuns(std::vector<RunFile> files, const Sources& sources) : files_{std::move(files)} {
  TrainingRowModel model{sources};
  for (const RunFile& file : files_) {
    for (const RunRow& row : file.rows) {
      if (file.form != RowForm::training || row.doubted || !row.broken.empty() || !is_step_metric(row.metric)) {
        continue;
      }
      if (const std::optional<RowJob> job = model.job_of(row.run)) {
        auto [at, fresh] = jobs_.try_emplace(configuration_key(file, row));
        if (fresh || !speaks_before(*at->second.row, row)) {
          at->second = {&row, features_of(row.run, *job)};
        }
      }
    }
  }
}

NearestRuns nearest_runs(const TrainScenario& train,
                         const JobsOfRuns& published,
                         std::span<const RunFile> own,
                         const Sources& sources) {
  std::vector<std::string> assumed;  // which learn_from_runs() tells
  const JobsOfRuns completed{completed_runs(own, train, sources, assumed), sources};
  TrainingRowModel model{sources};
  NearestRuns result;
  result.radius = near;
  result.with_own = !own.empty();
  for (const Candidate& candidate : ranked(features_of(train), completed, published)) {
    const bool inside = candidate.distance <= near;
    if (!inside && !result.runs.empty()) {
      break;
    }
    const RunRow& row = *candidate.job->row;
    const RowPrediction prediction = model.predict(row.run, row.metric, row.unit);
    if (prediction.status != RowStatus::ok) {
      continue;
    }
    result.within += inside ? 1 : 0;
    if (result.runs.size() < most_told) {
      result.runs.push_back(near_run(candidate, prediction));
    }
  }
  return result;
}

NearestRuns nearest_runs(const TrainScenario& train,
                         std::span<const RunFile> published,
                         std::span<const RunFile> own,
                         const Sources& sources) {
  return nearest_runs(train, JobsOfRuns{{published.begin(), published.end()}, sources}, own, sources);
}

}  // namespace headroom
