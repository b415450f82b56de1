// SPDX-License-Identifier: Apache-2.0
// The forms of results, one reader each. `text` is a whole file, `file` its name for messages; ConfigError as
// parse_benchmark() says.
#pragma once

#include <headroom/calibrate/gate/benchmark.hpp>
#include <headroom/core/config_value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// nullopt: a form of JSON that nobody writes as results.
[[nodiscard]] std::optional<BenchmarkResult> benchmark_of_json(const ConfigValue& root, const std::string& file);

/// `vllm bench serve --save-result`, GuideLLM, AIPerf and genai-perf.
[[nodiscard]] std::optional<BenchmarkResult> benchmark_of_serving(const ConfigValue& root, const std::string& file);

/// mlperf_log_summary.txt of MLPerf's loadgen.
[[nodiscard]] BenchmarkResult benchmark_of_loadgen(std::string_view text, const std::string& file);
/// Lines ":::MLLOG {...}" of MLPerf training, or of loadgen's mlperf_log_detail.txt.
[[nodiscard]] BenchmarkResult benchmark_of_mllog(std::string_view text, const std::string& file);

/// A CSV: a column of numbers is a metric with a repetition a row, columns of text and those of `by` name the case.
[[nodiscard]] BenchmarkResult benchmark_of_csv(std::string_view text,
                                               const std::string& file,
                                               const std::vector<std::string>& by);
/// AIPerf's and genai-perf's CSV: a metric a row, with its statistics as columns.
[[nodiscard]] BenchmarkResult benchmark_of_metric_rows(std::string_view text, const std::string& file);
/// One number a line, a word above them its name.
[[nodiscard]] BenchmarkResult benchmark_of_lines(std::string_view text, const std::string& file);

/// A number of a document; nullopt: another kind, or none.
[[nodiscard]] std::optional<double> number_of(const ConfigValue* value) noexcept;
/// Its member; nullptr where there is none, or no object.
[[nodiscard]] const ConfigValue* member_of(const ConfigValue* object, std::string_view key) noexcept;

}  // namespace headroom
