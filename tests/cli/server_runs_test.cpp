// SPDX-License-Identifier: Apache-2.0
// `plan --runs` with what clients of a server wrote: every readable form is a run of the plan's, and what is none is
// named.
#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "../support/scratch_folder.hpp"
#include "run_headroom.hpp"
#include <fstream>
#include <string>

using namespace headroom::test;

namespace {

const std::string question =
    "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 1 --tp 1 --isl 1024 --osl 128 --concurrency 16 --format json ";

const std::string bench_serve =
    R"({"endpoint_type": "vllm", "model_id": "meta-llama/Meta-Llama-3-8B", "num_prompts": 640, "request_rate": "inf",
"max_concurrency": 16, "duration": 100.0, "completed": 640, "total_input_tokens": 655360, "total_output_tokens": 81920,
"request_throughput": 10.0, "output_throughput": 1280.0, "mean_ttft_ms": 110.5, "mean_tpot_ms": 12.5})";

const std::string aiperf =
    R"({"request_throughput": {"unit": "requests/sec", "avg": 10.0}, "output_token_throughput": {"unit": "tokens/sec",
"avg": 1280.0}, "time_to_first_token": {"unit": "ms", "avg": 110.5}, "inter_token_latency": {"unit": "us", "avg": 12500.0},
"request_latency": {"unit": "ms", "avg": 1700.0}, "input_sequence_length": {"unit": "tokens", "avg": 1024.0},
"output_sequence_length": {"unit": "tokens", "avg": 128.0}, "request_count": {"unit": "requests", "avg": 640},
"input_config": {"endpoint": {"model_names": ["meta-llama/Meta-Llama-3-8B"]}, "loadgen": {"concurrency": 16}}})";

const std::string endpoints =
    R"({"n_samples_issued": 640, "n_samples_completed": 640, "qps": 10.0, "tps": 1280.0, "latency": {"avg": 1700000000.0},
"tpot": {"avg": 12500000.0}, "ttft": {"avg": 110500000.0}, "input_sequence_lengths": {"avg": 1024.0},
"output_sequence_lengths": {"avg": 128.0}, "run_config": {"load_pattern": {"type": "concurrency", "target_concurrency": 16}}})";

/// The text of the member in a plan's JSON.
std::string member(const std::string& json, const std::string& name) {
  const std::size_t at = json.find("\"" + name + "\": ");
  return at == std::string::npos ? "none" : json.substr(at, json.find('\n', at) - at);
}

}  // namespace

TEST_CASE("plan: results of several clients of one run move a server's plan alike") {
  const ScratchFolder folder;
  const auto planned = [&](const std::string& text) {
    const std::string file = (folder.path() / "result.json").string();
    std::ofstream{file} << text;
    return run_headroom(question + "--runs " + file);
  };
  const Run plain = run_headroom(question);
  const Run one = planned(bench_serve);
  REQUIRE_MESSAGE(one.code == 0, one.err);
  CHECK(says(one.out, "\"own_runs\""));
  CHECK(says(one.out, "\"runs\": 1,"));
  CHECK(member(one.out, "tpot_s") != member(plain.out, "tpot_s"));
  CHECK(says(one.out, "your runs: gpu = h100-sxm-80gb, gpus = 1, tp = 1"));
  for (const std::string& other : {aiperf, endpoints}) {
    const Run same = planned(other);
    REQUIRE_MESSAGE(same.code == 0, same.err);
    CHECK(member(same.out, "step_factor") == member(one.out, "step_factor"));
  }
  std::string large = bench_serve;
  large.replace(large.find("3-8B"), 4, "3-70B");
  const Run model = planned(large);
  CHECK(model.code == 2);
  CHECK(says(model.err, "Meta-Llama-3-70B on h100-sxm-80gb under vLLM: another model than llama3-8b"));
  std::string broken = bench_serve;
  broken.replace(broken.find("12.5"), 4, "NaN");
  const Run number = planned(broken);
  CHECK(number.code == 2);
  CHECK(says(number.err, "result.json:3:"));
  CHECK(says(number.err, "'mean_tpot_ms' is NaN; it must be a number, 0 or more"));
}
