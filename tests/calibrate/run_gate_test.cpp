// SPDX-License-Identifier: Apache-2.0
// Results of benchmarks are told by their content; a candidate fails, passes, or cannot be told.
#include <headroom/calibrate/results/benchmark.hpp>
#include <headroom/calibrate/gate/pipelines.hpp>
#include <headroom/calibrate/gate/run_gate.hpp>
#include <headroom/calibrate/gate/student.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include <cmath>
#include <string>
#include <vector>

using namespace headroom;

namespace {

BenchmarkResult of_values(const std::string& metric, std::vector<double> values) {
  BenchmarkResult result;
  result.file = metric + ".csv";
  result.series_of("", metric).values = std::move(values);
  return result;
}

const BenchmarkSeries& series(const BenchmarkResult& result, const std::string& metric) {
  for (const BenchmarkSeries& one : result.series) {
    if (one.metric == metric) {
      return one;
    }
  }
  FAIL("no metric ", metric);
  return result.series.front();
}

std::string problem_of(const std::string& text) {
  try {
    static_cast<void>(parse_benchmark(text, "r"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("Student's t has the quantiles of tables") {
  // Abramowitz and Stegun 1964, table 26.10: t of 0.975 at 18 degrees of freedom 2.101, at 5 2.571; of 0.95 at
  // 10 1.812.
  CHECK(student_quantile(0.025, 18.0) == doctest::Approx(2.101).epsilon(3e-4));
  CHECK(student_quantile(0.025, 5.0) == doctest::Approx(2.571).epsilon(3e-4));
  CHECK(student_quantile(0.05, 10.0) == doctest::Approx(1.812).epsilon(3e-4));
  CHECK(student_above(2.101, 18.0) == doctest::Approx(0.025).epsilon(2e-3));
}

TEST_CASE("metrics say which way they are better, rates before times") {
  CHECK(better_of("mean_ttft_ms") == Better::lower);
  CHECK(better_of("real_time", "s") == Better::lower);
  CHECK(better_of("output_tokens_per_second") == Better::higher);
  CHECK(better_of("Output Token Throughput (per sec)") == Better::higher);
  CHECK(better_of("Samples per second") == Better::higher);
  CHECK(better_of("tok/s") == Better::higher);
  CHECK(better_of("error_rate") == Better::lower);
  CHECK(better_of("peak_memory") == Better::lower);
  CHECK(better_of("AUC") == Better::higher);
  CHECK(better_of("repetition") == Better::unknown);
  CHECK(better_of("timestamps_seen") == Better::unknown);
}

TEST_CASE("power and runs needed follow from the spread") {
  // Ten runs of 1 % each side: standard error 0.01 sqrt(2 / 10) = 0.447 %, 18 degrees of freedom, t 2.101 and 0.862 of
  // 80 %: 1.98 % + 2.963 x 0.447 % = 3.31 % of a logarithm, 3.36 %.
  LogDifference d;
  d.error = 0.01 * std::sqrt(0.2);
  d.freedom = 18.0;
  CHECK(least_shown(d, 0.8, {}) == doctest::Approx(0.0336).epsilon(0.005));
  // n = 2 x 0.05^2 (1.98 + 0.845)^2 / 0.0198^2 = 102 at 5 %, and a few at 1 %.
  CHECK(*runs_needed(0.05 * 0.05, 0.8, {}) == doctest::Approx(102.0).epsilon(0.02));
  const double few = *runs_needed(0.01 * 0.01, 0.8, {});
  CHECK(few >= 5.0);
  CHECK(few <= 7.0);
  CHECK(*runs_needed(0.0, 0.8, {}) == 2.0);
  GateRule none;
  none.threshold = 0.0;
  CHECK_FALSE(runs_needed(1e-4, 0.8, none));
}

TEST_CASE("a summary of runs is judged as the runs themselves") {
  const std::vector<double> a{99, 100, 101, 100, 99.5, 100.5};
  const LogMoments listed = log_moments(a);
  const LogMoments told = log_moments(6.0, 100.0, 0.70711);  // sqrt((1 + 1 + 0.25 + 0.25) / 5)
  CHECK(told.mean == doctest::Approx(listed.mean).epsilon(1e-5));
  CHECK(told.variance == doctest::Approx(listed.variance).epsilon(0.02));
}

TEST_CASE("a rate that falls is slower, a time that falls is faster, and one run tells nothing") {
  const std::vector<double> high{100, 101, 99, 100, 100.5};
  const std::vector<double> low{90, 91, 89, 90, 90.5};
  CHECK(judge_runs(of_values("throughput", high), of_values("throughput", low), {}).verdict == GateVerdict::slower);
  CHECK(judge_runs(of_values("latency", high), of_values("latency", low), {}).verdict == GateVerdict::faster);
  const RunGate one = judge_runs(of_values("latency", {100}), of_values("latency", {50}), {});
  CHECK(one.verdict == GateVerdict::inconclusive);
  CHECK_FALSE(one.metrics.front().tested);
  CHECK(one.metrics.front().change == doctest::Approx(-0.5));
}

TEST_CASE("a metric of no known direction is refused until it is stated, with every other problem") {
  RunGateRule rule;
  CHECK_THROWS_WITH_AS(static_cast<void>(judge_runs(of_values("value", {1, 2}), of_values("value", {1, 2}), rule)),
                       doctest::Contains("--lower value or --higher value"), ConfigError);
  rule.higher = {"value"};
  CHECK(judge_runs(of_values("value", {10, 10.1, 9.9}), of_values("value", {5, 5.1, 4.9}), rule).verdict ==
        GateVerdict::slower);
  rule.metrics = {"vaule"};
  CHECK_THROWS_WITH_AS(static_cast<void>(judge_runs(of_values("value", {1, 2}), of_values("value", {1, 2}), rule)),
                       doctest::Contains("did you mean 'value'"), ConfigError);
  CHECK_THROWS_WITH_AS(static_cast<void>(judge_runs(of_values("time", {1, 0}), of_values("time", {1, 2}), {})),
                       doctest::Contains("must be above 0"), ConfigError);
}

TEST_CASE("google-benchmark: repetitions, units and aggregates") {
  const BenchmarkResult listed = parse_benchmark(
      R"({"context": {}, "benchmarks": [
        {"name": "copy/8", "run_name": "copy/8", "run_type": "iteration", "real_time": 2.0, "cpu_time": 1.9,
         "time_unit": "us", "items_per_second": 5.0},
        {"name": "copy/8", "run_name": "copy/8", "run_type": "iteration", "real_time": 3.0, "cpu_time": 2.9,
         "time_unit": "us"},
        {"name": "copy/8_mean", "run_name": "copy/8", "run_type": "aggregate", "aggregate_name": "mean",
         "repetitions": 2, "real_time": 2.5, "cpu_time": 2.4, "time_unit": "us"}]})",
      "r");
  CHECK(listed.form == "google-benchmark");
  REQUIRE(series(listed, "real_time").values.size() == 2);
  CHECK(series(listed, "real_time").values[1] == doctest::Approx(3e-6));
  CHECK_FALSE(series(listed, "cpu_time").usual);
  const BenchmarkResult told = parse_benchmark(
      R"({"benchmarks": [
        {"name": "a_mean", "run_name": "a", "run_type": "aggregate", "aggregate_name": "mean", "repetitions": 9,
         "real_time": 2.0, "cpu_time": 2.0, "time_unit": "ms"},
        {"name": "a_stddev", "run_name": "a", "run_type": "aggregate", "aggregate_name": "stddev", "repetitions": 9,
         "real_time": 0.1, "cpu_time": 0.1, "time_unit": "ms"}]})",
      "r");
  REQUIRE(series(told, "real_time").summary.has_value());
  CHECK(series(told, "real_time").summary->n == 9.0);
  CHECK(series(told, "real_time").summary->deviation == doctest::Approx(1e-4));
}

TEST_CASE("pytest-benchmark, hyperfine, vLLM, GuideLLM and AIPerf are told by their content") {
  const BenchmarkResult pytest = parse_benchmark(
      R"({"machine_info": {}, "benchmarks": [{"name": "test_sort", "fullname": "t.py::test_sort",
          "stats": {"mean": 0.5, "stddev": 0.01, "rounds": 20}}]})",
      "r");
  CHECK(pytest.form == "pytest-benchmark");
  CHECK(series(pytest, "time").summary->n == 20.0);
  const BenchmarkResult hyper = parse_benchmark(
      R"({"results": [{"command": "./run", "mean": 1.0, "times": [1.0, 1.1, 0.9], "exit_codes": [0, 0, 1]}]})", "r");
  CHECK(series(hyper, "time").values.size() == 3);
  CHECK(hyper.notes.size() == 1);
  const BenchmarkResult vllm = parse_benchmark(
      R"({"model_id": "m", "completed": 100, "request_throughput": 5.0, "output_throughput": 900.0, "mean_ttft_ms": 80.0,
          "std_ttft_ms": 8.0, "p99_ttft_ms": 120.0, "mean_tpot_ms": 20.0, "std_tpot_ms": 1.0})",
      "r");
  CHECK(vllm.form == "vllm bench serve");
  CHECK(series(vllm, "mean_ttft_ms").summary->n == 100.0);
  CHECK(series(vllm, "output_throughput").values.front() == 900.0);
  CHECK_FALSE(series(vllm, "p99_ttft_ms").usual);
  const BenchmarkResult guide = parse_benchmark(
      R"({"benchmarks": [{"metrics": {
          "time_to_first_token_ms": {"successful": {"mean": 50.0, "std_dev": 5.0, "count": 64}},
          "output_tokens_per_second": {"successful": {"mean": 700.0, "std_dev": 90.0, "count": 64}}}}]})",
      "r");
  CHECK(guide.form == "GuideLLM");
  CHECK(series(guide, "time_to_first_token_ms").summary->n == 64.0);
  CHECK(series(guide, "output_tokens_per_second").values.front() == 700.0);
  const BenchmarkResult perf = parse_benchmark(
      R"({"request_count": {"unit": "requests", "avg": 32}, "request_throughput": {"unit": "requests/sec", "avg": 4.0},
          "time_to_first_token": {"unit": "ms", "avg": 60.0, "std": 6.0}})",
      "r");
  CHECK(perf.form == "AIPerf");
  CHECK(series(perf, "time_to_first_token").summary->n == 32.0);
  CHECK(series(perf, "request_throughput").better == Better::higher);
  const BenchmarkResult rows = parse_benchmark(
      "Metric,avg,min,max,p99\nTime To First Token (ms),\"1,060.5\",40,90,88\n\nMetric,Value\nRequest Throughput (per "
      "sec),4.25\n",
      "r");
  CHECK(series(rows, "Time To First Token (ms)").values.front() == 1060.5);
  CHECK(series(rows, "Request Throughput (per sec)").values.front() == 4.25);
}

TEST_CASE("MLPerf: loadgen's summary and lines of MLLOG") {
  const BenchmarkResult loadgen = parse_benchmark(
      "================================================\nMLPerf Results Summary\n"
      "================================================\nSamples per second: 1234.5\nResult is : VALID\n"
      "Mean latency (ns)               : 5000\n99.00 percentile latency (ns)   : 9000\ntarget_qps : 1000\n",
      "r");
  CHECK(series(loadgen, "Samples per second").values.front() == 1234.5);
  CHECK(series(loadgen, "Mean latency (ns)").better == Better::lower);
  CHECK(test::says(problem_of("MLPerf Results Summary\nResult is : INVALID\nSamples per second: 3\n"), "INVALID"));
  const BenchmarkResult mllog = parse_benchmark(
      ":::MLLOG {\"time_ms\": 1000, \"key\": \"run_start\", \"value\": null}\n"
      ":::MLLOG {\"time_ms\": 2000, \"key\": \"tracked_stats\", \"value\": {\"throughput\": 55.5}}\n"
      ":::MLLOG {\"time_ms\": 61000, \"key\": \"run_stop\", \"value\": null}\n",
      "r");
  CHECK(series(mllog, "time_to_train").values.front() == 60.0);
  CHECK(series(mllog, "throughput").values.front() == 55.5);
}

TEST_CASE("columns and lines: text and --by name the case, a word in a column of times is a slip") {
  const BenchmarkResult csv = parse_benchmark("kernel,batch,time_ms\na,1,2.0\na,8,3.0\na,8,3.1\n", "r", {"batch"});
  REQUIRE(csv.series.size() == 2);
  CHECK(csv.series[1].of == "a batch 8");
  CHECK(csv.series[1].values.size() == 2);
  const BenchmarkResult lines = parse_benchmark("latency\n1\n2\n# pause\n3\n", "r");
  CHECK(series(lines, "latency").values.size() == 3);
  CHECK(test::says(problem_of("kernel,time_ms\na,2.0\nb,fast\n"), "r:3:3: error: 'time_ms' is 'fast'"));
  CHECK(test::says(problem_of("1,2\n3,4\n"), "must name the columns"));
  CHECK(test::says(problem_of("hello\nworld\n"), "no number"));
  CHECK(test::says(problem_of("{\"a\": 1}"), "no result of google-benchmark"));
  CHECK(test::says(problem_of(" \n"), "empty"));
}

TEST_CASE("pipelines are compared whole, and not at all where their quality differs") {
  const std::string text = R"(schema = 1
quality = "AUC"
tolerance = 0.002
[[pipeline]]
name = "A"
preparation = "10 min"
copies = "0 s"
training = "50 min"
quality = 0.842
price = "3 $/h"
[[pipeline]]
name = "B"
preparation = "10 min"
copies = "5 min"
training = "5 min"
quality = 0.840
price = "12 $/h"
)";
  PipelinePair pair = read_pipelines(text, "p.toml");
  const PipelineVerdict even = compare_pipelines(pair);
  CHECK(even.equal_quality);
  CHECK(even.time_ratio == doctest::Approx(20.0 / 60.0));
  CHECK(*even.cost_ratio == doctest::Approx(4.0 / 3.0));  // 12 $/h for a third of an hour against 3 $
  CHECK(*even.training_cost_ratio == doctest::Approx(0.4));
  CHECK_FALSE(even.energy_ratio);
  CHECK(even.left_out_second == doctest::Approx(0.75));
  pair.pipelines[1].quality = 0.839;
  const PipelineVerdict worse = compare_pipelines(pair);
  CHECK_FALSE(worse.equal_quality);
  CHECK(test::says(worse.verdict, "No verdict: A is better by 0.00300 AUC"));
  CHECK_THROWS_WITH_AS(
      static_cast<void>(read_pipelines("schema = 1\nquality = \"AUC\"\ntolerance = 0\n[[pipeline]]\nname = \"A\"\n"
                                       "training = \"1 h\"\nquality = 0.8\n",
                                       "p.toml")),
      doctest::Contains("missing key 'copies'"), ConfigError);
}
