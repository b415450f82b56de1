// SPDX-License-Identifier: Apache-2.0
// Start-up logs of serving engines. Lines and numbers are of published logs; the source stands with each.
#include <headroom/scenarios/plan/engine_log.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

constexpr double gib = 0x1p30;

Scenario question(std::vector<std::string> more) {
  std::vector<std::string> all{"kind=serve", "serving.osl=256", "serving.concurrency=8", "serving.isl=2048"};
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

const std::vector<std::string> llama_8b{"model=llama3.1-8b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=1",
                                        "serving.weights=bf16"};
const std::vector<std::string> qwen_235b{"model=qwen3-235b-a22b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=4",
                                         "strategy.tp=4", "serving.weights=fp8"};

std::vector<std::string> with(std::vector<std::string> some, const std::vector<std::string>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

struct Calibrated {
  Plan plan;
  std::vector<std::string> notes;
  const ServePlan& answer() const { return std::get<ServePlan>(plan.answer); }
  const ServingMemory& memory() const { return answer().estimate.memory; }
  bool told(std::string_view text) const {
    return std::any_of(notes.begin(), notes.end(),
                       [&](const std::string& note) { return note.find(text) != std::string::npos; });
  }
};

Calibrated calibrated(const std::string& log, const std::vector<std::string>& scenario) {
  Scenario asked = question(scenario);
  auto& serve = std::get<ServeScenario>(asked.question);
  std::vector<std::string> notes = calibrate_memory(read_engine_log({"boot.log", log}, serve.engine.engine), serve);
  return {make_plan(std::move(asked), false, PlanPart::memory), std::move(notes)};
}

std::string refusal(const std::string& log, const std::vector<std::string>& scenario) {
  try {
    static_cast<void>(calibrated(log, scenario));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

// vllm-project/vllm issue 10517: Llama 3.1 8B on a 24 GB card.
const std::string blocks_log =
    "INFO model_runner.py:1077] Loading model weights took 14.9888 GB\n"
    "INFO gpu_executor.py:76] # GPU blocks: 1478, # CPU blocks: 2048\n"
    "INFO gpu_executor.py:80] Maximum concurrency for 29000 tokens per request: 0.82x\n";

}  // namespace

TEST_CASE("vLLM V0: blocks of 16 tokens are the pool, as its own line of bytes says") {
  const Calibrated c = calibrated(blocks_log, with(llama_8b, {"serving.max_num_seqs=64"}));
  CHECK(c.memory().pool.raw() == doctest::Approx(1478 * 16 * 131072.0));
  CHECK(c.memory().pool.raw() / gib == doctest::Approx(2.89).epsilon(0.002));  // the kv_cache_size
  CHECK(c.memory().capacity == 1478 * 16 / 2304);
  CHECK(c.told("KV pool 2.89 GiB (boot.log:2, 23 648 tokens)"));
  CHECK(c.told("weights 15.0 GiB (line 1)"));
  CHECK(c.told("check that SKU, model and settings are those of the log"));  // the scenario's GPU has 80 GB
  CHECK(c.told("0.8200 sequences of 29 000 tokens at once (line 3), here 0.8152"));
}

TEST_CASE("vLLM V1: tokens and bytes of each rank, of which the smallest counts") {
  // vllm-project/vllm issue 21348: Qwen3-235B-A22B-FP8 on four H100.
  const std::string log =
      "(TP0) INFO gpu_worker.py:276] Available KV cache memory: 8.11 GiB\n"
      "(TP1) INFO gpu_worker.py:276] Available KV cache memory: 8.30 GiB\n"
      "INFO kv_cache_utils.py:849] GPU KV cache size: 178,880 tokens\n"
      "INFO kv_cache_utils.py:849] GPU KV cache size: 183,072 tokens\n";
  const Calibrated c = calibrated(log, qwen_235b);
  const double token = 94 * 2 * 128 * 2.0;  // one of four KV heads a rank
  CHECK(c.memory().pool.raw() == doctest::Approx(178880 * token));
  CHECK(c.memory().capacity == 178880 / 2304);
  CHECK(c.memory().capacity_high - c.memory().capacity_low <= 1);
  const Calibrated bytes = calibrated("INFO worker.py] Available KV cache memory: 8.11 GiB\n", qwen_235b);
  CHECK(bytes.memory().pool.raw() == doctest::Approx(8.11 * gib));
  const Calibrated merged = calibrated(
      "GPU KV cache size: 178,880 tokens, Maximum concurrency for 4,096 tokens per request: 43.67x\n", qwen_235b);
  CHECK(merged.told("43.67 sequences of 4096 tokens at once (line 1), here 43.67"));
}

TEST_CASE("SGLang: keys and values are halves of the pool, in units of 2^30 that it calls GB") {
  // The same issue's SGLang log.
  const std::string log =
      "KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB\n"
      "max_total_num_tokens=367404, chunked_prefill_size=8192, context_len=40960\n";
  const std::vector<std::string> scenario = with(qwen_235b, {"serving.engine=sglang"});
  const Calibrated c = calibrated(log, scenario);
  CHECK(c.memory().pool.raw() / gib == doctest::Approx(16.46).epsilon(0.002));
  CHECK(c.memory().capacity == 367404 / 2304);
  CHECK(c.answer().verdict.find("untested") == std::string::npos);
  const Calibrated later =
      calibrated("KV Cache is allocated. dtype: torch.bfloat16, #tokens: 367404, KV size: 16.46 GB\n", scenario);
  CHECK(later.memory().pool.raw() == c.memory().pool.raw());
}

TEST_CASE("TensorRT-LLM: gigabytes and tokens of one line, in blocks that it names") {
  // ai-dynamo/dynamo, TensorRT-LLM example: 26.91 GiB and 220480 tokens are 131 kB a token, an 8B's in 16 bit.
  const std::string log =
      "[TensorRT-LLM][INFO] Max KV cache pages per sequence: 2048\n"
      "[TensorRT-LLM][INFO] Number of tokens per block: 64.\n"
      "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 26.91 GiB for max tokens in paged KV cache (220480).\n";
  const Calibrated c = calibrated(log, with(llama_8b, {"serving.engine=tensorrt-llm"}));
  CHECK(c.memory().pool.raw() == doctest::Approx(220480 * 131072.0));
  CHECK(c.memory().pool.raw() / gib == doctest::Approx(26.91).epsilon(0.001));
  CHECK(std::get<ServeScenario>(c.plan.scenario.question).engine.memory.uncertainty.raw() == 64 * 131072.0);
}

TEST_CASE("no term of a calibrated plan is below nothing, and they add up to the log's share") {
  const std::string more = "GPU KV cache size: 460,000 tokens\n";  // 56.2 GiB: more than predicted
  for (const std::string& log : {blocks_log, more, std::string{"# GPU blocks: 20, # CPU blocks: 2048\n"}}) {
    const Calibrated c = calibrated(log, llama_8b);
    const MemoryBreakdown& terms = c.memory().terms;
    CHECK(terms[MemoryTerm::framework].raw() >= -1.0);
    CHECK(terms[MemoryTerm::activations].raw() >= 0.0);
    const double inside = terms.total().raw() - terms[MemoryTerm::cuda_graphs].raw();
    CHECK(inside == doctest::Approx(0.9 * 79.18 * gib).epsilon(1e-3));
  }
}

TEST_CASE("activations, graphs and another fraction of the log are carried to the scenario") {
  // generative-computing/mellea pull request 416, the lines of vLLM's profiling on an H100, an 8B's numbers in place.
  const std::string log =
      "INFO worker.py:294] the current vLLM instance can use total_gpu_memory (79.19GiB) x gpu_memory_utilization "
      "(0.80) = 63.35GiB\n"
      "INFO worker.py:294] model weights take 14.99GiB; non_torch_memory takes 0.16GiB; PyTorch activation peak memory "
      "takes 1.23GiB; the rest of the memory reserved for KV Cache is 46.97GiB.\n"
      "INFO executor_base.py:113] # cuda blocks: 24048, # CPU blocks: 2340\n"
      "INFO model_runner.py:1671] Graph capturing finished in 2 secs, took 0.13 GiB\n";
  const Calibrated c = calibrated(log, llama_8b);
  const MemoryBreakdown& terms = c.memory().terms;
  CHECK(terms[MemoryTerm::activations].raw() / gib == doctest::Approx(1.23));
  CHECK(terms[MemoryTerm::cuda_graphs].raw() / gib == doctest::Approx(0.13));
  CHECK(c.told("made at memory fraction 0.800, the scenario says 0.900"));
  const double more = 0.1 * 79.18 * gib;  // a tenth of the device
  CHECK(c.memory().pool.raw() == doctest::Approx(24048 * 16 * 131072.0 + more).epsilon(1e-6));
  const Calibrated same = calibrated(log, with(llama_8b, {"serving.memory_fraction=0.8"}));
  CHECK(same.memory().pool.raw() == doctest::Approx(24048 * 16 * 131072.0));
  CHECK_FALSE(same.told("carried over"));
}

TEST_CASE("a log of another launch is refused with what differs") {
  CHECK(refusal("INFO nothing here\n", llama_8b).find("'GPU KV cache size: N tokens'") != std::string::npos);
  CHECK(refusal("", llama_8b).find("no line says how large the KV cache is") != std::string::npos);
  CHECK(refusal("max_total_num_tokens=367404\n", llama_8b).find("set serving.engine = sglang") != std::string::npos);
  CHECK(refusal("config: tensor_parallel_size=2, x\n" + blocks_log, llama_8b) ==
        "boot.log:1:1: error: this engine ran on 2 tensor ranks, the scenario's on 1; set strategy.tp, or give the log "
        "of that launch");
  CHECK(refusal("config: pipeline_parallel_size=2, x\n" + blocks_log, llama_8b).find("2 pipeline stages") !=
        std::string::npos);
  CHECK(refusal("can use total_gpu_memory (23.58GiB) x\n" + blocks_log, llama_8b) ==
        "boot.log:1:1: error: this engine saw a GPU of 23.6 GiB, and h100-sxm-80gb has 79.2 GiB; set hardware.gpu, or "
        "give the log of that launch");
  CHECK(refusal("GPU KV cache size: 800,000 tokens\n", llama_8b)
            .find("a KV pool of 97.7 GiB is more than the 79.2 GiB") != std::string::npos);
  const std::string wide = "Available KV cache memory: 8.11 GiB\nGPU KV cache size: 178,880 tokens\n";
  CHECK(refusal(wide, with(qwen_235b, {"serving.kv_cache=fp8"})).find("another model, tp or serving.kv_cache") !=
        std::string::npos);
}

TEST_CASE("numbers that are none leave a line unread, and rates of a running engine are no pool") {
  CHECK(refusal("GPU KV cache size: unknown tokens\nGPU KV cache size: -5 tokens\n", llama_8b).find("no line says") !=
        std::string::npos);
  CHECK(refusal("GPU KV cache usage: 12.5%, GPU KV cache size: 5 %\n", llama_8b).find("no line says") !=
        std::string::npos);
  CHECK(refusal("GPU KV cache size: 1.2.3 tokens\nGPU KV cache size: 0 tokens", llama_8b).find("no line says") !=
        std::string::npos);
}

TEST_CASE("where layers look back differently only bytes say the pool") {
  const std::vector<std::string> gemma{"model=gemma3-27b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=1",
                                       "serving.weights=bf16"};
  const Calibrated c = calibrated("Available KV cache memory: 11.50 GiB\nGPU KV cache size: 99 tokens\n", gemma);
  CHECK(c.memory().pool.raw() == doctest::Approx(11.5 * gib));
  CHECK(refusal("GPU KV cache size: 99 tokens\n", gemma).find("keeps several kinds of cache") != std::string::npos);
}
