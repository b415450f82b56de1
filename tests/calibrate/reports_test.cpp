// SPDX-License-Identifier: Apache-2.0
// Results of benchmarks as measured rows, and records of other tools: every field at its column, every number in the
// row's unit, and what a file lacks or breaks told with its place.
#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/calibrate/reports/import_records.hpp>
#include <headroom/calibrate/reports/result_rows.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::says;

namespace {

using Words = std::vector<std::string>;

const Words stated{"gpu=h100-sxm-80gb", "tp=8", "weight_dtype=bf16", "engine=vLLM"};

ImportedRows rows_of(const std::string& text, const Words& more = stated, const std::string& file = "r.json") {
  const std::vector<ConfigSource> files{{file, text}};
  return import_result_rows(files, std::nullopt, more);
}

std::string refusal(const std::string& text, const Words& more = stated, const std::string& file = "r.json") {
  try {
    static_cast<void>(rows_of(text, more, file));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "read";
}

/// The rows as `headroom validate` reads them.
RunFile read_back(const ImportedRows& rows) {
  std::istringstream stream{rows.text};
  Diagnostics problems;
  RunFile file = read_runs(stream, "rows.csv", problems);
  problems.throw_if_any();
  CHECK(file.broken_cells.empty());
  return file;
}

double measured(const RunFile& file, const std::string& metric) {
  for (const RunRow& row : file.rows) {
    if (row.metric == metric) {
      return row.measured;
    }
  }
  return 0.0;
}

const std::string bench_serve =
    R"({"date": "20260801-101010", "endpoint_type": "vllm", "model_id": "meta-llama/Meta-Llama-3-70B", "num_prompts": 640,
"request_rate": "inf", "burstiness": 1.0, "max_concurrency": 64, "duration": 100.0, "completed": 640,
"total_input_tokens": 655360, "total_output_tokens": 163840, "request_throughput": 6.4, "output_throughput": 1638.4,
"total_token_throughput": 8192.0, "mean_ttft_ms": 210.5, "median_ttft_ms": 200.0, "std_ttft_ms": 12.0,
"p99_ttft_ms": 480.0, "mean_tpot_ms": 21.5, "median_tpot_ms": 21.0, "std_tpot_ms": 0.5, "p99_tpot_ms": 25.0,
"mean_itl_ms": 21.4, "mean_e2el_ms": 5692.0})";

}  // namespace

TEST_CASE("results: a run of bench serve is rows of its load, layout and times") {
  const RunFile file = read_back(rows_of(bench_serve));
  CHECK(file.form == RowForm::serving);
  REQUIRE(file.rows.size() == 10);
  const ServingConfiguration& run = file.rows.front().serving;
  CHECK(run.model == "Meta-Llama-3-70B");
  CHECK(run.gpu == "h100-sxm-80gb");
  CHECK(run.engine == "vLLM");
  CHECK(run.isl == 1024.0);  // 655360 tokens of 640 requests
  CHECK(run.osl == 256.0);
  CHECK(run.concurrency == 64.0);
  CHECK(run.tp == 8);
  CHECK(run.options.at("scenario") == "closed");
  CHECK(run.options.at("requests") == "640");
  CHECK(measured(file, "requests_per_s") == 6.4);
  CHECK(measured(file, "total_tokens_per_s") == 8192.0);
  CHECK(measured(file, "ttft_ms_mean") == 210.5);
  CHECK(measured(file, "ttft_ms_p50") == 200.0);
  CHECK(measured(file, "tpot_ms_p99") == 25.0);
  CHECK(measured(file, "e2e_ms_mean") == 5692.0);
}

TEST_CASE("results: a rate makes an open load, an unbounded run a burst, and lines of SGLang are runs") {
  const std::string line =
      R"({"backend": "sglang", "request_rate": 4.0, "completed": 10, "num_prompts": 12, "total_input_tokens": 1000, )"
      R"("total_output_tokens": 500, "request_throughput": 3.5, "output_throughput": 175.0, "mean_ttft_ms": 50.0, )"
      R"("mean_e2e_latency_ms": 900.0})";
  std::string burst = line;
  burst.replace(burst.find("4.0"), 3, "\"inf\"");
  const ImportedRows rows = rows_of(line + "\n" + burst + "\n",
                                    {"model=llama3-8b", "gpu=h100-sxm-80gb", "tp=1", "weight_dtype=bf16"}, "r.jsonl");
  const RunFile file = read_back(rows);
  REQUIRE(file.rows.size() == 8);
  CHECK(file.rows[0].serving.request_rate == 4.0);
  CHECK(file.rows[0].serving.options.at("scenario") == "online");
  CHECK(file.rows[0].serving.engine == "SGLang");
  CHECK(file.rows[4].serving.options.at("scenario") == "burst");
  CHECK(measured(file, "e2e_ms_mean") == 900.0);
  REQUIRE(!rows.remarks.empty());
  CHECK(says(rows.remarks.front(), "2 of 12 requests were not completed"));
}

TEST_CASE("results: GuideLLM's benchmarks of one report are runs, its gaps between tokens the TPOT of rows") {
  const auto statistic = [](double mean, double p99) {
    return "{\"successful\": {\"mean\": " + std::to_string(mean) +
           ", \"std_dev\": 1.0, \"count\": 20, \"percentiles\": {\"p50\": " + std::to_string(mean) +
           ", \"p99\": " + std::to_string(p99) + "}}}";
  };
  const auto benchmark = [&](const std::string& strategy) {
    return "{\"config\": {\"strategy\": " + strategy +
           "}, \"metrics\": {\"request_totals\": {\"successful\": 20, \"errored\": 0}, " +
           "\"requests_per_second\": " + statistic(2.0, 2.0) +
           ", \"output_tokens_per_second\": " + statistic(256.0, 256.0) +
           ", \"prompt_token_count\": " + statistic(512.0, 512.0) +
           ", \"output_token_count\": " + statistic(128.0, 128.0) +
           ", \"time_to_first_token_ms\": " + statistic(80.0, 160.0) +
           ", \"inter_token_latency_ms\": " + statistic(12.5, 14.0) +
           ", \"time_per_output_token_ms\": " + statistic(13.0, 15.0) +
           ", \"request_latency\": " + statistic(1.75, 2.5) + "}}";
  };
  const std::string report =
      "{\"config\": {\"spec\": {\"backend\": {\"model\": \"org/llama3-8b\"}}}, \"benchmarks\": [" +
      benchmark(R"({"type_": "concurrent", "streams": 4})") + ", " +
      benchmark(R"({"type_": "constant", "rate": 2.0, "max_concurrency": 10240})") + "]}";
  const RunFile file = read_back(rows_of(report));
  REQUIRE(file.rows.size() == 22);
  CHECK(file.rows[0].serving.model == "llama3-8b");
  CHECK(file.rows[0].serving.concurrency == 4.0);
  CHECK(file.rows[0].serving.isl == 512.0);
  CHECK(file.rows[11].serving.request_rate == 2.0);
  CHECK(!file.rows[11].serving.concurrency);
  CHECK(measured(file, "tpot_ms_mean") == 12.5);
  CHECK(measured(file, "ttft_ms_p99") == 160.0);
  CHECK(measured(file, "e2e_ms_mean") == 1750.0);  // seconds in the report
}

TEST_CASE("results: AIPerf's times come in the units that it states") {
  const std::string report =
      R"({"request_throughput": {"unit": "requests/sec", "avg": 3.0}, "output_token_throughput": {"unit": "tokens/sec", "avg": 300.0},
"time_to_first_token": {"unit": "ms", "avg": 90.0, "p99": 200.0}, "inter_token_latency": {"unit": "us", "avg": 9500.0},
"request_latency": {"unit": "s", "avg": 1.25, "p90": 1.5}, "input_sequence_length": {"unit": "tokens", "avg": 550.0},
"output_sequence_length": {"unit": "tokens", "avg": 100.0}, "request_count": {"unit": "requests", "avg": 80},
"input_config": {"endpoint": {"model_names": ["org/llama3-8b"]}, "loadgen": {"concurrency": 8}}})";
  const RunFile file = read_back(rows_of(report));
  CHECK(file.rows[0].serving.concurrency == 8.0);
  CHECK(measured(file, "ttft_ms_p99") == 200.0);
  CHECK(measured(file, "tpot_ms_mean") == 9.5);
  CHECK(measured(file, "e2e_ms_p90") == 1500.0);
  std::string wrong = report;
  wrong.replace(wrong.find("\"us\""), 4, "\"h\"");
  CHECK(says(refusal(wrong), "error: 'unit' is 'h'; it must be one of ms, s, us, ns"));
}

TEST_CASE("results: rows of InferenceX hold SKU and layout, rates are per GPU and times in seconds") {
  const std::string rows =
      R"([{"hw": "h200-nb_1", "model": "deepseek-ai/DeepSeek-R1-0528", "framework": "sglang", "precision": "fp8", "image": "lmsysorg/sglang:v0.5.1",
"spec_decoding": "none", "disagg": false, "isl": 1024, "osl": 1024, "conc": 64, "tp": 8, "ep": 1, "dp_attention": "false",
"tput_per_gpu": 250.0, "output_tput_per_gpu": 125.0, "mean_ttft": 0.35, "mean_tpot": 0.0425, "p99_tpot": 0.05},
{"hw": "b200", "model": "m", "framework": "dynamo-trt", "precision": "fp4", "disagg": true, "isl": 8192, "osl": 1024, "conc": 16,
"prefill_tp": 4, "prefill_num_workers": 2, "decode_tp": 8, "decode_ep": 8, "decode_num_workers": 1, "decode_dp_attention": true,
"num_prefill_gpu": 8, "num_decode_gpu": 8, "tput_per_gpu": 100.0, "mean_tpot": 0.01}])";
  const RunFile file = read_back(rows_of(rows, {}));
  REQUIRE(file.rows.size() == 7);
  const ServingConfiguration& one = file.rows[0].serving;
  CHECK(one.gpu == "h200-sxm-141gb");
  CHECK(one.model == "DeepSeek-R1-0528");
  CHECK(one.engine_version == "v0.5.1");
  CHECK(one.gpus == 8);
  CHECK(measured(file, "total_tokens_per_s") == 2000.0);  // 250 of each of 8 GPUs
  CHECK(measured(file, "ttft_ms_mean") == 350.0);
  CHECK(measured(file, "tpot_ms_mean") == 42.5);
  const ServingConfiguration& apart = file.rows[5].serving;
  CHECK(apart.options.at("disaggregated") == "1");
  CHECK(apart.options.at("prefill_workers") == "2");
  CHECK(apart.options.at("decode_attention_dp") == "1");
  CHECK(apart.gpus == 16);
  CHECK(apart.weight_dtype == "nvfp4");
  CHECK(file.rows[5].measured == 1600.0);
  CHECK(says(refusal("[{\"hw\": \"b200\"},\n {\"tput_per_gpu\": 1}]", {}),
             "r.json:1:2: error: this is no row of InferenceX"));
}

TEST_CASE("results: a report of llm-d is read from YAML with the units of its statistics") {
  const std::string report =
      "version: 0.2.1\nrun:\n  uid: a\nscenario:\n  load:\n    standardized:\n      tool: guidellm\n      "
      "tool_version: 0.3.0\n"
      "      source: random\n      rate_qps: 5.0\n      input_seq_len:\n        distribution: fixed\n        value: "
      "1000\n"
      "  stack:\n  - standardized:\n      kind: inference_engine\n      tool: vllm\n      tool_version: "
      "vllm/vllm-openai:v0.12.0\n"
      "      role: replica\n      replicas: 2\n      model:\n        name: org/llama3-70b\n      accelerator:\n"
      "        model: h100-sxm-80gb\n        count: 4\n        parallelism:\n          tp: 4\n          pp: 1\n"
      "results:\n  request_performance:\n    aggregate:\n      requests:\n        total: 500\n        output_length:\n"
      "          mean: 250.0\n          units: count\n      latency:\n        time_to_first_token:\n          mean: "
      "0.125\n"
      "          p99: 0.5\n          units: s\n        inter_token_latency:\n          mean: 20.0\n          units: "
      "ms/token\n"
      "      throughput:\n        output_token_rate:\n          mean: 1250.0\n          units: tokens/s\n";
  const RunFile file = read_back(rows_of(report, {"weight_dtype=fp8"}, "br.yaml"));
  REQUIRE(file.rows.size() == 4);
  const ServingConfiguration& run = file.rows[0].serving;
  CHECK(run.gpus == 8);  // 2 replicas of 4
  CHECK(run.dp == 2);
  CHECK(run.engine_version == "v0.12.0");
  CHECK(run.request_rate == 5.0);
  CHECK(run.isl == 1000.0);
  CHECK(run.osl == 250.0);
  CHECK(measured(file, "ttft_ms_p99") == 500.0);
  CHECK(measured(file, "tpot_ms_mean") == 20.0);
  std::string wrong = report;
  wrong.replace(wrong.find("units: s\n"), 9, "units: minutes\n");
  CHECK(says(refusal(wrong, {"weight_dtype=fp8"}, "br.yaml"), "error: 'time_to_first_token' has units 'minutes'"));
}

TEST_CASE("results: summaries of loadgen and Endpoints, whose times are nanoseconds") {
  const std::string summary =
      "================================================\nMLPerf Results Summary\n"
      "================================================\nSUT name : x\nScenario : Server\nMode     : PerformanceOnly\n"
      "Completed samples per second    : 12.5\nCompleted tokens per second: 3200\nResult is : VALID\n"
      "Mean First Token latency (ns)   : 250000000\n99.00 percentile first token latency (ns) : 900000000\n"
      "Mean Time to Output Token (ns)  : 25000000\ntarget_qps : 12.6\n";
  const RunFile file = read_back(rows_of(
      summary,
      {"model=llama3-70b", "gpu=h100-sxm-80gb", "tp=8", "weight_dtype=fp8", "engine=vLLM", "isl=1000", "osl=256"},
      "mlperf_log_summary.txt"));
  CHECK(file.rows[0].serving.options.at("scenario") == "server");
  CHECK(file.rows[0].serving.request_rate == 12.6);
  CHECK(measured(file, "output_tokens_per_s") == 3200.0);
  CHECK(measured(file, "ttft_ms_p99") == 900.0);
  CHECK(measured(file, "tpot_ms_mean") == 25.0);
  std::string invalid = summary;
  invalid.replace(invalid.find(": VALID"), 7, ": INVALID");
  CHECK(says(refusal(invalid, stated, "s.txt"), "s.txt:9:1: error: the result is 'INVALID'"));
  const std::string endpoints =
      R"({"n_samples_completed": 100, "qps": 5.0, "tps": 640.0, "latency": {"avg": 4000000000.0}, "tpot": {"avg": 30000000.0},
"ttft": {"avg": 190000000.0, "percentiles": {"99": 450000000.0}}, "input_sequence_lengths": {"avg": 900.0},
"output_sequence_lengths": {"avg": 128.0}, "run_config": {"load_pattern": {"type": "poisson", "target_qps": 5.5}}})";
  Words more = stated;
  more.emplace_back("model=llama3-70b");
  const RunFile poisson = read_back(rows_of(endpoints, more));
  CHECK(poisson.rows[0].serving.request_rate == 5.5);
  CHECK(measured(poisson, "ttft_ms_p99") == 450.0);
  CHECK(measured(poisson, "e2e_ms_mean") == 4000.0);
}

TEST_CASE("results: a log of MLLOG is a row of training with what it says of the batch") {
  const std::string log =
      ":::MLLOG {\"key\": \"global_batch_size\", \"value\": 1024, \"time_ms\": 1}\n"
      ":::MLLOG {\"key\": \"max_sequence_length\", \"value\": 8192, \"time_ms\": 1}\n"
      ":::MLLOG {\"key\": \"run_start\", \"value\": null, \"time_ms\": 1000}\n"
      ":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"throughput\": 60.0}, \"time_ms\": 2000}\n"
      ":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"throughput\": 64.0}, \"time_ms\": 3000}\n";
  const RunFile file = read_back(rows_of(log,
                                         {"model=llama3-70b", "gpu=h100-sxm-80gb", "gpus=512", "tp=8", "pp=4",
                                          "micro_batch=1", "precision=bf16", "framework=Megatron-LM 0.12"},
                                         "result_0.txt"));
  CHECK(file.form == RowForm::training);
  REQUIRE(file.rows.size() == 1);
  CHECK(file.rows[0].run.global_batch == 1024);
  CHECK(file.rows[0].run.seq_len == 8192);
  CHECK(file.rows[0].run.dp == 16);  // 512 GPUs of tp 8 and pp 4
  CHECK(file.rows[0].metric == "samples_per_s");
  CHECK(file.rows[0].measured == 62.0);  // the mean of both reports
}

TEST_CASE("results: numbers that Python writes and JSON lacks are read, and what is no time is told") {
  // bench_serving.py dumps its arguments, the rate among them, as float("inf").
  std::string endless = bench_serve;
  endless.replace(endless.find("\"inf\""), 5, "Infinity");
  endless.replace(endless.find("\"max_concurrency\": 64, "), 23, "");
  const RunFile file = read_back(rows_of(endless));
  CHECK(file.rows.front().serving.options.at("scenario") == "burst");
  std::string wrong = bench_serve;
  wrong.replace(wrong.find("210.5"), 5, "NaN");
  wrong.replace(wrong.find("1638.4"), 6, "-163.8");
  wrong.replace(wrong.find("21.5"), 4, "\"x\"");
  const std::string told = refusal(wrong);
  CHECK(says(told, "error: 'mean_ttft_ms' is NaN; it must be a number, 0 or more"));
  CHECK(says(told, "error: 'output_throughput' is -163.8; it must be a number, 0 or more"));
  CHECK(says(told, "error: 'mean_tpot_ms' is 'x'; it must be a number, 0 or more"));
  CHECK(says(told, "r.json:5:"));  // the line of the TPOT
  std::string spread = bench_serve;
  spread.replace(spread.find("12.0"), 4, "NaN");  // of one request: no row holds it
  CHECK(read_back(rows_of(spread)).rows.size() == 10);
}

TEST_CASE("results: trtllm-bench's report is a run whose load is stated") {
  const std::string report =
      R"({"engine": {"model": "llama"}, "request_info": {"num_requests": 1000, "avg_num_concurrent_requests": 96.5,
"avg_input_length": 1000.0, "avg_output_length": 200.0}, "performance": {"request_throughput_req_s": 8.0,
"system_output_throughput_tok_s": 1600.0, "total_latency_ms": 125000.0},
"streaming_metrics": {"ttft_percentiles": {"average": 75.0, "p99": 150.0}, "tpot_percentiles": {"p50": 15.5}}})";
  const RunFile file = read_back(rows_of(report, {"model=llama3-8b", "gpu=h100-sxm-80gb", "tp=1", "weight_dtype=fp8",
                                                  "engine=TensorRT-LLM", "concurrency=128"}));
  REQUIRE(file.rows.size() == 5);  // two rates, two first tokens, one gap
  CHECK(file.rows.front().serving.osl == 200.0);
  CHECK(file.rows.front().serving.concurrency == 128.0);
  CHECK(measured(file, "output_tokens_per_s") == 1600.0);
  CHECK(measured(file, "ttft_ms_p99") == 150.0);
  CHECK(measured(file, "tpot_ms_p50") == 15.5);
}

TEST_CASE("results: every problem at once: what is missing, an unknown column, another form") {
  const std::vector<ConfigSource> files{{"a.json", bench_serve}, {"b.json", "{\"x\": 1}"}};
  try {
    static_cast<void>(import_result_rows(files, std::nullopt, Words{"tpp=8", "isl=-1", "engine"}));
    FAIL("read");
  } catch (const ConfigError& error) {
    const std::string told = error.what();
    CHECK(says(told, "--set tpp=8: error: names no column of measured rows; did you mean 'tp'?"));
    CHECK(says(told, "--set isl=-1: error: 'isl' is '-1'; it must be a number above 0"));
    CHECK(says(told, "--set engine: error: is no COLUMN=VALUE"));
    CHECK(says(told, "a.json:1:1: error: a result does not say: gpu, tp, weight_dtype; state each"));
    CHECK(says(told, "b.json: error: is no result of a benchmark"));
  }
  std::string none = bench_serve;
  none.replace(none.find("\"completed\": 640"), 16, "\"completed\": 0");
  CHECK(says(refusal(none), "no request was completed"));
  CHECK(says(refusal("{\"request_throughput\": 1, \"completed\": 2,}"), "r.json:1:"));
}

TEST_CASE("records: TraceLens' tables are kernels that the kernel reader takes") {
  const std::string gemm =
      "name,param: M,param: N,param: K,param: dtype_A_B,param: B,Kernel Time (\xC2\xB5s)_median\n"
      "aten::mm,4096,8192,1024,\"('c10::BFloat16', 'c10::BFloat16')\",1,120.5\n"
      "aten::addmm,4096,8192,1024,\"('c10::BFloat16', 'c10::BFloat16')\",1,120.5\n"
      "aten::bmm,64,64,64,\"('c10::Half', 'c10::Half')\",16,9.0\n"
      "aten::mm,64,64,64,\"('c10::Half', 'float')\",1,9.0\n";
  const ImportedSamples products = import_tracelens(gemm, "GEMM.csv");
  CHECK(products.text == "engine,version,dtype,m,n,k,latency_us\ntracelens,trace,bf16,4096,8192,1024,120.5\n");
  CHECK(products.remarks.size() == 3);
  const std::string attention =
      "name,param: B,param: N_Q,param: H_Q,param: N_KV,param: H_KV,param: d_h_qk,param: d_h_v,param: causal,param: "
      "dtype_A_B,"
      "Kernel Time (\xC2\xB5s)_median\n"
      "FlashAttnFunc,2,2048,32,2048,8,128,128,True,\"('c10::BFloat16', 'c10::BFloat16')\",121.9\n"
      "FlashAttnFunc,2,2048,32,11040,8,128,128,False,\"('c10::BFloat16', 'c10::BFloat16')\",571.8\n";
  const ImportedSamples forward = import_tracelens(attention, "SDPA_fwd.csv");
  std::istringstream stream{forward.text};
  Diagnostics problems;
  const KernelFile kernels = read_kernel_rows(stream, "k.csv", KernelKind::training_attention, problems);
  CHECK(problems.empty());
  REQUIRE(kernels.rows.size() == 1);
  CHECK(kernels.rows[0].variant == "forward");
  CHECK_THROWS_WITH_AS(static_cast<void>(import_tracelens("a,b\n1,2\n", "x.csv")),
                       doctest::Contains("x.csv:1:1: error: the header"), ConfigError);
  std::string wrong = gemm;
  wrong.replace(wrong.find("120.5"), 5, "nan");
  CHECK_THROWS_WITH_AS(static_cast<void>(import_tracelens(wrong, "x.csv")), doctest::Contains("x.csv:2:"), ConfigError);
}

TEST_CASE("records: collectives of a Chakra trace, in JSON and in protobuf's bytes") {
  const std::string json =
      R"({"metadata": {"version": "0.0.4"}, "nodes": [
{"id": "1", "name": "ncclDevKernel_AllReduce_Sum_bf16", "type": "COMM_COLL_NODE", "durationMicros": "250",
 "attr": [{"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": "1048576"}]},
{"id": "2", "name": "gemm", "type": "COMP_NODE", "durationMicros": "10"},
{"id": "3", "name": "x", "type": "COMM_COLL_NODE", "durationMicros": "5", "attr": [{"name": "comm_type", "int64Val": "9"}]}]})";
  const std::string expected = "nccl_version,op,gpus,dtype,bytes,latency_us\ntrace,all_reduce,,bf16,1048576,250\n";
  const ImportedSamples read = import_chakra(json, "et.json");
  CHECK(read.text == expected);
  CHECK(read.remarks.size() == 2);
  // Fields: 2 name, 3 type 7, 7 duration 250 (FA 01), 10 attributes {1 name, 9 int64}.
  const auto message = [](const std::string& bytes) { return std::string(1, static_cast<char>(bytes.size())) + bytes; };
  const std::string kind = std::string{"\x0A\x09"} + "comm_type" + std::string{"\x48\x00", 2};
  const std::string size = std::string{"\x0A\x09"} + "comm_size" + std::string{"\x48\x80\x80\x40", 4};
  const std::string node = std::string{"\x12\x04"} + "bf16" + std::string{"\x18\x07\x38\xFA\x01", 5} + "\x52" +
                           message(kind) + "\x52" + message(size);
  const std::string binary = message(std::string{"\x0A\x05"} + "0.0.4") + message(node);
  CHECK(import_chakra(binary, "et").text == expected);
  CHECK_THROWS_WITH_AS(static_cast<void>(import_chakra(binary.substr(0, binary.size() - 2), "et")),
                       doctest::Contains("is cut short"), ConfigError);
}

TEST_CASE("records: a trace of vllm-vcr is requests in the order of their arrival") {
  const std::string trace =
      "{\"meta\": {\"model\": \"m\", \"gpu\": \"H100\"}}\n"
      "{\"prompt_tokens\": 100, \"output_tokens\": 5, \"ttft_ms\": 50.0, \"arrival_ms\": 250.0, \"cached_tokens\": "
      "64}\n"
      "{\"prompt_tokens\": 10, \"output_tokens\": 1, \"ttft_ms\": 15.5, \"arrival_ms\": 0.0}\n";
  CHECK(import_vllm_vcr(trace, "t.jsonl").text ==
        "arrival_s,prompt_tokens,output_tokens,cached_tokens\n0,10,1,0\n0.25,100,5,64\n");
  try {
    static_cast<void>(
        import_vllm_vcr("{\"prompt_tokens\": 0, \"output_tokens\": 5, \"arrival_ms\": 1}\n{\"prompt_tokens\": 3,\n"
                        "{\"prompt_tokens\": 3, \"output_tokens\": 5}\n",
                        "t.jsonl"));
    FAIL("read");
  } catch (const ConfigError& error) {
    CHECK(says(error.what(), "t.jsonl:1:19: error: 'prompt_tokens' must be a whole number"));
    CHECK(says(error.what(), "t.jsonl:2:"));
    CHECK(says(error.what(), "t.jsonl:3:1: error: 'arrival_ms' is missing"));
  }
}

TEST_CASE("records: accepted lengths of SPEED-Bench as the chance that a draft is accepted") {
  // One drafted token: 1 + a = 1.75. Two at a = 0.5: 1 + 0.5 + 0.25.
  const ImportedSamples read = import_speed_bench(
      "_metadata:\n  draft-model: x\nmodel-a:\n  thinking_on:\n    1: 1.75\n    2: 1.75\n    3: 4\n", "al.yaml");
  CHECK(read.text ==
        "model,mode,draft,tokens,acceptance\nmodel-a,thinking_on,1,1.75,0.75\nmodel-a,thinking_on,2,1.75,0.5\n"
        "model-a,thinking_on,3,4,1\n");
  CHECK_THROWS_WITH_AS(
      static_cast<void>(import_speed_bench("m:\n  on:\n    1: 2.5\n", "al.yaml")),
      doctest::Contains("al.yaml:3:8: error: the mean accepted length of 1 drafted tokens must be 1 to 2"),
      ConfigError);
}

TEST_CASE("records: a summary of MLPerf Storage is what storage gives a host and a sample asks of it") {
  // 2 hosts, 1000 samples/s of 0.1 MiB at 50 % use: 50 MiB/s a host, 104857.6 B a sample, 1000 samples/s a host unfed.
  const ImportedSamples read = import_mlperf_storage(
      R"({"num_accelerators": 8, "num_hosts": 2, "metric": {"train_throughput_mean_samples_per_second": 1000.0,
"train_io_mean_MB_per_second": 100.0, "train_au_mean_percentage": 50.0, "train_au_meet_expectation": "fail"}})",
      "summary.json");
  CHECK(
      says(read.text, "[data]\nsample_bytes = \"104858 B\"\nstorage_bandwidth = \"52.4288 MB/s\"\ngpu_rate = 1000\n"));
  CHECK_THROWS_WITH_AS(static_cast<void>(import_mlperf_storage("{\"metric\": {}}", "s.json")),
                       doctest::Contains("s.json:1:1: error: this is no summary.json"), ConfigError);
}
