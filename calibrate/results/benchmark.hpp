// SPDX-License-Identifier: Apache-2.0
// Results of benchmarks, told by their content: repeated values of metrics, and what they say of a load or a training.
#pragma once

#include <headroom/calibrate/results/load_run.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Which way a metric is better. `unknown`: its name does not say.
enum class Better : std::uint8_t { unknown, lower, higher };

/// What a file tells of values that it does not list.
struct BenchmarkSummary {
  double n = 0.0, mean = 0.0, deviation = 0.0;
};

/// Repetitions of one metric of one case.
struct BenchmarkSeries {
  std::string of;      ///< the case: a benchmark's name, a command, the text cells of a row; empty: the file has one
  std::string metric;  ///< as the file calls it
  std::string unit;    ///< as the file calls it; empty: it does not say, or the metric's name does
  Better better = Better::unknown;
  bool usual = true;                        ///< judged where nobody names metrics
  std::vector<double> values;               ///< one of each repetition
  std::optional<BenchmarkSummary> summary;  ///< in place of values
};

struct BenchmarkResult {
  std::string file;
  std::string form;  ///< "google-benchmark", "a CSV of columns"
  std::vector<BenchmarkSeries> series;
  std::vector<LoadRun> loads;          ///< where a client tells of its load
  std::vector<TrainingRun> trainings;  ///< where a log tells of a training
  std::vector<std::string> notes;      ///< what was left out, and what is taken for granted

  /// Adds a value to a series, which is made where there is none.
  BenchmarkSeries& series_of(const std::string& of, const std::string& metric, const std::string& unit = "");
};

/// Times, latencies, memory, cost, energy and errors are better lower; rates, throughput, bandwidth, shares of a peak,
/// accuracy and AUC higher. A rate in the unit or the name ("per_second", "tok/s") wins over the word time.
[[nodiscard]] Better better_of(std::string_view metric, std::string_view unit = {}) noexcept;

/// A file's text, told by its content: google-benchmark, pytest-benchmark, hyperfine, `vllm bench serve`, SGLang's
/// bench_serving, trtllm-serve's and trtllm-bench's, GuideLLM, AIPerf or genai-perf, MLPerf Endpoints JSON, their CSV,
/// loadgen's summary and detail, lines ":::MLLOG", trtllm-bench's report, a CSV of columns or one number a line. `by`:
/// columns of a CSV that name the case beside those of text. A run whose own client calls it invalid is read.
/// ConfigError with every problem and its place: another form, no number, a number that is none.
[[nodiscard]] BenchmarkResult read_result(std::string_view text,
                                          const std::string& file,
                                          const std::vector<std::string>& by = {});

/// The same to be judged: ConfigError also for a run that its client calls invalid, which measures nothing.
[[nodiscard]] BenchmarkResult parse_benchmark(std::string_view text,
                                              const std::string& file,
                                              const std::vector<std::string>& by = {});

/// Whether the beginning of a text is that of a result that tells of a load or a training.
[[nodiscard]] bool tells_load(std::string_view head) noexcept;

/// Files of one side, each a run: values of the same case and metric stand together; of a file that tells a summary
/// alone its mean is one value where there are several files.
[[nodiscard]] BenchmarkResult read_benchmarks(const std::vector<std::string>& files,
                                              const std::vector<std::string>& by = {});

}  // namespace headroom
