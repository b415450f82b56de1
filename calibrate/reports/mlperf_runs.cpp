// SPDX-License-Identifier: Apache-2.0
// Logs of MLPerf: loadgen's summary and lines of MLLOG, as calibrate/results reads them, and the summary of Endpoints.
#include <headroom/calibrate/reports/reported_run.hpp>
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace headroom {
namespace {

/// mlcommons/inference, loadgen/results.cc (names of the summary); times are in nanoseconds.
constexpr std::array loadgen_fields{
    ReportedField{"Tokens per second", "output_tokens_per_s", "tokens/s"},
    ReportedField{"Completed tokens per second", "output_tokens_per_s", "tokens/s"},
    ReportedField{"Samples per second", "requests_per_s", "requests/s"},
    ReportedField{"Completed samples per second", "requests_per_s", "requests/s"},
    ReportedField{"Mean First Token latency (ns)", "ttft_ms_mean", "ms", 1e-6},
    ReportedField{"50.00 percentile first token latency (ns)", "ttft_ms_p50", "ms", 1e-6},
    ReportedField{"90.00 percentile first token latency (ns)", "ttft_ms_p90", "ms", 1e-6},
    ReportedField{"95.00 percentile first token latency (ns)", "ttft_ms_p95", "ms", 1e-6},
    ReportedField{"99.00 percentile first token latency (ns)", "ttft_ms_p99", "ms", 1e-6},
    ReportedField{"Mean Time to Output Token (ns)", "tpot_ms_mean", "ms", 1e-6},
    ReportedField{"50.00 percentile time to output token (ns)", "tpot_ms_p50", "ms", 1e-6},
    ReportedField{"99.00 percentile time to output token (ns)", "tpot_ms_p99", "ms", 1e-6},
    ReportedField{"Mean latency (ns)", "latency_ms_mean", "ms", 1e-6},
    ReportedField{"50.00 percentile latency (ns)", "latency_ms_p50", "ms", 1e-6},
    ReportedField{"99.00 percentile latency (ns)", "latency_ms_p99", "ms", 1e-6},
};

/// mlcommons/endpoints @ ea33275, src/inference_endpoint/metrics/report.py; times are in nanoseconds.
constexpr std::array endpoints_fields{
    ReportedField{"qps", "requests_per_s", "requests/s"},
    ReportedField{"tps", "output_tokens_per_s", "tokens/s"},
    ReportedField{"ttft/avg", "ttft_ms_mean", "ms", 1e-6},
    ReportedField{"ttft/percentiles/50", "ttft_ms_p50", "ms", 1e-6},
    ReportedField{"ttft/percentiles/90", "ttft_ms_p90", "ms", 1e-6},
    ReportedField{"ttft/percentiles/95", "ttft_ms_p95", "ms", 1e-6},
    ReportedField{"ttft/percentiles/99", "ttft_ms_p99", "ms", 1e-6},
    ReportedField{"tpot/avg", "tpot_ms_mean", "ms", 1e-6},
    ReportedField{"tpot/percentiles/50", "tpot_ms_p50", "ms", 1e-6},
    ReportedField{"tpot/percentiles/90", "tpot_ms_p90", "ms", 1e-6},
    ReportedField{"tpot/percentiles/95", "tpot_ms_p95", "ms", 1e-6},
    ReportedField{"tpot/percentiles/99", "tpot_ms_p99", "ms", 1e-6},
    ReportedField{"latency/avg", "e2e_ms_mean", "ms", 1e-6},
    ReportedField{"latency/percentiles/50", "e2e_ms_p50", "ms", 1e-6},
    ReportedField{"latency/percentiles/90", "e2e_ms_p90", "ms", 1e-6},
    ReportedField{"latency/percentiles/95", "e2e_ms_p95", "ms", 1e-6},
    ReportedField{"latency/percentiles/99", "e2e_ms_p99", "ms", 1e-6},
};

/// The value behind "NAME :" of a summary; empty: no such line.
std::string loadgen_line(std::string_view text, std::string_view name) {
  std::size_t at = 0;
  while ((at = text.find(name, at)) != std::string_view::npos) {
    const std::size_t colon = text.find_first_not_of(' ', at + name.size());
    if ((at == 0 || text[at - 1] == '\n') && colon != std::string_view::npos && text[colon] == ':') {
      const std::size_t end = std::min(text.find('\n', colon), text.size());
      std::string_view value = text.substr(colon + 1, end - colon - 1);
      const std::size_t begin = value.find_first_not_of(" \t\r");
      return begin == std::string_view::npos
                 ? std::string{}
                 : std::string{value.substr(begin, value.find_last_not_of(" \t\r") - begin + 1)};
    }
    at += name.size();
  }
  return {};
}

/// Values of events of MLLOG that say the question; the last one counts.
void read_mllog_cells(std::string_view text, const std::string& file, ReportedRun& run) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> columns{
      {{"global_batch_size", "global_batch"}, {"max_sequence_length", "seq_len"}, {"sequence_length", "seq_len"}}};
  constexpr std::string_view sign = ":::MLLOG";
  for (std::size_t at = text.find(sign); at != std::string_view::npos; at = text.find(sign, at + 1)) {
    const std::size_t begin = at + sign.size();
    const ConfigValue event = parse_json(text.substr(begin, text.find('\n', begin) - begin), file);
    const std::string key = text_at_path(event, "key");
    for (const auto& [theirs, ours] : columns) {
      if (key == theirs) {
        run.set_number(ours, number_at(event, "value"));
      }
    }
    if (key == "submission_benchmark") {
      run.options["benchmark"] = text_at_path(event, "value");
    }
  }
}

double mean_of(const BenchmarkSeries& series) {
  double sum = 0.0;
  for (const double value : series.values) {
    sum += value;
  }
  return sum / static_cast<double>(series.values.size());
}

}  // namespace

std::vector<ReportedRun> endpoints_runs(std::string_view text, const std::string& file) {
  const ConfigValue root = parse_json(text, file);
  Diagnostics problems;
  const ConfigValue* const completed = root.find("n_samples_completed");
  if (completed == nullptr || root.find("latency") == nullptr) {
    problems.add(file, root.at,
                 "this is no result_summary.json of MLPerf Endpoints: it lacks 'n_samples_completed' or "
                 "'latency'");
  } else if (number_of(completed).value_or(0.0) < 1.0) {
    problems.add(file, completed->at, "no request was completed: nothing is measured");
  }
  problems.throw_if_any();
  ReportedRun run;
  run.at = root.at;
  run.set_number("isl", number_at(root, "input_sequence_lengths/avg"));
  run.set_number("osl", number_at(root, "output_sequence_lengths/avg"));
  const std::string type = text_at_path(root, "run_config/load_pattern/type");
  run.set_load(type == "concurrency" ? number_at(root, "run_config/load_pattern/target_concurrency") : std::nullopt,
               type == "poisson" ? number_at(root, "run_config/load_pattern/target_qps") : std::nullopt,
               type == "max_throughput");
  run.options["requests"] = cell_text(*number_of(completed));
  measure_fields(endpoints_fields, root, run);
  const ConfigValue* const whole = root.find("complete");
  if (whole != nullptr && whole->kind == ConfigValue::Kind::boolean && !whole->boolean) {
    run.remarks.emplace_back("the run was not complete; its numbers are of what had ended");
  }
  return one_run(std::move(run), {});
}

std::vector<ReportedRun> loadgen_runs(std::string_view text, const std::string& file) {
  static_cast<void>(parse_benchmark(text, file));  // refuses what is no summary, and a run that is not VALID
  ReportedRun run;
  std::string scenario = loadgen_line(text, "Scenario");
  std::transform(scenario.begin(), scenario.end(), scenario.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (!scenario.empty()) {
    run.options["scenario"] = scenario;
  }
  if (scenario == "offline") {
    run.set_text("request_rate", "inf");
  } else if (scenario == "server") {
    run.set_number("request_rate", whole_real(loadgen_line(text, "target_qps")));
  }
  for (const ReportedField& field : loadgen_fields) {
    run.measure(field.metric, field.unit, whole_real(loadgen_line(text, field.path)), field.factor);
  }
  return one_run(std::move(run), {});
}

std::vector<ReportedRun> mllog_runs(std::string_view text, const std::string& file) {
  const BenchmarkResult result = benchmark_of_mllog(text, file);
  ReportedRun run;
  run.training = true;
  read_mllog_cells(text, file, run);
  for (const BenchmarkSeries& series : result.series) {
    if (series.metric == "throughput" && !series.values.empty()) {
      run.measure("samples_per_s", "samples/s", mean_of(series));
      run.remarks.push_back("samples_per_s is the mean of " + std::to_string(series.values.size()) +
                            " reports of tracked_stats");
    }
  }
  return one_run(std::move(run), {});
}

}  // namespace headroom
