// SPDX-License-Identifier: Apache-2.0
// Results of trtllm-bench: the JSON of --report_json and the report that it prints, as
// tensorrt_llm/bench/dataclasses/reporting.py (ReportUtility) of github.com/NVIDIA/TensorRT-LLM writes both.
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <sstream>
#include <utility>

namespace headroom {
namespace {

constexpr double milli = 1e-3;

std::optional<Seconds> from_milliseconds(std::optional<double> number) {
  return number ? std::optional{Seconds{milli * *number}} : std::nullopt;
}

/// A statistic of PercentileStats, in milliseconds.
void take_statistic(std::string_view name, double value, ToldLatency& latency) {
  const std::optional<Seconds> time = from_milliseconds(value);
  if (name == "average") {
    latency.mean = time;
  } else if (name == "minimum") {
    latency.least = time;
  } else if (name == "maximum") {
    latency.most = time;
  } else if (name.starts_with("p")) {
    if (const std::optional<double> percent = whole_real(name.substr(1)); percent && *percent <= 100.0) {
      latency.quantiles.emplace_back(0.01 * *percent, *time);
      std::sort(latency.quantiles.begin(), latency.quantiles.end());
    }
  }
}

void read_statistics(const ConfigValue* told, ToldLatency& latency) {
  for (std::size_t i = 0; told != nullptr && i < told->entries.size(); ++i) {
    const ConfigEntry& entry = *(told->entries.begin() + static_cast<std::ptrdiff_t>(i));
    if (const std::optional<double> value = amount_of(&entry.value)) {
      take_statistic(entry.key, *value, latency);
    }
  }
}

/// A benchmark that feeds the engine itself: what it issued a second it did not ask for as a rate.
BenchmarkResult finished(LoadRun load) {
  BenchmarkResult result;
  result.form = "trtllm-bench";
  load.client = result.form;
  add_load_series(load, result);
  result.loads.push_back(std::move(load));
  return result;
}

struct ReportNumber {
  std::string_view label;
  std::optional<double> LoadRun::*into;
};
constexpr std::array report_numbers{
    ReportNumber{"Number of requests", &LoadRun::completed},
    ReportNumber{"Number of concurrent requests", &LoadRun::in_flight},
    ReportNumber{"Average Input Length (tokens)", &LoadRun::prompt},
    ReportNumber{"Average Output Length (tokens)", &LoadRun::output},
    ReportNumber{"Request Throughput (req/sec)", &LoadRun::rate},
    ReportNumber{"Total Output Throughput (tokens/sec)", &LoadRun::output_rate},
};

std::string lower_letters(std::string_view text) {
  std::string small{text};
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return small;
}

/// "[TTFT] P99    : 12.3456": a statistic of a kind.
void take_breakdown(std::string_view label, double value, LoadRun& load) {
  constexpr std::array<std::pair<std::string_view, LatencyKind>, 3> kinds{
      {{"[TTFT] ", LatencyKind::ttft}, {"[TPOT] ", LatencyKind::tpot}, {"[Latency] ", LatencyKind::request}}};
  for (const auto& [sign, kind] : kinds) {
    if (label.starts_with(sign)) {
      take_statistic(lower_letters(without_blanks(label.substr(sign.size()))), value, load.of_kind(kind));
    }
  }
}

}  // namespace

std::optional<BenchmarkResult> benchmark_of_trtllm(const ConfigValue& root, const std::string& file) {
  const ConfigValue* const performance = root.find("performance");
  const ConfigValue* const requests = root.find("request_info");
  if (member_of(performance, "system_output_throughput_tok_s") == nullptr || requests == nullptr) {
    return std::nullopt;
  }
  LoadRun load;
  load.line = root.at.line;
  load.completed = amount_of(member_of(requests, "num_requests"));
  load.in_flight = amount_of(member_of(requests, "avg_num_concurrent_requests"));
  load.prompt = amount_of(member_of(requests, "avg_input_length"));
  load.output = amount_of(member_of(requests, "avg_output_length"));
  load.rate = amount_of(member_of(performance, "request_throughput_req_s"));
  load.output_rate = amount_of(member_of(performance, "system_output_throughput_tok_s"));
  load.lasts = from_milliseconds(amount_of(member_of(performance, "total_latency_ms")));
  read_statistics(member_of(performance, "request_latency_percentiles_ms"), load.of_kind(LatencyKind::request));
  const ConfigValue* const streaming = root.find("streaming_metrics");
  read_statistics(member_of(streaming, "ttft_percentiles"), load.of_kind(LatencyKind::ttft));
  read_statistics(member_of(streaming, "tpot_percentiles"), load.of_kind(LatencyKind::tpot));
  if (load.completed.value_or(0.0) < 1.0) {
    throw ConfigError{{Diagnostic{file, root.at, "no request was completed: nothing is told of the engine"}}};
  }
  return finished(std::move(load));
}

BenchmarkResult benchmark_of_trtllm_report(std::string_view text, const std::string& file) {
  LoadRun load;
  Diagnostics problems;
  std::istringstream lines{std::string{text}};
  int number = 0;
  bool begun = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find("= PERFORMANCE OVERVIEW") != std::string::npos ||
        line.find("= REQUEST DETAILS") != std::string::npos) {
      load.line = begun ? load.line : number;
      begun = true;
    }
    const std::size_t colon = line.rfind(':');
    if (colon == std::string::npos) {
      continue;
    }
    const std::string_view label = without_blanks(std::string_view{line}.substr(0, colon));
    const std::string_view written = without_blanks(std::string_view{line}.substr(colon + 1));
    const auto known = std::find_if(report_numbers.begin(), report_numbers.end(),
                                    [&](const ReportNumber& one) { return one.label == label; });
    const bool times = label == "Total Latency (ms)" || label.starts_with("[");
    if (known == report_numbers.end() && !times) {
      continue;
    }
    const std::optional<double> value = whole_real(written);
    if (!value || !is_amount(*value)) {
      if (known != report_numbers.end() || label == "Total Latency (ms)") {
        problems.add(file, {number, static_cast<int>(colon) + 2},
                     quoted(label) + " is " + quoted(written) + "; it must be a number, 0 or more");
      }
      continue;
    }
    if (known != report_numbers.end()) {
      load.*(known->into) = value;
    } else if (label == "Total Latency (ms)") {
      load.lasts = from_milliseconds(value);
    } else {
      take_breakdown(label, *value, load);
    }
  }
  if (problems.empty() && (!load.rate || load.completed.value_or(0.0) < 1.0)) {
    problems.add(file, {load.line, 1},
                 "the report breaks off: it has no 'Number of requests' and 'Request Throughput (req/sec)'; give the "
                 "whole output of trtllm-bench, or the JSON of --report_json");
  }
  problems.throw_if_any();
  return finished(std::move(load));
}

}  // namespace headroom
