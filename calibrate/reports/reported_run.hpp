// SPDX-License-Identifier: Apache-2.0
// One run as its file reports it: cells of the row, and what was measured.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct ReportedMetric {
  std::string metric, unit;  ///< as measured rows name them: "ttft_ms_p99", "ms"
  double value = 0.0;
};

struct ReportedRun {
  std::string part;                                         ///< of the file: "benchmark 2"; empty: the file is one run
  bool training = false;                                    ///< whether the row is one of training
  Position at;                                              ///< of the run in its file
  std::map<std::string, std::string, std::less<>> cells;    ///< columns of the row
  std::map<std::string, std::string, std::less<>> options;  ///< of the column options
  std::vector<ReportedMetric> metrics;
  std::vector<std::string> remarks;

  /// Sets a cell to a number above zero; anything else leaves it blank.
  void set_number(std::string_view column, std::optional<double> value);
  void set_text(std::string_view column, std::string_view value);
  /// The load as rows name it: a closed loop of `concurrency` requests, requests at a rate, or all at once. Where both
  /// are stated the rate is offered to no more requests at a time than the bound, which an option keeps.
  void set_load(std::optional<double> concurrency, std::optional<double> rate, bool at_once);
  /// Adds a measurement above zero in the row's unit.
  void measure(std::string_view metric, std::string_view unit, std::optional<double> value, double factor = 1.0);
};

/// A field of a report and the metric that it is; `factor` takes its number to the unit.
struct ReportedField {
  std::string_view path;  ///< names joined by '/'
  std::string_view metric, unit;
  double factor = 1.0;
};
void measure_fields(std::span<const ReportedField> fields, const ConfigValue& root, ReportedRun& run);

/// The value at a path of names joined by '/'; nullptr where one of them is missing.
[[nodiscard]] const ConfigValue* value_at(const ConfigValue& root, std::string_view path) noexcept;
[[nodiscard]] std::optional<double> number_at(const ConfigValue& root, std::string_view path) noexcept;
/// A text there; empty: none.
[[nodiscard]] std::string text_at_path(const ConfigValue& root, std::string_view path);

/// The last part of a checkpoint's repository or folder: "Llama-3.1-8B" of "meta-llama/Llama-3.1-8B".
[[nodiscard]] std::string model_name(std::string_view repository);

/// A number as a cell.
[[nodiscard]] std::string cell_text(double value);

/// Readers, one a form. `text` is a whole file; ConfigError as import_result_rows() says.
[[nodiscard]] std::vector<ReportedRun> bench_serve_runs(std::string_view text, const std::string& file);
[[nodiscard]] std::vector<ReportedRun> guidellm_runs(std::string_view text, const std::string& file);
[[nodiscard]] std::vector<ReportedRun> aiperf_runs(std::string_view text, const std::string& file);
[[nodiscard]] std::vector<ReportedRun> inferencex_runs(std::string_view text, const std::string& file);
[[nodiscard]] std::vector<ReportedRun> llm_d_runs(std::string_view text, const std::string& file);
[[nodiscard]] std::vector<ReportedRun> endpoints_runs(std::string_view text, const std::string& file);
[[nodiscard]] std::vector<ReportedRun> loadgen_runs(std::string_view text, const std::string& file);
[[nodiscard]] std::vector<ReportedRun> trtllm_bench_runs(std::string_view text, const std::string& file);
[[nodiscard]] std::vector<ReportedRun> mllog_runs(std::string_view text, const std::string& file);

/// Objects one a line, each at the place of its line; what is none is a problem of its line.
[[nodiscard]] std::vector<ConfigValue> json_objects_of_lines(std::string_view text,
                                                             const std::string& file,
                                                             Diagnostics& problems);

/// A file's only run; throws the problems that its reading found.
[[nodiscard]] std::vector<ReportedRun> one_run(ReportedRun run, const Diagnostics& problems);

/// JSON whose root may be an array of objects as well, and lines of objects: the objects with their places. Infinity
/// and NaN, as Python writes them, are texts.
[[nodiscard]] std::vector<ConfigValue> json_objects(std::string_view text, const std::string& file);

}  // namespace headroom
