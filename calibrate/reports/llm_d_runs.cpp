// SPDX-License-Identifier: Apache-2.0
// llm-d's Benchmark Report, YAML or JSON. Fields: llm-d/llm-d-benchmark @ 8bc9f1d,
// llmdbenchmark/analysis/benchmark_report/br_v0_2_1_json_schema.json (0.2 and 0.2.1; those read here are the same).
#include <headroom/calibrate/reports/reported_run.hpp>
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/yaml/yaml_reader.hpp>

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace headroom {
namespace {

/// Milliseconds of a unit of a latency; nullopt: no unit of one.
std::optional<double> milliseconds_of(std::string_view units) {
  return units == "ms" || units == "ms/token" ? std::optional{1.0}
         : units == "s" || units == "s/token" ? std::optional{1e3}
                                              : std::nullopt;
}

void measure_latency(const ConfigValue& aggregate,
                     std::string_view theirs,
                     std::string_view ours,
                     const std::string& file,
                     ReportedRun& run,
                     Diagnostics& problems) {
  const ConfigValue* const told = value_at(aggregate, "latency/" + std::string{theirs});
  if (told == nullptr || told->kind != ConfigValue::Kind::table) {
    return;
  }
  const std::string units = text_at_path(*told, "units");
  const std::optional<double> factor = milliseconds_of(units);
  if (!factor) {
    problems.add(file, told->at,
                 quoted(theirs) + " has units " + quoted(units) + "; it must be one of s, ms, s/token, ms/token");
    return;
  }
  for (const std::string statistic : {"mean", "p50", "p90", "p95", "p99"}) {
    run.measure(std::string{ours} + "_ms_" + statistic, "ms", number_at(*told, statistic), *factor);
  }
}

void measure_report(const ConfigValue& aggregate, const std::string& file, ReportedRun& run, Diagnostics& problems) {
  run.measure("requests_per_s", "requests/s", number_at(aggregate, "throughput/request_rate/mean"));
  run.measure("output_tokens_per_s", "tokens/s", number_at(aggregate, "throughput/output_token_rate/mean"));
  run.measure("total_tokens_per_s", "tokens/s", number_at(aggregate, "throughput/total_token_rate/mean"));
  measure_latency(aggregate, "time_to_first_token", "ttft", file, run, problems);
  const bool gaps = value_at(aggregate, "latency/inter_token_latency") != nullptr;
  measure_latency(aggregate, gaps ? "inter_token_latency" : "time_per_output_token", "tpot", file, run, problems);
  measure_latency(aggregate, "request_latency", "e2e", file, run, problems);
}

std::string engine_named(const std::string& tool) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> engines{{{"vllm", "vLLM"},
                                                                                  {"llm-d", "vLLM"},
                                                                                  {"sglang", "SGLang"},
                                                                                  {"tensorrt-llm", "TensorRT-LLM"},
                                                                                  {"trtllm", "TensorRT-LLM"}}};
  for (const auto& [word, engine] : engines) {
    if (tool == word) {
      return std::string{engine};
    }
  }
  return tool;
}

/// An engine of the stack. Returns the GPUs of all its replicas.
double set_engine_cells(const ConfigValue& engine, bool pools_apart, ReportedRun& run) {
  const std::string role = text_at_path(engine, "role");
  const double replicas = number_at(engine, "replicas").value_or(1.0);
  run.set_text("model", model_name(text_at_path(engine, "model/name")));
  run.set_text("gpu", text_at_path(engine, "accelerator/model"));
  run.set_text("engine", engine_named(text_at_path(engine, "tool")));
  const std::string version = text_at_path(engine, "tool_version");
  const bool of_engine =
      version != "unstated" && text_at_path(engine, "tool") != "llm-d";  // whose releases are its own
  run.set_text("engine_version", !of_engine ? "" : version.substr(version.find_last_of(':') + 1));
  const auto ranks = [&](std::string_view axis) {
    return number_at(engine, "accelerator/parallelism/" + std::string{axis});
  };
  if (pools_apart) {
    run.options["disaggregated"] = "1";
    run.options[role + "_workers"] = cell_text(replicas);
    for (const std::string_view axis : {"tp", "pp", "ep"}) {
      if (const std::optional<double> count = ranks(axis)) {
        run.options[role + "_" + std::string{axis}] = cell_text(*count);
      }
    }
  }
  if (!pools_apart || role == "decode") {
    run.set_number("tp", ranks("tp"));
    run.set_number("pp", ranks("pp"));
    run.set_number("ep", ranks("ep"));
    run.set_number("dp", replicas * ranks("dp").value_or(1.0));
  }
  return replicas * number_at(engine, "accelerator/count").value_or(0.0);
}

void set_stack(const ConfigValue& root, ReportedRun& run) {
  const ConfigValue* const stack = value_at(root, "scenario/stack");
  std::vector<const ConfigValue*> engines;
  bool pools_apart = false;
  for (std::size_t i = 0; stack != nullptr && i < stack->items.size(); ++i) {
    const ConfigValue* const component = member_of(&stack->items[i], "standardized");
    if (component != nullptr && text_at_path(*component, "kind") == "inference_engine") {
      engines.push_back(component);
      pools_apart = pools_apart || text_at_path(*component, "role") == "prefill";
    }
  }
  double gpus = 0.0;
  for (const ConfigValue* const engine : engines) {
    gpus += set_engine_cells(*engine, pools_apart, run);
  }
  run.set_number("gpus", gpus);
}

void set_requests(const ConfigValue& root, const ConfigValue& aggregate, ReportedRun& run) {
  const ConfigValue* const load = value_at(root, "scenario/load/standardized");
  const auto length = [&](std::string_view measured, std::string_view stated) {
    const std::optional<double> mean = number_at(aggregate, "requests/" + std::string{measured} + "/mean");
    return mean || load == nullptr ? mean : number_at(*load, std::string{stated} + "/value");
  };
  run.set_number("isl", length("input_length", "input_seq_len"));
  run.set_number("osl", length("output_length", "output_seq_len"));
  if (load != nullptr) {
    run.set_load(number_at(*load, "concurrency"), number_at(*load, "rate_qps"), false);
  }
  if (const std::optional<double> total = number_at(aggregate, "requests/total"); total && *total >= 1.0) {
    run.options["requests"] = cell_text(*total);
  }
  if (const std::optional<double> failed = number_at(aggregate, "requests/failures"); failed && *failed > 0.0) {
    run.remarks.push_back(cell_text(*failed) + " requests failed");
  }
}

}  // namespace

std::vector<ReportedRun> llm_d_runs(std::string_view text, const std::string& file) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != std::string_view::npos && text[begin] == '{';
  const ConfigValue root = json ? parse_json(text, file) : parse_yaml(text, file);
  const ConfigValue* const aggregate = value_at(root, "results/request_performance/aggregate");
  Diagnostics problems;
  ReportedRun run;
  run.at = root.at;
  if (const ConfigValue* const version = root.find("version"); version != nullptr && version->text.starts_with("0.1")) {
    problems.add(file, version->at, "the report is of version " + quoted(version->text) + "; 0.2 and later are read");
  } else if (aggregate == nullptr || aggregate->kind != ConfigValue::Kind::table) {
    problems.add(file, root.at,
                 "this is no Benchmark Report of llm-d with results: it lacks "
                 "'results.request_performance.aggregate'");
  } else {
    set_stack(root, run);
    set_requests(root, *aggregate, run);
    measure_report(*aggregate, file, run, problems);
  }
  return one_run(std::move(run), problems);
}

}  // namespace headroom
