// SPDX-License-Identifier: Apache-2.0
// Results of MLPerf Endpoints: result_summary.json (src/inference_endpoint/metrics/report.py, class Report) and the
// snapshot behind it, final_snapshot.json (services/metrics_aggregator/snapshot.py, snapshot_to_dict), of
// github.com/mlcommons/endpoints, commit ea332753 of August 2026. Times are nanoseconds.
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace headroom {
namespace {

constexpr double nano = 1e-9;

std::optional<Seconds> from_nanoseconds(const ConfigValue* value) {
  const std::optional<double> number = amount_of(value);
  return number ? std::optional{Seconds{nano * *number}} : std::nullopt;
}

/// Of a rollup of the summary, or of a series of the snapshot, which has a count and a total in place of a mean.
void read_rollup(const ConfigValue* told, ToldLatency& latency) {
  latency.mean = from_nanoseconds(member_of(told, "avg"));
  const std::optional<double> total = amount_of(member_of(told, "total"));
  const std::optional<double> count = amount_of(member_of(told, "count"));
  if (!latency.mean && total && count && *count > 0.0) {
    latency.mean = Seconds{nano * *total / *count};
  }
  latency.least = from_nanoseconds(member_of(told, "min"));
  latency.most = from_nanoseconds(member_of(told, "max"));
  const ConfigValue* const percentiles = member_of(told, "percentiles");
  for (std::size_t i = 0; percentiles != nullptr && i < percentiles->entries.size(); ++i) {
    const ConfigEntry& entry = *(percentiles->entries.begin() + static_cast<std::ptrdiff_t>(i));
    const std::optional<double> percent = whole_real(entry.key);
    const std::optional<Seconds> time = from_nanoseconds(&entry.value);
    if (percent && *percent >= 0.0 && *percent <= 100.0 && time) {
      latency.quantiles.emplace_back(0.01 * *percent, *time);
    }
  }
  std::sort(latency.quantiles.begin(), latency.quantiles.end());
}

std::optional<double> mean_tokens(const ConfigValue* told, std::optional<double> requests) {
  if (const std::optional<double> mean = amount_of(member_of(told, "avg"))) {
    return mean;
  }
  const std::optional<double> total = amount_of(member_of(told, "total"));
  const std::optional<double> count = amount_of(member_of(told, "count"));
  const double by = count.value_or(requests.value_or(0.0));
  return total && by > 0.0 ? std::optional{*total / by} : std::nullopt;
}

void read_summary(const ConfigValue& root, LoadRun& load) {
  load.completed = amount_of(root.find("n_samples_completed"));
  load.failed = amount_of(root.find("n_samples_failed"));
  load.lasts = from_nanoseconds(root.find("duration_ns"));
  load.rate = amount_of(root.find("qps"));
  load.output_rate = amount_of(root.find("tps"));
  read_rollup(root.find("ttft"), load.of_kind(LatencyKind::ttft));
  read_rollup(root.find("tpot"), load.of_kind(LatencyKind::tpot));
  read_rollup(root.find("latency"), load.of_kind(LatencyKind::request));
  load.prompt = mean_tokens(root.find("input_sequence_lengths"), load.completed);
  load.output = mean_tokens(root.find("output_sequence_lengths"), load.completed);
  const ConfigValue* const pattern = member_of(root.find("run_config"), "load_pattern");
  const std::string kind = text_of_member(pattern, "type");
  load.at_once = kind == "max_throughput";
  if (kind == "poisson") {
    load.asked_rate = amount_of(member_of(pattern, "target_qps"));
  }
  if (kind == "concurrency") {
    load.limit = amount_of(member_of(pattern, "target_concurrency"));
  }
  const ConfigValue* const reasons = root.find("finish_reason_counts");
  double all = 0.0;
  for (std::size_t i = 0; reasons != nullptr && i < reasons->entries.size(); ++i) {
    all += amount_of(&(reasons->entries.begin() + static_cast<std::ptrdiff_t>(i))->value).value_or(0.0);
  }
  if (all > 0.0) {
    load.cut = amount_of(member_of(reasons, "length")).value_or(0.0) / all;
  }
  const ConfigValue* const complete = root.find("complete");
  if (complete != nullptr && complete->kind == ConfigValue::Kind::boolean && !complete->boolean) {
    load.invalid.push_back("the report is not complete (state " + text_of_member(&root, "state") + ")");
  }
}

void read_snapshot(const ConfigValue& root, LoadRun& load) {
  std::map<std::string, const ConfigValue*, std::less<>> metrics;
  for (const ConfigValue& metric : root.find("metrics")->items) {
    metrics.emplace(text_of_member(&metric, "name"), &metric);
  }
  const auto series = [&](std::string_view name) {
    const auto found = metrics.find(name);
    return found == metrics.end() ? nullptr : found->second;
  };
  const auto counter = [&](std::string_view name) { return amount_of(member_of(series(name), "value")); };
  load.completed = counter("tracked_samples_completed");
  load.failed = counter("tracked_samples_failed");
  const std::optional<double> duration = counter("tracked_duration_ns");
  if (duration && *duration > 0.0) {
    load.lasts = Seconds{nano * *duration};
    load.rate = load.completed ? std::optional{*load.completed / load.lasts->raw()} : std::nullopt;
    const std::optional<double> tokens = amount_of(member_of(series("osl"), "total"));
    load.output_rate = tokens ? std::optional{*tokens / load.lasts->raw()} : std::nullopt;
  }
  read_rollup(series("ttft_ns"), load.of_kind(LatencyKind::ttft));
  read_rollup(series("tpot_ns"), load.of_kind(LatencyKind::tpot));
  read_rollup(series("sample_latency_ns"), load.of_kind(LatencyKind::request));
  load.prompt = mean_tokens(series("isl"), load.completed);
  load.output = mean_tokens(series("osl"), load.completed);
  if (text_of_member(&root, "state") != "complete") {
    load.invalid.push_back("the run is " + text_of_member(&root, "state"));
  }
}

}  // namespace

std::optional<BenchmarkResult> benchmark_of_endpoints(const ConfigValue& root, const std::string& file) {
  const ConfigValue* const metrics = root.find("metrics");
  const bool summary = root.find("n_samples_issued") != nullptr ||
                       (root.find("n_samples_completed") != nullptr && root.find("latency") != nullptr);
  const bool snapshot = metrics != nullptr && metrics->kind == ConfigValue::Kind::array &&
                        std::any_of(metrics->items.begin(), metrics->items.end(), [](const ConfigValue& metric) {
                          return text_of_member(&metric, "name") == "tracked_samples_issued";
                        });
  if (!summary && !snapshot) {
    return std::nullopt;
  }
  BenchmarkResult result;
  result.form = "MLPerf Endpoints";
  LoadRun load;
  load.client = result.form;
  load.line = root.at.line;
  if (summary) {
    read_summary(root, load);
  } else {
    read_snapshot(root, load);
  }
  if (load.completed.value_or(0.0) < 1.0) {
    throw ConfigError{{Diagnostic{file, root.at, "no sample was completed: nothing is told of the server"}}};
  }
  add_load_series(load, result);
  result.loads.push_back(std::move(load));
  return result;
}

}  // namespace headroom
