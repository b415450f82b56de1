// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/measured/training_row.hpp>
#include <headroom/scenarios/plan/nearest_runs.hpp>
#include <headroom/scenarios/plan/own_runs.hpp>

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

/// A configuration of a file, and the row that speaks for it.
struct Candidate {
  const RunRow* row = nullptr;
  std::string sku;
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
  const RunRow& row = *candidate.row;
  NearRun run;
  run.id = row.id;
  run.model = row.run.model;
  run.gpu = candidate.sku;
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

class Neighbourhood {
 public:
  Neighbourhood(const TrainScenario& train, const Sources& sources)
      : asked_{headroom::features_of(train)}, model_{sources} {}

  void add(std::span<const RunFile> files, bool own) {
    for (const RunFile& file : files) {
      if (file.form != RowForm::training) {
        continue;
      }
      for (const RunRow& row : file.rows) {
        add(file, row, own);
      }
    }
  }

  NearestRuns nearest() {
    std::vector<Candidate> ranked;
    ranked.reserve(candidates_.size());
    for (const auto& [key, candidate] : candidates_) {
      ranked.push_back(candidate);
    }
    std::sort(ranked.begin(), ranked.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair{a.distance, std::string_view{a.row->id}} < std::pair{b.distance, std::string_view{b.row->id}};
    });
    NearestRuns result;
    result.radius = near;
    for (const Candidate& candidate : ranked) {
      const bool inside = candidate.distance <= near;
      if (!inside && !result.runs.empty()) {
        break;
      }
      const RunRow& row = *candidate.row;
      const RowPrediction prediction = model_.predict(row.run, row.metric, row.unit);
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

 private:
  void add(const RunFile& file, const RunRow& row, bool own) {
    if (row.doubted || !row.broken.empty() || !is_step_metric(row.metric)) {
      return;
    }
    const std::optional<RowJob> job = model_.job_of(row.run);
    if (!job) {
      return;
    }
    auto [at, fresh] = candidates_.try_emplace(configuration_key(file, row));
    if (fresh || rank_of(row.metric) < rank_of(at->second.row->metric)) {
      at->second = {&row, job->device->id, job_distance(asked_, features_of(row.run, *job)), own};
    }
  }

  JobFeatures asked_;
  TrainingRowModel model_;
  std::map<std::string, Candidate> candidates_;  ///< by configuration
};

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

NearestRuns nearest_runs(const TrainScenario& train,
                         std::span<const RunFile> published,
                         std::span<const RunFile> own,
                         const Sources& sources) {
  std::vector<std::string> assumed;  // which learn_from_runs() tells
  const std::vector<RunFile> completed = completed_runs(own, train, sources, assumed);
  Neighbourhood neighbourhood{train, sources};
  neighbourhood.add(completed, true);
  neighbourhood.add(published, false);
  NearestRuns nearest = neighbourhood.nearest();
  nearest.with_own = !own.empty();
  return nearest;
}

}  // namespace headroom
