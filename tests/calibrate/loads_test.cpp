// SPDX-License-Identifier: Apache-2.0
// Results of benchmarks as evidence: what was asked and reached, waits, tails, intervals, trainings, a plan beside them.
#include <headroom/calibrate/evidence/evidence.hpp>
#include <headroom/calibrate/loads/load_reading.hpp>
#include <headroom/calibrate/loads/planned_load.hpp>
#include <headroom/calibrate/results/benchmark.hpp>
#include <headroom/calibrate/telemetry/iteration_log.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headroom {
namespace {

using test::says;

BenchmarkResult result_of(const std::string& text) {
  BenchmarkResult result = read_result(text, "r.json");
  result.file = "r.json";
  return result;
}

RunReading reading_of_result(const std::string& text) {
  const std::vector<BenchmarkResult> results{result_of(text)};
  RunReading reading;
  add_results(results, reading);
  return reading;
}

const Cause* cause_named(const RunReading& reading, CauseKind kind) {
  const auto found = std::find_if(reading.causes.begin(), reading.causes.end(),
                                  [&](const Cause& cause) { return cause.kind == kind; });
  return found == reading.causes.end() ? nullptr : &*found;
}

const FindingTable* table_named(const RunReading& reading, std::string_view key) {
  const auto found = std::find_if(reading.tables.begin(), reading.tables.end(),
                                  [&](const FindingTable& table) { return table.key == key; });
  return found == reading.tables.end() ? nullptr : &*found;
}

std::string problem_of(const std::string& text) {
  try {
    static_cast<void>(parse_benchmark(text, "r"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

/// A result of `vllm bench serve`: `rate` of `asked` requests a second, 600 requests.
std::string served(double asked, double rate, double latency_ms, const std::string& more = "") {
  return "{\"request_rate\": " + std::to_string(asked) + ", \"completed\": 600, \"num_prompts\": 600, \"duration\": " +
         std::to_string(600.0 / rate) + ", \"request_throughput\": " + std::to_string(rate) +
         ", \"output_throughput\": 1000.0, \"total_input_tokens\": 600000, \"total_output_tokens\": 60000, "
         "\"mean_ttft_ms\": 200.0, \"median_ttft_ms\": 100.0, \"p99_ttft_ms\": 900.0, \"mean_tpot_ms\": 20.0, "
         "\"mean_e2el_ms\": " +
         std::to_string(latency_ms) + ", \"p99_e2el_ms\": " + std::to_string(latency_ms) + more + "}";
}

TEST_CASE("loads: a server that ends six of ten requests a second is saturated, and its client is not to blame") {
  const RunReading reading = reading_of_result(served(10.0, 6.0, 5000.0));
  const Cause* const cause = cause_named(reading, CauseKind::saturated);
  REQUIRE(cause != nullptr);
  CHECK(*cause->time_ratio == doctest::Approx(0.6));
  CHECK(cause->lost == doctest::Approx(0.4));
  CHECK(cause_named(reading, CauseKind::client_bound) == nullptr);
  // 600 requests and a tail of 900 over 100 ms.
  const FindingTable* const latencies = table_named(reading, "load_latencies");
  REQUIRE(latencies != nullptr);
  CHECK(std::get<double>(latencies->rows.at(0).back()) == doctest::Approx(9.0));
  CHECK(std::get<Seconds>(latencies->rows.at(0).at(2)).raw() == doctest::Approx(0.2));
}

TEST_CASE("loads: a client that may have eight requests in flight is bound by that") {
  // Little: 4 requests/s of 2 s each are 8 in flight.
  const RunReading reading = reading_of_result(served(10.0, 4.0, 2000.0, ", \"max_concurrency\": 8"));
  const Cause* const cause = cause_named(reading, CauseKind::client_bound);
  REQUIRE(cause != nullptr);
  CHECK(*cause->time_ratio == doctest::Approx(0.4));
  CHECK(says(cause->says, "8 requests in flight"));
  CHECK(cause_named(reading, CauseKind::saturated) == nullptr);
}

TEST_CASE("loads: the end of a run, and chance, are no want of the server's") {
  // 600 requests at 10/s take 60 s, and the last one 5 s more: 9.23/s.
  CHECK(state_of(result_of(served(10.0, 600.0 / 65.0, 5000.0)).loads.at(0)) == LoadState::kept_up);
  CHECK(state_of(result_of(served(10.0, 9.8, 100.0)).loads.at(0)) == LoadState::kept_up);
}

TEST_CASE("loads: requests of one length that take ten times the fastest wait for nine tenths of their first token") {
  std::string firsts, prompts, starts, outputs, lasts;
  for (int i = 0; i < 100; ++i) {
    const std::string comma = i > 0 ? "," : "";
    firsts += comma + (i < 10 ? "0.1" : "1.0");
    prompts += comma + "1000";
    starts += comma + std::to_string(0.1 * i);
    outputs += comma + "50";
    lasts += comma + (i < 10 ? "1.1" : "2.0");
  }
  const std::string text = served(10.0, 9.8, 1910.0,
                                  ", \"ttfts\": [" + firsts + "], \"input_lens\": [" + prompts +
                                      "], \"start_times\": [" + starts + "], \"output_lens\": [" + outputs +
                                      "], \"e2els\": [" + lasts + "]");
  const BenchmarkResult result = result_of(text);
  // 90 of 100 wait 0.9 s.
  CHECK(wait_before_prefill(result.loads.at(0))->raw() == doctest::Approx(0.81).epsilon(0.15));
  const RunReading reading = reading_of_result(text);
  const FindingTable* const intervals = table_named(reading, "load_intervals");
  REQUIRE(intervals != nullptr);
  double tokens = 0.0;
  double requests = 0.0;
  const double each = std::get<Seconds>(intervals->rows.at(1).at(1)).raw();
  for (const auto& row : intervals->rows) {
    requests += each * std::get<double>(row.at(2));
    tokens += each * (std::holds_alternative<double>(row.at(3)) ? std::get<double>(row.at(3)) : 0.0);
  }
  CHECK(requests == doctest::Approx(100.0));
  CHECK(tokens == doctest::Approx(5000.0));
}

TEST_CASE("loads: failures are told with the first error, and short answers with what was asked") {
  const RunReading reading = reading_of_result(
      "{\"completed\": 8, \"num_prompts\": 10, \"request_throughput\": 1.0, \"duration\": 8.0, \"request_rate\": \"inf\", "
      "\"total_output_tokens\": 400, \"ttfts\": [0.1, 0.0], \"errors\": [\"\", \"HTTP 503\"], \"dataset_name\": "
      "\"random\", \"random_output_len\": 100, \"random_range_ratio\": 1.0}");
  const Cause* const cause = cause_named(reading, CauseKind::failed_requests);
  REQUIRE(cause != nullptr);
  CHECK(cause->lost == doctest::Approx(0.2));
  REQUIRE(cause->evidence.size() == 2);
  CHECK(says(cause->evidence.back(), "HTTP 503"));
  // 400 tokens of 8 requests are 50 of the 100 that were asked.
  CHECK(std::any_of(reading.notes.begin(), reading.notes.end(),
                    [](const std::string& note) { return says(note, "50 tokens of the 100 asked"); }));
}

TEST_CASE("loads: SGLang adds a line a run, with Python's Infinity, and runs asked alike are repetitions") {
  const auto line = [](double rate) {
    return "{\"backend\": \"sglang\", \"request_rate\": Infinity, \"max_concurrency\": 16, \"completed\": 100, "
           "\"request_throughput\": " +
           std::to_string(rate) + ", \"duration\": 10.0, \"mean_e2e_latency_ms\": 500.0, \"mean_ttft_ms\": NaN}\n";
  };
  const BenchmarkResult result = result_of(line(9.0) + line(11.0));
  REQUIRE(result.loads.size() == 2);
  CHECK(result.loads[0].client == "SGLang bench_serving");
  CHECK(result.loads[1].line == 2);
  CHECK(state_of(result.loads[0]) == LoadState::closed_loop);
  CHECK(!result.loads[0].of_kind(LatencyKind::ttft).told());
  const RunReading reading = reading_of_result(line(9.0) + line(11.0));
  const FindingTable* const alike = table_named(reading, "repetitions");
  REQUIRE(alike != nullptr);
  // Deviation of 9 and 11 is the root of 2, over a mean of 10.
  CHECK(std::get<double>(alike->rows.at(0).at(2)) == doctest::Approx(0.14142).epsilon(1e-3));
}

TEST_CASE("loads: GuideLLM and AIPerf tell what was asked") {
  const BenchmarkResult guide = result_of(
      "{\"benchmarks\": [{\"config\": {\"strategy\": {\"type_\": \"constant\", \"rate\": 5.0}}, \"metrics\": "
      "{\"request_totals\": {\"successful\": 290, \"errored\": 10, \"incomplete\": 0}, \"requests_per_second\": "
      "{\"successful\": {\"mean\": 4.8}}, \"time_to_first_token_ms\": {\"successful\": {\"mean\": 50.0, \"percentiles\": "
      "{\"p50\": 40.0, \"p99\": 200.0, \"p999\": 300.0}}}, \"request_latency\": {\"successful\": {\"mean\": 2.0}}}}]}");
  REQUIRE(guide.loads.size() == 1);
  CHECK(*guide.loads[0].asked_rate == 5.0);
  CHECK(*guide.loads[0].failed == 10.0);
  CHECK(guide.loads[0].of_kind(LatencyKind::ttft).at(0.99)->raw() == doctest::Approx(0.2));
  CHECK(guide.loads[0].of_kind(LatencyKind::ttft).at(0.999)->raw() == doctest::Approx(0.3));
  CHECK(*in_flight_of(guide.loads[0]) == doctest::Approx(9.6));
  const BenchmarkResult perf = result_of(
      "{\"request_throughput\": {\"unit\": \"requests/sec\", \"avg\": 3.0}, \"request_latency\": {\"unit\": \"ms\", "
      "\"avg\": 1500.0, \"p99\": 2000.0}, \"request_count\": {\"unit\": \"requests\", \"avg\": 90.0}, "
      "\"output_sequence_length\": {\"unit\": \"tokens\", \"avg\": 64.0}, \"input_config\": {\"loadgen\": "
      "{\"request_rate\": 6.0, \"concurrency\": 5}, \"input\": {\"prompt\": {\"output_tokens\": {\"mean\": 128}}}}}");
  REQUIRE(perf.loads.size() == 1);
  CHECK(*perf.loads[0].asked_output == 128.0);
  CHECK(state_of(perf.loads[0]) == LoadState::client_bound);  // 3 a second of 1.5 s are 4.5 of 5
}

TEST_CASE("loads: MLPerf Endpoints: summary and snapshot say the same") {
  const BenchmarkResult summary = result_of(
      "{\"version\": \"0.5\", \"n_samples_issued\": 1000, \"n_samples_completed\": 990, \"n_samples_failed\": 10, "
      "\"duration_ns\": 100000000000, \"state\": \"complete\", \"complete\": true, \"qps\": 9.9, \"tps\": 1980.0, "
      "\"ttft\": {\"avg\": 150000000.0, \"percentiles\": {\"50\": 100000000.0, \"99\": 400000000.0}}, \"tpot\": "
      "{\"avg\": 20000000.0}, \"latency\": {\"avg\": 4000000000.0}, \"output_sequence_lengths\": {\"avg\": 200.0}, "
      "\"finish_reason_counts\": {\"stop\": 495, \"length\": 495}, \"run_config\": {\"load_pattern\": {\"type\": "
      "\"poisson\", \"target_qps\": 20.0}}}");
  REQUIRE(summary.loads.size() == 1);
  const LoadRun& load = summary.loads.front();
  CHECK(summary.form == "MLPerf Endpoints");
  CHECK(state_of(load) == LoadState::saturated);
  CHECK(*load.cut == doctest::Approx(0.5));
  CHECK(load.of_kind(LatencyKind::ttft).at(0.99)->raw() == doctest::Approx(0.4));
  CHECK(load.of_kind(LatencyKind::tpot).mean->raw() == doctest::Approx(0.02));
  const BenchmarkResult snapshot = result_of(
      "{\"counter\": 7, \"timestamp_ns\": 5, \"state\": \"complete\", \"n_pending_tasks\": 0, \"metrics\": [{\"type\": "
      "\"counter\", \"name\": \"tracked_samples_issued\", \"value\": 1000}, {\"type\": \"counter\", \"name\": "
      "\"tracked_samples_completed\", \"value\": 990}, {\"type\": \"counter\", \"name\": \"tracked_duration_ns\", "
      "\"value\": 100000000000}, {\"type\": \"series\", \"name\": \"ttft_ns\", \"count\": 990, \"total\": "
      "148500000000, \"percentiles\": {\"50.0\": 100000000.0}}]}");
  REQUIRE(snapshot.loads.size() == 1);
  CHECK(*snapshot.loads[0].rate == doctest::Approx(9.9));
  CHECK(snapshot.loads[0].of_kind(LatencyKind::ttft).mean->raw() == doctest::Approx(0.15));
  CHECK(says(problem_of("{\"n_samples_issued\": 5, \"n_samples_completed\": 0, \"duration_ns\": 1}"), "no sample"));
}

TEST_CASE("loads: trtllm-bench: its JSON and its report say the same") {
  const BenchmarkResult json = result_of(
      "{\"engine\": {}, \"request_info\": {\"num_requests\": 3000, \"avg_num_concurrent_requests\": 250.0, "
      "\"avg_input_length\": 128.0, \"avg_output_length\": 128.0}, \"performance\": {\"total_latency_ms\": 50000.0, "
      "\"request_throughput_req_s\": 60.0, \"system_output_throughput_tok_s\": 7680.0, "
      "\"request_latency_percentiles_ms\": {\"average\": 4000.0, \"p50\": 3900.0, \"p99\": 5000.0}}, "
      "\"streaming_metrics\": {\"ttft_percentiles\": {\"average\": 300.0, \"p99\": 900.0}}}");
  const BenchmarkResult report = result_of(
      "=\n= REQUEST DETAILS \n=\nNumber of requests:             3000\nNumber of concurrent requests:  250.0000\n"
      "Average Output Length (tokens): 128.0000\n=\n= PERFORMANCE OVERVIEW \n=\n"
      "Request Throughput (req/sec):                     60.0000\n"
      "Total Output Throughput (tokens/sec):             7680.0000\n"
      "Total Latency (ms):                               50000.0000\n\n"
      "[TTFT] AVERAGE: 300.0000\n[TTFT] P99    : 900.0000\n[Latency] P50    : 3900.0000\n");
  for (const BenchmarkResult* result : {&json, &report}) {
    REQUIRE(result->loads.size() == 1);
    const LoadRun& load = result->loads.front();
    CHECK(*load.rate == 60.0);
    CHECK(*load.completed == 3000.0);
    CHECK(load.lasts->raw() == doctest::Approx(50.0));
    CHECK(load.of_kind(LatencyKind::ttft).at(0.99)->raw() == doctest::Approx(0.9));
    CHECK(load.of_kind(LatencyKind::request).at(0.5)->raw() == doctest::Approx(3.9));
  }
  CHECK(says(problem_of("= PERFORMANCE OVERVIEW\nRequest Throughput (req/sec): sixty\n"), "sixty"));
  CHECK(says(problem_of("= PERFORMANCE OVERVIEW\n"), "breaks off"));
}

TEST_CASE("loads: a run that loadgen calls invalid is diagnosed and not judged") {
  const std::string summary =
      "MLPerf Results Summary\nScenario : Server\nCompleted samples per second : 5.0\nCompleted tokens per second: 500\n"
      "Result is : INVALID\n  Performance constraints satisfied : NO\n99.00 percentile first token latency (ns) : "
      "3000000000\nMean First Token latency (ns) : 1000000000\ntarget_qps : 10\n";
  CHECK(says(problem_of(summary), "INVALID"));
  const BenchmarkResult result = result_of(summary);
  REQUIRE(result.loads.size() == 1);
  CHECK(*result.loads[0].asked_rate == 10.0);
  CHECK(*result.loads[0].output_rate == 500.0);
  CHECK(result.loads[0].of_kind(LatencyKind::ttft).at(0.99)->raw() == doctest::Approx(3.0));
  CHECK(result.loads[0].invalid.size() == 2);
  const BenchmarkResult detail = result_of(
      ":::MLLOG {\"key\": \"effective_scenario\", \"value\": \"Server\"}\n:::MLLOG {\"key\": \"effective_target_qps\", "
      "\"value\": 10}\n:::MLLOG {\"key\": \"result_completed_samples_per_second\", \"value\": 5.0}\n:::MLLOG {\"key\": "
      "\"result_first_token_99.00_percentile_latency_ns\", \"value\": 3000000000}\n:::MLLOG {\"key\": "
      "\"result_time_per_output_token_99.00_percentile_ns\", \"value\": 40000000}\n:::MLLOG {\"key\": "
      "\"result_validity\", \"value\": \"INVALID\"}\n");
  REQUIRE(detail.loads.size() == 1);
  CHECK(*detail.loads[0].rate == 5.0);
  CHECK(detail.loads[0].of_kind(LatencyKind::tpot).at(0.99)->raw() == doctest::Approx(0.04));
  CHECK(detail.loads[0].invalid.size() == 1);
}

TEST_CASE("loads: a training's evaluations, its start and its steps, of MLLOG") {
  const auto line = [](const std::string& key, int ms, const std::string& value = "null",
                       const std::string& metadata = "{}") {
    return ":::MLLOG {\"key\": \"" + key + "\", \"time_ms\": " + std::to_string(ms) + ", \"value\": " + value +
           ", \"metadata\": " + metadata + "}\n";
  };
  const std::string text = line("init_start", 0) + line("global_batch_size", 0, "64") + line("init_stop", 25'000) +
                           line("run_start", 25'000) + line("block_start", 25'000) +
                           line("tracked_stats", 50'000, "{\"throughput\": 128.0}") + line("block_stop", 65'000) +
                           line("eval_start", 65'000) + line("eval_stop", 75'000) + line("block_start", 75'000) +
                           line("block_stop", 115'000) + line("eval_start", 115'000) + line("eval_stop", 125'000) +
                           line("run_stop", 125'000, "null", "{\"status\": \"success\"}");
  const RunReading reading = reading_of_result(text);
  // Two evaluations of 10 s in a run of 100 s, 25 s before it, 64 samples at 128 a second.
  const Cause* const evaluation = cause_named(reading, CauseKind::evaluation);
  REQUIRE(evaluation != nullptr);
  CHECK(evaluation->lost == doctest::Approx(0.2));
  CHECK(*evaluation->time_ratio == doctest::Approx(0.8));
  const Cause* const before = cause_named(reading, CauseKind::initialisation);
  REQUIRE(before != nullptr);
  CHECK(before->lost == doctest::Approx(0.2));
  CHECK(reading.step->raw() == doctest::Approx(0.5));
}

TEST_CASE("loads: iterations of TensorRT-LLM: a GPU that waits for its host, prompts that hold decodes up") {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    // 20 ms on the host, 15 ms on the GPU; every fifth has a prompt and takes 60 and 45 ms.
    const bool prompt = i % 5 == 0;
    const bool prompt_before = i % 5 == 1;
    text += "[01/16/2026-06:20:17] [TRT-LLM] [RANK 0] [I] iter = " + std::to_string(i) +
            ", global_rank = 0, rank = 0, currank_total_requests = 9/72, host_step_time = " +
            (prompt ? "60.0" : "20.0") + "ms, prev_device_step_time = " +
            (i == 0 ? std::string{"N/A"} : std::string{prompt_before ? "45.0" : "15.0"} + "ms") +
            ", timestamp = 2026-01-16 06:20:17, num_scheduled_requests: 9, states = {'num_ctx_requests': " +
            (prompt ? "1, 'num_ctx_tokens': 4096" : "0, 'num_ctx_tokens': 0") + ", 'num_generation_tokens': 8}\n";
  }
  Signals signals;
  read_iteration_log(text, "serve.log", signals);
  Evidence evidence;
  evidence.files = {"serve.log"};
  evidence.signals = signals;
  const RunReading reading = reading_of(evidence);
  const Cause* const host = cause_named(reading, CauseKind::host_bound);
  REQUIRE(host != nullptr);
  CHECK(*host->time_ratio == doctest::Approx(0.75).epsilon(0.01));
  // Of five iterations, 140 ms, the one with a prompt takes 40 ms more than the others.
  const Cause* const prompts = cause_named(reading, CauseKind::long_prompts);
  REQUIRE(prompts != nullptr);
  CHECK(prompts->lost == doctest::Approx(40.0 / 140.0).epsilon(0.02));
  Signals none;
  CHECK_THROWS_AS(read_iteration_log("iter = 3, host_step_time = 4ms\n", "cut.log", none), ConfigError);
}

TEST_CASE("loads: a load beside its plan, and how much longer each term would be") {
  RunReading reading;
  reading.loads.push_back({"b.json", Seconds{0.3}, Seconds{0.030}, 4.0, 400.0, 16.0});
  PlannedLoad plan;
  plan.concurrency = 64.0;
  plan.ttft = {Seconds{0.2}, Seconds{0.25}, Seconds{0.35}};
  plan.tpot = {Seconds{0.015}, Seconds{0.020}, Seconds{0.025}};
  plan.requests_per_s = {5.0, 6.0, 7.0};
  plan.output_tokens_per_s = {500.0, 600.0, 700.0};
  plan.tpot_terms = {{"products", Seconds{0.015}}, {"decode attention", Seconds{0.005}}};
  add_planned_load(plan, reading);
  const FindingTable* const held = table_named(reading, "planned_loads");
  REQUIRE(held != nullptr);
  CHECK(held->rows.size() == 4);
  CHECK(std::get<double>(held->rows.at(1).back()) == doctest::Approx(1.5));
  const FindingTable* const terms = table_named(reading, "planned_terms");
  REQUIRE(terms != nullptr);  // of TPOT alone: TTFT is within
  REQUIRE(terms->rows.size() == 2);
  // 10 ms more than planned: products of 15 ms would take 25, attention of 5 ms would take 15.
  CHECK(std::get<double>(terms->rows.at(0).back()) == doctest::Approx(25.0 / 15.0));
  CHECK(std::get<double>(terms->rows.at(1).back()) == doctest::Approx(3.0));
  CHECK(reading.notes.size() == 2);
  CHECK(says(reading.notes.back(), "serving.concurrency"));
}

}  // namespace
}  // namespace headroom
