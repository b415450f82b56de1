// SPDX-License-Identifier: Apache-2.0
// Results of clients that load a server: vLLM's and SGLang's, GuideLLM, AIPerf and genai-perf. Which of a client's
// files holds results, and which are refused, is what calibrate/results says of them.
#include <headroom/calibrate/reports/reported_run.hpp>
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/json_reader.hpp>

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace headroom {
namespace {

/// vllm-project/vllm, vllm/benchmarks/serve.py (calculate_metrics and main); sgl-project/sglang,
/// python/sglang/bench_serving.py (its end-to-end times are named e2e_latency).
constexpr std::array bench_serve_fields{
    ReportedField{"request_throughput", "requests_per_s", "requests/s"},
    ReportedField{"output_throughput", "output_tokens_per_s", "tokens/s"},
    ReportedField{"total_token_throughput", "total_tokens_per_s", "tokens/s"},
    ReportedField{"total_throughput", "total_tokens_per_s", "tokens/s"},
    ReportedField{"mean_ttft_ms", "ttft_ms_mean", "ms"},
    ReportedField{"median_ttft_ms", "ttft_ms_p50", "ms"},
    ReportedField{"p90_ttft_ms", "ttft_ms_p90", "ms"},
    ReportedField{"p95_ttft_ms", "ttft_ms_p95", "ms"},
    ReportedField{"p99_ttft_ms", "ttft_ms_p99", "ms"},
    ReportedField{"mean_tpot_ms", "tpot_ms_mean", "ms"},
    ReportedField{"median_tpot_ms", "tpot_ms_p50", "ms"},
    ReportedField{"p90_tpot_ms", "tpot_ms_p90", "ms"},
    ReportedField{"p95_tpot_ms", "tpot_ms_p95", "ms"},
    ReportedField{"p99_tpot_ms", "tpot_ms_p99", "ms"},
    ReportedField{"mean_e2el_ms", "e2e_ms_mean", "ms"},
    ReportedField{"median_e2el_ms", "e2e_ms_p50", "ms"},
    ReportedField{"p90_e2el_ms", "e2e_ms_p90", "ms"},
    ReportedField{"p95_e2el_ms", "e2e_ms_p95", "ms"},
    ReportedField{"p99_e2el_ms", "e2e_ms_p99", "ms"},
    ReportedField{"mean_e2e_latency_ms", "e2e_ms_mean", "ms"},
    ReportedField{"median_e2e_latency_ms", "e2e_ms_p50", "ms"},
    ReportedField{"p90_e2e_latency_ms", "e2e_ms_p90", "ms"},
    ReportedField{"p99_e2e_latency_ms", "e2e_ms_p99", "ms"},
};

/// vllm-project/guidellm, report version 2: statistics of the requests that succeeded, below metrics/NAME/successful. A
/// time per output token there holds the first token's, so that the gaps between tokens are the TPOT of rows.
constexpr std::array guidellm_fields{
    ReportedField{"requests_per_second/successful/mean", "requests_per_s", "requests/s"},
    ReportedField{"output_tokens_per_second/successful/mean", "output_tokens_per_s", "tokens/s"},
    ReportedField{"tokens_per_second/successful/mean", "total_tokens_per_s", "tokens/s"},
    ReportedField{"time_to_first_token_ms/successful/mean", "ttft_ms_mean", "ms"},
    ReportedField{"time_to_first_token_ms/successful/percentiles/p50", "ttft_ms_p50", "ms"},
    ReportedField{"time_to_first_token_ms/successful/percentiles/p90", "ttft_ms_p90", "ms"},
    ReportedField{"time_to_first_token_ms/successful/percentiles/p95", "ttft_ms_p95", "ms"},
    ReportedField{"time_to_first_token_ms/successful/percentiles/p99", "ttft_ms_p99", "ms"},
    ReportedField{"inter_token_latency_ms/successful/mean", "tpot_ms_mean", "ms"},
    ReportedField{"inter_token_latency_ms/successful/percentiles/p50", "tpot_ms_p50", "ms"},
    ReportedField{"inter_token_latency_ms/successful/percentiles/p90", "tpot_ms_p90", "ms"},
    ReportedField{"inter_token_latency_ms/successful/percentiles/p95", "tpot_ms_p95", "ms"},
    ReportedField{"inter_token_latency_ms/successful/percentiles/p99", "tpot_ms_p99", "ms"},
    ReportedField{"request_latency/successful/mean", "e2e_ms_mean", "ms", 1e3},
    ReportedField{"request_latency/successful/percentiles/p50", "e2e_ms_p50", "ms", 1e3},
    ReportedField{"request_latency/successful/percentiles/p90", "e2e_ms_p90", "ms", 1e3},
    ReportedField{"request_latency/successful/percentiles/p95", "e2e_ms_p95", "ms", 1e3},
    ReportedField{"request_latency/successful/percentiles/p99", "e2e_ms_p99", "ms", 1e3},
};

[[noreturn]] void refuse_form(const std::string& file, Position at, std::string_view expected) {
  throw ConfigError{{Diagnostic{file, at, "this is no result of " + std::string{expected}}}};
}

/// What a client calls its server; the name of a protocol ("openai") says no engine.
void set_engine(std::string_view backend, ReportedRun& run) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> engines{{{"vllm", "vLLM"},
                                                                                  {"vllm-chat", "vLLM"},
                                                                                  {"sglang", "SGLang"},
                                                                                  {"sglang-native", "SGLang"},
                                                                                  {"sglang-oai", "SGLang"},
                                                                                  {"trt", "TensorRT-LLM"},
                                                                                  {"tensorrt-llm", "TensorRT-LLM"}}};
  for (const auto& [word, engine] : engines) {
    if (backend == word) {
      run.set_text("engine", engine);
    }
  }
}

/// One result of `bench serve`; gate's reader says whether it is one, and refuses a run without an answer.
ReportedRun bench_serve_run(const ConfigValue& root, const std::string& file) {
  const std::optional<BenchmarkResult> known = benchmark_of_serving(root, file);
  if (!known || root.find("request_throughput") == nullptr) {
    refuse_form(file, root.at, "'vllm bench serve --save-result' or of SGLang's bench_serving");
  }
  ReportedRun run;
  run.at = root.at;
  run.set_text("model", model_name(text_at_path(root, "model_id")));
  const std::string type = text_at_path(root, "endpoint_type");
  set_engine(type.empty() ? text_at_path(root, "backend") : type, run);
  const double completed = number_at(root, "completed").value_or(1.0);
  const auto mean = [&](std::string_view total) {
    const std::optional<double> tokens = number_at(root, total);
    return tokens ? std::optional{*tokens / completed} : std::nullopt;
  };
  run.set_number("isl", mean("total_input_tokens"));
  run.set_number("osl", mean("total_output_tokens"));
  const std::optional<double> rate = number_at(root, "request_rate");
  run.set_load(number_at(root, "max_concurrency"), rate, true);
  const std::optional<double> sent = number_at(root, "num_prompts");
  run.options["requests"] = cell_text(sent && *sent > 0.0 ? *sent : completed);
  if (sent && completed < *sent) {
    run.remarks.push_back(cell_text(*sent - completed) + " of " + cell_text(*sent) + " requests were not completed");
  }
  measure_fields(bench_serve_fields, root, run);
  return run;
}

/// How GuideLLM sent a benchmark's requests.
void set_guidellm_load(const ConfigValue& benchmark, ReportedRun& run) {
  const ConfigValue* strategy = nullptr;
  for (const std::string_view path : {"config/strategy", "args/strategy", "scheduler/strategy"}) {
    strategy = strategy == nullptr ? value_at(benchmark, path) : strategy;
  }
  if (strategy == nullptr) {
    return;
  }
  const std::string type = text_at_path(*strategy, "type_");
  const std::optional<double> streams = number_at(*strategy, "streams");
  if (type == "synchronous") {
    run.set_load(1.0, std::nullopt, false);
  } else if (type == "concurrent") {
    run.set_load(streams ? streams : number_at(*strategy, "max_concurrency"), std::nullopt, false);
  } else if (type == "throughput") {
    run.set_load(number_at(*strategy, "max_concurrency"), std::nullopt, true);
  } else {  // "constant", "poisson": its bound of requests in flight is a default far above any load
    run.set_load(std::nullopt, number_at(*strategy, "rate"), false);
  }
}

/// Milliseconds, or a rate per second, of a unit of AIPerf; nullopt: another word.
std::optional<double> aiperf_factor(std::string_view unit, bool time) {
  constexpr std::array<std::pair<std::string_view, double>, 8> times{{{"", 1.0},
                                                                      {"ms", 1.0},
                                                                      {"milliseconds", 1.0},
                                                                      {"s", 1e3},
                                                                      {"sec", 1e3},
                                                                      {"us", 1e-3},
                                                                      {"ns", 1e-6},
                                                                      {"nanoseconds", 1e-6}}};
  if (!time) {
    return 1.0;
  }
  for (const auto& [word, factor] : times) {
    if (unit == word) {
      return factor;
    }
  }
  return std::nullopt;
}

struct AiperfMetric {
  std::string_view theirs, ours, unit;
  bool time = false;
};
/// ai-dynamo/aiperf, profile_export_aiperf.json; triton-inference-server/perf_analyzer, genai-perf's export.
constexpr std::array aiperf_metrics{
    AiperfMetric{"request_throughput", "requests_per_s", "requests/s"},
    AiperfMetric{"output_token_throughput", "output_tokens_per_s", "tokens/s"},
    AiperfMetric{"total_token_throughput", "total_tokens_per_s", "tokens/s"},
    AiperfMetric{"time_to_first_token", "ttft_ms", "ms", true},
    AiperfMetric{"inter_token_latency", "tpot_ms", "ms", true},
    AiperfMetric{"request_latency", "e2e_ms", "ms", true},
};

void measure_aiperf(const ConfigValue& root, const std::string& file, ReportedRun& run, Diagnostics& problems) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> statistics{
      {{"avg", "_mean"}, {"p50", "_p50"}, {"p90", "_p90"}, {"p95", "_p95"}, {"p99", "_p99"}}};
  for (const AiperfMetric& metric : aiperf_metrics) {
    const ConfigValue* const told = member_of(&root, metric.theirs);
    if (told == nullptr) {
      continue;
    }
    const std::string unit = text_at_path(*told, "unit");
    const std::optional<double> factor = aiperf_factor(unit, metric.time);
    if (!factor) {
      problems.add(file, value_at(*told, "unit")->at,
                   "'unit' is " + quoted(unit) + "; it must be one of ms, s, us, ns");
      continue;
    }
    for (const auto& [theirs, ours] : statistics) {
      if (metric.time) {
        run.measure(std::string{metric.ours} + std::string{ours}, metric.unit, number_at(*told, theirs), *factor);
      } else if (theirs == "avg") {
        run.measure(metric.ours, metric.unit, number_at(*told, theirs));
      }
    }
  }
}

}  // namespace

std::vector<ReportedRun> bench_serve_runs(std::string_view text, const std::string& file) {
  std::vector<ReportedRun> runs;
  Diagnostics problems;
  const std::vector<ConfigValue> objects = json_objects(text, file);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    try {
      runs.push_back(bench_serve_run(objects[i], file));
      runs.back().part = objects.size() > 1 ? "run " + std::to_string(i + 1) : "";
    } catch (const ConfigError& error) {
      problems.add(error);
    }
  }
  problems.throw_if_any();
  return runs;
}

std::vector<ReportedRun> guidellm_runs(std::string_view text, const std::string& file) {
  const ConfigValue root = parse_json(text, file);
  const std::optional<BenchmarkResult> known = benchmark_of_serving(root, file);
  const ConfigValue* const benchmarks = root.find("benchmarks");
  if (!known || benchmarks == nullptr || benchmarks->items.empty()) {
    refuse_form(file, root.at, "GuideLLM: it holds no list 'benchmarks' whose members have 'metrics'");
  }
  std::string model = text_at_path(root, "config/spec/backend/model");
  model = model.empty() ? text_at_path(root, "args/model") : model;
  std::vector<ReportedRun> runs;
  for (std::size_t i = 0; i < benchmarks->items.size(); ++i) {
    const ConfigValue& benchmark = benchmarks->items[i];
    const ConfigValue* const metrics = member_of(&benchmark, "metrics");
    ReportedRun run;
    run.part = benchmarks->items.size() > 1 ? "benchmark " + std::to_string(i + 1) : "";
    run.at = benchmark.at;
    run.set_text("model", model_name(model));
    set_guidellm_load(benchmark, run);
    if (metrics != nullptr) {
      run.set_number("isl", number_at(*metrics, "prompt_token_count/successful/mean"));
      run.set_number("osl", number_at(*metrics, "output_token_count/successful/mean"));
      measure_fields(guidellm_fields, *metrics, run);
      if (const std::optional<double> requests = number_at(*metrics, "request_totals/successful")) {
        run.options["requests"] = cell_text(*requests);
      }
      if (number_at(*metrics, "request_totals/errored").value_or(0.0) > 0.0) {
        run.remarks.push_back(cell_text(*number_at(*metrics, "request_totals/errored")) +
                              " requests ended with an error");
      }
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<ReportedRun> aiperf_runs(std::string_view text, const std::string& file) {
  const ConfigValue root = parse_json(text, file);
  if (!benchmark_of_serving(root, file) || root.find("request_throughput") == nullptr) {
    refuse_form(file, root.at, "AIPerf or genai-perf (profile_export_aiperf.json)");
  }
  ReportedRun run;
  run.at = root.at;
  for (const std::string_view path : {"input_config/endpoint/model_names", "input_config/model_names"}) {
    if (const ConfigValue* const names = value_at(root, path); names != nullptr && !names->items.empty()) {
      run.set_text("model", model_name(names->items.front().text));
    }
  }
  run.set_number("isl", number_at(root, "input_sequence_length/avg"));
  run.set_number("osl", number_at(root, "output_sequence_length/avg"));
  std::optional<double> concurrency = number_at(root, "input_config/loadgen/concurrency");
  concurrency = concurrency ? concurrency : number_at(root, "input_config/perf_analyzer/stimulus/concurrency");
  run.set_load(concurrency, number_at(root, "input_config/loadgen/request_rate"), false);
  if (const std::optional<double> requests = number_at(root, "request_count/avg")) {
    run.options["requests"] = cell_text(*requests);
  }
  Diagnostics problems;
  measure_aiperf(root, file, run, problems);
  return one_run(std::move(run), problems);
}

}  // namespace headroom
