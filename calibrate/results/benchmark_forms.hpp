// SPDX-License-Identifier: Apache-2.0
// The forms of results, one reader each. `text` is a whole file, `file` its name for messages; ConfigError as
// parse_benchmark() says.
#pragma once

#include <headroom/calibrate/results/benchmark.hpp>
#include <headroom/core/config_value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// nullopt: a form of JSON that nobody writes as results.
[[nodiscard]] std::optional<BenchmarkResult> benchmark_of_json(const ConfigValue& root, const std::string& file);

/// `vllm bench serve --save-result`, SGLang's and trtllm-serve's like it, GuideLLM, AIPerf and genai-perf.
[[nodiscard]] std::optional<BenchmarkResult> benchmark_of_serving(const ConfigValue& root, const std::string& file);

/// A document of a file of several, one a line, as SGLang's bench_serving adds them.
struct JsonLine {
  std::string_view text;
  int line = 1;
};
/// The lines that begin with '{', of a text whose first line is a document by itself; else one that is all of it.
[[nodiscard]] std::vector<JsonLine> json_lines(std::string_view text);
[[nodiscard]] BenchmarkResult benchmark_of_json_lines(const std::vector<JsonLine>& lines, const std::string& file);

/// What clients say of the load, of a document whose form is known.
[[nodiscard]] LoadRun load_of_client(const ConfigValue& root);  ///< vLLM's and its kin
[[nodiscard]] LoadRun load_of_guidellm(const ConfigValue& benchmark);
[[nodiscard]] LoadRun load_of_aiperf(const ConfigValue& root);

/// result_summary.json or final_snapshot.json of MLPerf Endpoints; nullopt: another document.
[[nodiscard]] std::optional<BenchmarkResult> benchmark_of_endpoints(const ConfigValue& root, const std::string& file);

/// trtllm-bench's --report_json; nullopt: another document. What it writes for people.
[[nodiscard]] std::optional<BenchmarkResult> benchmark_of_trtllm(const ConfigValue& root, const std::string& file);
[[nodiscard]] BenchmarkResult benchmark_of_trtllm_report(std::string_view text, const std::string& file);

/// Metrics of a load, as they are judged: rates, and means of latencies. For forms whose files name them otherwise.
void add_load_series(const LoadRun& load, BenchmarkResult& result);

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
/// Whether a number may be a count, a time or a rate that somebody measured: 0, or 1e-18 to 1e24.
[[nodiscard]] bool is_amount(double number) noexcept;
/// Such a number of a document; nullopt: another kind, or none.
[[nodiscard]] std::optional<double> amount_of(const ConfigValue* value) noexcept;
/// Texts of a document; empty: another kind, or none.
[[nodiscard]] std::string text_of_member(const ConfigValue* object, std::string_view key);
/// A number that may be an amount; what is there and is none is a fault of the load, by its name in the file. JSON's
/// null is no fault.
[[nodiscard]] std::optional<double> told_amount(const ConfigValue* value, std::string_view name, LoadRun& load);
/// JSON as Python writes it, with texts for Infinity and NaN, which JSON lacks, of the same length, so that places
/// hold.
[[nodiscard]] std::string with_plain_numbers(std::string_view text);
/// The text without blanks at its ends.
[[nodiscard]] std::string_view without_blanks(std::string_view text);
/// Its member; nullptr where there is none, or no object.
[[nodiscard]] const ConfigValue* member_of(const ConfigValue* object, std::string_view key) noexcept;

}  // namespace headroom
