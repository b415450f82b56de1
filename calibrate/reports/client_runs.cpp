// SPDX-License-Identifier: Apache-2.0
// Results of clients that load a server, and logs of MLPerf, as rows: what calibrate/results reads of them.
#include <headroom/calibrate/reports/reported_run.hpp>
#include <headroom/calibrate/results/benchmark_forms.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace headroom {
namespace {

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

void measure_latency(const ToldLatency& told, const std::string& metric, ReportedRun& run) {
  constexpr std::array<std::pair<double, std::string_view>, 4> shares{
      {{0.5, "_p50"}, {0.9, "_p90"}, {0.95, "_p95"}, {0.99, "_p99"}}};
  constexpr double milli = 1e3;
  const auto measure = [&](std::string_view statistic, std::optional<Seconds> time) {
    run.measure(metric + std::string{statistic}, "ms", time ? std::optional{time->raw()} : std::nullopt, milli);
  };
  measure("_mean", told.mean);
  for (const auto& [share, statistic] : shares) {
    const auto stated = std::find_if(told.quantiles.begin(), told.quantiles.end(),
                                     [&, of = share](const auto& known) { return std::abs(known.first - of) < 1e-9; });
    measure(statistic, stated == told.quantiles.end() ? std::nullopt : std::optional{stated->second});
  }
}

/// `tpot`: the kind of time that is the TPOT of rows; `whole`: how rows call that of a whole request.
ReportedRun row_of(const LoadRun& load, LatencyKind tpot, const std::string& whole) {
  ReportedRun run;
  run.at = {load.line, 1};
  run.part = load.of;
  run.set_text("model", load.model);
  set_engine(load.server, run);
  run.set_number("isl", load.prompt);
  run.set_number("osl", load.output);
  run.set_load(load.limit, load.asked_rate, load.at_once);
  const std::optional<double> requests = load.asked.value_or(0.0) > 0.0 ? load.asked : load.completed;
  if (requests && *requests >= 1.0) {
    run.options["requests"] = cell_text(*requests);
  }
  if (const double failed = load.failed.value_or(0.0); failed > 0.0) {
    run.remarks.push_back(cell_text(failed) + (requests && load.asked
                                                   ? " of " + cell_text(*requests) + " requests were not completed"
                                                   : " requests ended with an error"));
  }
  run.measure("requests_per_s", "requests/s", load.rate);
  run.measure("output_tokens_per_s", "tokens/s", load.output_rate);
  run.measure("total_tokens_per_s", "tokens/s", load.total_rate);
  measure_latency(load.of_kind(LatencyKind::ttft), "ttft_ms", run);
  measure_latency(load.of_kind(tpot), "tpot_ms", run);
  measure_latency(load.of_kind(LatencyKind::request), whole, run);
  return run;
}

[[noreturn]] void refuse_form(const std::string& file, Position at, std::string_view expected) {
  throw ConfigError{{Diagnostic{file, at, "this is no result of " + std::string{expected}}}};
}

struct ClientForm {
  std::string_view form;      ///< of BenchmarkResult
  std::string_view expected;  ///< for messages
  LatencyKind tpot = LatencyKind::tpot;
  bool at_once = false;  ///< a run with neither a rate nor a bound sent all at once
};

/// Runs of each document of a file. A run that a client calls incomplete is kept, with a remark.
std::vector<ReportedRun> client_runs(std::string_view text, const std::string& file, const ClientForm& form) {
  std::vector<ReportedRun> runs;
  Diagnostics problems;
  const std::vector<ConfigValue> documents = json_objects(text, file);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    try {
      const std::optional<BenchmarkResult> result = benchmark_of_serving(documents[i], file);
      if (!result || result->form != form.form || result->loads.empty()) {
        refuse_form(file, documents[i].at, form.expected);
      }
      for (LoadRun load : result->loads) {
        for (const ToldFault& fault : load.faults) {
          problems.add(file, fault.at, fault.text);
        }
        load.at_once = load.at_once || form.at_once;
        load.line = std::max(load.line, documents[i].at.line);
        runs.push_back(row_of(load, form.tpot, "e2e_ms"));
        ReportedRun& run = runs.back();
        run.part = documents.size() > 1 ? "run " + std::to_string(i + 1) : run.part;
        for (const std::string& rule : load.invalid) {
          run.remarks.push_back(rule + "; its numbers are of what had ended");
        }
      }
    } catch (const ConfigError& error) {
      problems.add(error);
    }
  }
  problems.throw_if_any();
  return runs;
}

}  // namespace

std::vector<ReportedRun> bench_serve_runs(std::string_view text, const std::string& file) {
  return client_runs(
      text, file,
      {"vllm bench serve", "'vllm bench serve --save-result' or of SGLang's bench_serving", LatencyKind::tpot, true});
}

std::vector<ReportedRun> guidellm_runs(std::string_view text, const std::string& file) {
  // Its time per output token holds the first token's, so that the gaps between tokens are the TPOT of rows.
  return client_runs(
      text, file,
      {"GuideLLM", "GuideLLM: it holds no list 'benchmarks' whose members have 'metrics'", LatencyKind::itl});
}

std::vector<ReportedRun> aiperf_runs(std::string_view text, const std::string& file) {
  return client_runs(text, file, {"AIPerf", "AIPerf or genai-perf (profile_export_aiperf.json)"});
}

std::vector<ReportedRun> endpoints_runs(std::string_view text, const std::string& file) {
  return client_runs(text, file,
                     {"MLPerf Endpoints",
                      "MLPerf Endpoints (result_summary.json): it lacks 'n_samples_completed' or "
                      "'latency'"});
}

std::vector<ReportedRun> trtllm_bench_runs(std::string_view text, const std::string& file) {
  if (text.find("= PERFORMANCE OVERVIEW") == std::string_view::npos) {
    return client_runs(text, file, {"trtllm-bench", "trtllm-bench (--report_json, or the report that it prints)"});
  }
  const BenchmarkResult result = benchmark_of_trtllm_report(text, file);
  return one_run(row_of(result.loads.front(), LatencyKind::tpot, "e2e_ms"), {});
}

std::vector<ReportedRun> loadgen_runs(std::string_view text, const std::string& file) {
  const BenchmarkResult result = parse_benchmark(text, file);  // refuses a run that is not VALID
  if (result.loads.empty()) {
    refuse_form(file, {}, "MLPerf's loadgen");
  }
  const LoadRun& load = result.loads.front();
  ReportedRun run = row_of(load, LatencyKind::tpot, "latency_ms");
  run.at = {};
  std::string scenario = load.scenario;
  std::transform(scenario.begin(), scenario.end(), scenario.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  run.options.erase("scenario");
  if (!scenario.empty()) {
    run.options["scenario"] = scenario;
  }
  return one_run(std::move(run), {});
}

std::vector<ReportedRun> mllog_runs(std::string_view text, const std::string& file) {
  const BenchmarkResult result = benchmark_of_mllog(text, file);
  std::vector<ReportedRun> runs;
  for (const TrainingRun& training : result.trainings) {
    ReportedRun run;
    run.training = true;
    run.part = result.trainings.size() > 1 ? "run " + std::to_string(runs.size() + 1) : "";
    run.set_number("global_batch", training.batch);
    run.set_number("seq_len", training.sequence);
    if (!training.benchmark.empty()) {
      run.options["benchmark"] = training.benchmark;
    }
    if (!training.rates.empty()) {
      double sum = 0.0;
      for (const double rate : training.rates) {
        sum += rate;
      }
      run.measure("samples_per_s", "samples/s", sum / static_cast<double>(training.rates.size()));
      run.remarks.push_back("samples_per_s is the mean of " + std::to_string(training.rates.size()) +
                            " reports of tracked_stats");
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace headroom
