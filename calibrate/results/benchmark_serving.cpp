// SPDX-License-Identifier: Apache-2.0
// Results of clients that load a server, as they are judged: vLLM's and its kin, GuideLLM, AIPerf and genai-perf.
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/diagnostic.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace headroom {
namespace {

constexpr std::string_view requests_stand_for_runs =
    "Requests of one run stand for repetitions, which they share a server and a moment with; name several runs of each "
    "side (--baseline, --candidate) to judge runs.";

bool is_usual(std::string_view name, std::span<const std::string_view> all) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

void add_value(BenchmarkResult& result, const std::string& of, const std::string& metric, double value, bool usual) {
  BenchmarkSeries& series = result.series_of(of, metric);
  series.usual = usual;
  series.values.push_back(value);
}

BenchmarkResult vllm_serve(const ConfigValue& root, double completed) {
  constexpr std::array<std::string_view, 4> usual{"request_throughput", "output_throughput", "mean_ttft_ms",
                                                  "mean_tpot_ms"};
  BenchmarkResult result;
  result.form = "vllm bench serve";
  for (const ConfigEntry& entry : root.entries) {
    const std::optional<double> value =
        entry.value.kind == ConfigValue::Kind::text ? std::nullopt : number_of(&entry.value);
    if (!value || better_of(entry.key) == Better::unknown || entry.key.starts_with("std_") ||
        entry.key.starts_with("request_rate") || *value <= 0.0) {
      continue;
    }
    const bool judged = is_usual(entry.key, usual);
    const std::optional<double> deviation =
        entry.key.starts_with("mean_") ? number_of(root.find("std_" + entry.key.substr(5))) : std::nullopt;
    if (deviation && completed >= 2.0) {
      BenchmarkSeries& series = result.series_of("", entry.key);
      series.usual = judged;
      series.summary = BenchmarkSummary{completed, *value, *deviation};
    } else {
      add_value(result, "", entry.key, *value, judged);
    }
  }
  result.notes.emplace_back(requests_stand_for_runs);
  result.loads.push_back(load_of_client(root));
  return result;
}

/// {"mean": .., "std_dev": .., "count": ..} of requests that succeeded.
BenchmarkResult guidellm(const ConfigValue& root, const ConfigValue& benchmarks) {
  const ConfigValue* const backend = member_of(member_of(root.find("config"), "spec"), "backend");
  const std::string stated = text_of_member(backend, "model");
  const std::string model = stated.empty() ? text_of_member(root.find("args"), "model") : stated;
  constexpr std::array<std::string_view, 5> usual{"requests_per_second", "output_tokens_per_second",
                                                  "time_to_first_token_ms", "inter_token_latency_ms",
                                                  "time_per_output_token_ms"};
  BenchmarkResult result;
  result.form = "GuideLLM";
  for (std::size_t i = 0; i < benchmarks.items.size(); ++i) {
    const ConfigValue* const metrics = benchmarks.items[i].find("metrics");
    const std::string of = benchmarks.items.size() > 1 ? "benchmark " + std::to_string(i + 1) : "";
    result.loads.push_back(load_of_guidellm(benchmarks.items[i]));
    result.loads.back().of = of;
    result.loads.back().model = model.substr(model.find_last_of('/') + 1);
    for (std::size_t m = 0; metrics != nullptr && m < metrics->entries.size(); ++m) {
      const ConfigEntry& entry = *(metrics->entries.begin() + static_cast<std::ptrdiff_t>(m));
      const ConfigValue* const told = member_of(&entry.value, "successful");
      const std::optional<double> mean = number_of(member_of(told, "mean"));
      if (!mean || *mean <= 0.0 || better_of(entry.key) == Better::unknown) {
        continue;
      }
      BenchmarkSeries& series = result.series_of(of, entry.key);
      series.usual = is_usual(entry.key, usual);
      // A rate over the run has weights in place of repetitions: its count is no number of runs.
      const double count = number_of(member_of(told, "count")).value_or(0.0);
      if (series.better == Better::lower && count >= 2.0) {
        series.summary = BenchmarkSummary{count, *mean, number_of(member_of(told, "std_dev")).value_or(0.0)};
      } else {
        series.values.push_back(*mean);
      }
    }
  }
  result.notes.emplace_back(requests_stand_for_runs);
  return result;
}

/// One metric of AIPerf or genai-perf, with the number of requests behind it.
void add_perf_metric(BenchmarkResult& result,
                     const std::string& name,
                     const std::string& unit,
                     double average,
                     std::optional<double> deviation,
                     double requests) {
  if (average <= 0.0 || better_of(name, unit) == Better::unknown) {
    return;
  }
  constexpr std::array<std::string_view, 10> usual{
      "request_throughput", "output_token_throughput", "time_to_first_token", "inter_token_latency", "request_latency",
      "Request Throughput", "Output Token Throughput", "Time To First Token", "Inter Token Latency", "Request Latency"};
  BenchmarkSeries& series = result.series_of("", name, unit);
  series.usual = is_usual(name, usual);
  if (series.better == Better::lower && deviation && requests >= 2.0) {
    series.summary = BenchmarkSummary{requests, average, *deviation};
  } else {
    series.values.push_back(average);
  }
}

BenchmarkResult ai_perf(const ConfigValue& root) {
  BenchmarkResult result;
  result.form = "AIPerf";
  const double requests = number_of(member_of(root.find("request_count"), "avg")).value_or(0.0);
  for (const ConfigEntry& entry : root.entries) {
    const std::optional<double> average = number_of(member_of(&entry.value, "avg"));
    const ConfigValue* const unit = member_of(&entry.value, "unit");
    if (average) {
      add_perf_metric(result, entry.key, unit == nullptr ? "" : unit->text, *average,
                      number_of(member_of(&entry.value, "std")), requests);
    }
  }
  result.loads.push_back(load_of_aiperf(root));
  result.notes.emplace_back(requests_stand_for_runs);
  return result;
}

}  // namespace

std::optional<BenchmarkResult> benchmark_of_serving(const ConfigValue& root, const std::string& file) {
  if (const std::optional<double> completed = number_of(root.find("completed"));
      completed && root.find("request_throughput") != nullptr) {
    if (*completed < 1.0) {
      throw ConfigError{{Diagnostic{file, root.find("completed")->at, "no request was completed: nothing is judged"}}};
    }
    return vllm_serve(root, *completed);
  }
  if (std::optional<BenchmarkResult> endpoints = benchmark_of_endpoints(root, file)) {
    return endpoints;
  }
  if (std::optional<BenchmarkResult> report = benchmark_of_trtllm(root, file)) {
    return report;
  }
  const ConfigValue* const benchmarks = root.find("benchmarks");
  if (benchmarks != nullptr && !benchmarks->items.empty() &&
      member_of(&benchmarks->items.front(), "metrics") != nullptr) {
    return guidellm(root, *benchmarks);
  }
  const bool perf = std::any_of(root.entries.begin(), root.entries.end(), [](const ConfigEntry& entry) {
    return member_of(&entry.value, "avg") != nullptr && member_of(&entry.value, "unit") != nullptr;
  });
  return perf ? std::optional{ai_perf(root)} : std::nullopt;
}

}  // namespace headroom
