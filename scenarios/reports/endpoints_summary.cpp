// SPDX-License-Identifier: Apache-2.0
// Fields: mlcommons/endpoints @ ea33275, src/inference_endpoint/metrics/report.py (Report, _series_to_metric_dict),
// docs/metrics/report_design.md; run_config: src/inference_endpoint/config/schema.py (LoadPattern). Times are in
// nanoseconds.
#include <headroom/core/json_writer.hpp>
#include <headroom/core/version.hpp>
#include <headroom/scenarios/reports/plan_reports.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace headroom {
namespace {

constexpr double nano_per_second = 1e9;

void put_time(JsonWriter& json, std::string_view key, Seconds time) {
  if (std::isfinite(time.raw())) {
    json.member(key, nano_per_second * time.raw());
  }
}

void put_times(JsonWriter& json, std::string_view key, const TimeSummary& times, bool distributed) {
  json.key(key);
  json.begin_object();
  put_time(json, "avg", times.mean);
  if (distributed) {
    put_time(json, "median", times.p50);
    put_time(json, "max", times.max);
    json.key("percentiles");
    json.begin_object();
    put_time(json, "99", times.p99);
    put_time(json, "95", times.p95);
    put_time(json, "90", times.p90);
    put_time(json, "50", times.p50);
    json.end_object();
  }
  json.end_object();
}

void put_lengths(JsonWriter& json, std::string_view key, double mean, std::int64_t requests) {
  json.key(key);
  json.begin_object();
  json.member("total", mean * static_cast<double>(requests));
  json.member("avg", mean);
  json.end_object();
}

}  // namespace

ExportedLaunch endpoints_summary(const ServedResult& result) {
  JsonWriter json;
  json.begin_object();
  json.member("version", std::string{version()} + ", predicted");
  json.key("git_sha");
  json.null();
  json.member("test_started_at", 0);
  json.member("n_samples_issued", result.requests);
  json.member("n_samples_completed", result.requests - result.failed);
  json.member("n_samples_failed", result.failed);
  // A whole number in the schema, like the counts.
  json.member("duration_ns",
              std::int64_t{std::llround(nano_per_second * static_cast<double>(result.requests - result.failed) /
                                        result.requests_per_s)});
  json.member("state", "complete");
  json.member("complete", true);
  put_times(json, "ttft", result.ttft, result.distributed);
  put_times(json, "tpot", result.tpot, result.distributed);
  put_times(json, "latency", result.e2e, result.distributed);
  put_lengths(json, "output_sequence_lengths", result.osl, result.requests - result.failed);
  put_lengths(json, "input_sequence_lengths", result.isl, result.requests);
  json.member("qps", result.requests_per_s);
  json.member("tps", result.output_tokens_per_s);
  json.key("run_config");
  json.begin_object();
  json.key("load_pattern");
  json.begin_object();
  if (result.rate) {
    json.member("type", "poisson");
    json.member("target_qps", *result.rate);
  } else {
    json.member("type", "concurrency");
    json.member("target_concurrency", static_cast<std::int64_t>(result.concurrency.value_or(1.0)));
  }
  json.end_object();
  json.end_object();
  json.end_object();
  std::vector<LaunchNote> notes{
      {"model",
       "model, SKU, layout, engine and formats (a summary holds the load and its times; state them when it is "
       "read back)"},
      {"confidence", "histograms, and the intervals of the times"}};
  if (!result.distributed) {
    notes.push_back(
        {"slo", "percentiles (a fixed load is priced by its means; state [traffic] for a simulated fleet)"});
  }
  return {json.take(), notes, false};
}

}  // namespace headroom
