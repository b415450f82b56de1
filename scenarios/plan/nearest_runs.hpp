// SPDX-License-Identifier: Apache-2.0
// Measured runs most like a planned one, with our price of each beside theirs. Told after the estimate and never read
// by it.
#pragma once

#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headroom {

struct ServeScenario;
struct Sources;
struct TrainScenario;

/// How unlike two training jobs are, as a factor: exp of the root of the summed squares of ln(ratio) of the active
/// parameters, the GPUs, the tokens of a step and the sequence, and of a fixed step for each thing that differs in
/// kind. 1 for the same job.
struct JobFeatures {
  double parameters = 1.0;  ///< active
  double gpus = 1.0, step_tokens = 1.0, seq_len = 1.0;
  std::string sku, generation, software, precision;
  RunClass run_class = RunClass::dense;
};
[[nodiscard]] double job_distance(const JobFeatures& a, const JobFeatures& b) noexcept;
[[nodiscard]] JobFeatures features_of(const TrainScenario& train);

/// A measured run near the plan.
struct NearRun {
  std::string id, model, framework, source;
  std::string gpu;  ///< id of the SKU
  std::string metric, unit;
  std::int64_t gpus = 0;
  double distance = 1.0;    ///< job_distance to the plan
  double measured = 0.0;    ///< in the row's unit
  double predicted = 0.0;   ///< by the form alone, whatever level the user's runs have
  double step_error = 0.0;  ///< predicted/measured - 1 of the step: above zero, ours is slow
  bool own = false;         ///< of the user's files
};

struct NearestRuns {
  double radius = 0.0;        ///< what counts as near
  std::size_t within = 0;     ///< runs inside the radius
  bool with_own = false;      ///< the user's files were searched too
  std::vector<NearRun> runs;  ///< nearest first: the first few inside, else the nearest of all
};

/// Rows that are in doubt, hold a problem, or cannot be predicted are passed over. Of several metrics of one
/// configuration the first that is a time counts, else the first throughput.
[[nodiscard]] NearestRuns nearest_runs(const TrainScenario& train,
                                       std::span<const RunFile> published,
                                       std::span<const RunFile> own,
                                       const Sources& sources);

/// Published runs inside the radius of the same network served in the same phases. Unlike as above: ranks of a replica,
/// lengths, sequences a rank, SKU, engine and format of the weights.
[[nodiscard]] NearestRuns nearest_runs(const ServeScenario& serve,
                                       std::span<const RunFile> published,
                                       const Sources& sources);

}  // namespace headroom
