// SPDX-License-Identifier: Apache-2.0
// Launch lines of serving engines: what they say, and that what is written is what is read.
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

const std::vector<std::string> llama{"model=llama3-70b", "serving.weights=bf16"};
const std::vector<std::string> qwen_experts{"model=qwen3-235b-a22b", "serving.weights=fp8"};

Scenario asked(std::vector<std::string> some, const std::vector<std::string>& more) {
  std::vector<std::string> all{"kind=serve",      "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8", "serving.isl=2048",
                               "serving.osl=256", "serving.concurrency=64"};
  all.insert(all.end(), some.begin(), some.end());
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

std::string exported(const Scenario& scenario) {
  const auto& serve = std::get<ServeScenario>(scenario.question);
  const LaunchForm form = serve.engine.engine == Engine::vllm     ? LaunchForm::vllm
                          : serve.engine.engine == Engine::sglang ? LaunchForm::sglang
                                                                  : LaunchForm::tensorrt_llm;
  return export_launch(scenario, serve, form).text;
}

std::string line_of(const std::vector<std::string>& model, const std::vector<std::string>& more) {
  return exported(asked(model, more));
}

bool says(const std::string& text, const std::string& words) {
  return text.find("    " + words + " \\\n") != std::string::npos ||
         text.find("    " + words + "\n") != std::string::npos;
}

std::string refusal(const std::vector<std::string>& model, const std::vector<std::string>& more) {
  try {
    static_cast<void>(line_of(model, more));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

ImportedLaunch read(const std::string& text, std::vector<std::string> assignments) {
  assignments.insert(assignments.begin(), "hardware.gpu=h100-sxm-80gb");
  return import_launch({"serve.sh", text}, {std::nullopt, std::move(assignments), false}, sources());
}

ServeScenario serve_of(const ImportedLaunch& launch) {
  return std::get<ServeScenario>(launch.scenario.question);
}

std::string problems(const std::string& text, const std::vector<std::string>& assignments) {
  try {
    static_cast<void>(read(text, assignments));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

const std::vector<std::string> load{"serving.isl=1000", "serving.osl=100", "serving.concurrency=8"};

void check_same(const ServeScenario& ours, const ServeScenario& theirs) {
  CHECK(theirs.architecture.id == ours.architecture.id);
  CHECK(theirs.engine.engine == ours.engine.engine);
  const ServingWorkload& a = ours.work;
  const ServingWorkload& b = theirs.work;
  CHECK(b.gpus == a.gpus);
  CHECK(b.layout.tp == a.layout.tp);
  CHECK(b.layout.pp == a.layout.pp);
  CHECK(b.layout.ep == a.layout.ep);
  CHECK(b.isl == a.isl);
  CHECK(b.osl == a.osl);
  CHECK(b.concurrency == a.concurrency);
  CHECK(b.weights == a.weights);
  CHECK(b.kv == a.kv);
  CHECK(b.memory_fraction == a.memory_fraction);
  CHECK(b.max_num_seqs == a.max_num_seqs);
  CHECK(b.max_num_tokens == a.max_num_tokens);
  CHECK(b.limits().sequence_tokens == a.limits().sequence_tokens);
  CHECK(theirs.chunked_prefill == ours.chunked_prefill);
}

}  // namespace

TEST_CASE("what vLLM and SGLang are launched with comes back as the same question") {
  const std::vector<std::vector<std::string>> dense{
      {"strategy.tp=8"},
      {"strategy.tp=4", "strategy.pp=2", "serving.kv_cache=fp8"},
      {"strategy.tp=4", "serving.max_num_seqs=31", "serving.max_num_tokens=4096", "serving.memory_fraction=0.85"},
      {"strategy.tp=2", "serving.weights=fp8", "serving.max_seq_len=4096"},
      {"strategy.tp=8", "serving.weights=fp16", "serving.kv_cache=fp16", "serving.chunked_prefill=false"},
  };
  const std::vector<std::vector<std::string>> experts{
      {"strategy.tp=8"},
      {"strategy.tp=8", "strategy.ep=8"},
      {"strategy.tp=1", "strategy.ep=8", "serving.max_num_seqs=64", "serving.max_num_tokens=2048"},
      {"strategy.tp=2", "strategy.ep=8", "serving.kv_cache=fp8"},
  };
  for (const char* engine : {"serving.engine=vllm", "serving.engine=sglang"}) {
    for (const bool moe : {false, true}) {
      for (std::vector<std::string> more : moe ? experts : dense) {
        more.emplace_back(engine);
        const Scenario scenario = asked(moe ? qwen_experts : llama, more);
        const std::string text = exported(scenario);
        CAPTURE(text);
        check_same(std::get<ServeScenario>(scenario.question), serve_of(read(text, {})));
      }
    }
  }
}

TEST_CASE("vLLM: data ranks are replicas of dense models and attention groups of those with experts") {
  const std::string dense = line_of(llama, {"strategy.tp=4"});
  CHECK(says(dense, "--tensor-parallel-size 4"));
  CHECK(says(dense, "--data-parallel-size 2"));
  CHECK(says(dense, "--max-concurrency 64"));
  const std::string groups = line_of(qwen_experts, {"strategy.tp=2", "strategy.ep=8"});
  CHECK(says(groups, "--tensor-parallel-size 2"));
  CHECK(says(groups, "--data-parallel-size 4"));
  CHECK(says(groups, "--enable-expert-parallel"));
  CHECK(says(groups, "--quantization fp8"));
  // Experts would be shared between data ranks: replicas are servers of their own.
  const std::string apart = line_of(qwen_experts, {"strategy.tp=4"});
  CHECK_FALSE(says(apart, "--data-parallel-size 2"));
  CHECK(apart.find("# not expressed: strategy.dp = 2 (one server a replica") != std::string::npos);
  CHECK(says(apart, "--max-concurrency 32"));
  CHECK(says(apart, "--num-prompts 256"));
  CHECK(refusal(qwen_experts, {"strategy.tp=8", "strategy.ep=4"}).find("use ep 1 or ep 8") != std::string::npos);
}

TEST_CASE("SGLang counts all ranks as tensor ranks, and limits of all attention groups together") {
  const std::string text = line_of(qwen_experts, {"strategy.tp=2", "strategy.ep=8", "serving.engine=sglang",
                                                  "serving.max_num_seqs=64", "serving.max_num_tokens=2048"});
  CHECK(says(text, "--tp-size 8"));
  CHECK(says(text, "--dp-size 4"));
  CHECK(says(text, "--enable-dp-attention"));
  CHECK(says(text, "--max-running-requests 256"));
  CHECK(says(text, "--chunked-prefill-size 8192"));
  CHECK(says(text, "--random-range-ratio 1.0"));
  const std::string whole = line_of(llama, {"strategy.tp=8", "serving.engine=sglang", "serving.chunked_prefill=false",
                                            "serving.max_num_tokens=4096", "serving.kv_cache=fp8"});
  CHECK(says(whole, "--chunked-prefill-size -1"));
  CHECK(says(whole, "--max-prefill-tokens 4096"));
  CHECK(says(whole, "--kv-cache-dtype fp8_e4m3"));
}

TEST_CASE("TensorRT-LLM: what has no flag stands in its YAML, and the benchmark has the same limits") {
  const std::string text = line_of(qwen_experts, {"strategy.tp=1", "strategy.ep=8", "serving.engine=tensorrt-llm",
                                                  "serving.max_num_tokens=1024", "serving.memory_fraction=0.85"});
  CHECK(says(text, "--tp_size 8"));
  CHECK(says(text, "--ep_size 8"));
  CHECK(says(text, "--tp 8"));
  CHECK(says(text, "--ep 8"));
  CHECK(says(text, "--enable_chunked_prefill"));  // a prompt of 2048 in steps of 1024
  CHECK(text.find("enable_attention_dp: true\n") != std::string::npos);
  CHECK(text.find("  free_gpu_memory_fraction: 0.85\n  dtype: fp8\n") != std::string::npos);
  CHECK(says(text, "--kv_cache_free_gpu_mem_fraction 0.85"));
  CHECK(refusal(qwen_experts, {"strategy.tp=2", "strategy.ep=8", "serving.engine=tensorrt-llm"}).find("use tp 1") !=
        std::string::npos);
  CHECK(problems(text, {}).find("written and not read") != std::string::npos);
}

TEST_CASE("a replica of several hosts starts on all of them") {
  const std::vector<std::string> wide{"hardware.gpus=16", "strategy.tp=8", "strategy.pp=2"};
  CHECK(says(line_of(llama, wide), "--distributed-executor-backend ray"));
  std::vector<std::string> more = wide;
  more.emplace_back("serving.engine=sglang");
  CHECK(says(line_of(llama, more), "--nnodes 2"));
  CHECK(says(line_of(llama, more), "--node-rank \"$NODE_RANK\""));
  more.back() = "serving.engine=tensorrt-llm";
  CHECK(line_of(llama, more).find("srun --nodes=2 --ntasks=16 --ntasks-per-node=8") != std::string::npos);
}

TEST_CASE("wide experts are launched as they are predicted: balanced, and over NICs with halves of a batch in turn") {
  const std::vector<std::string> deepseek{"model=deepseek-v3", "serving.weights=fp8"};
  std::vector<std::string> wide{"hardware.gpus=32", "strategy.tp=1", "strategy.ep=32", "serving.engine=sglang"};
  const std::string sglang = line_of(deepseek, wide);
  CHECK(says(sglang, "--enable-eplb"));
  CHECK(says(sglang, "--enable-two-batch-overlap"));
  CHECK(says(sglang, "--moe-a2a-backend deepep"));
  CHECK(sglang.find("not expressed: serving.balanced_experts") == std::string::npos);
  CHECK(sglang.find("not expressed: serving.two_batch_overlap") == std::string::npos);
  const ServingLayout layout = serve_of(read(sglang, {})).work.layout;
  CHECK(layout.balanced);
  CHECK(layout.two_batches);
  wide.back() = "serving.engine=vllm";
  const std::string vllm = line_of(deepseek, wide);
  CHECK(says(vllm, "--enable-eplb"));
  CHECK(says(vllm, "--enable-dbo"));
  CHECK(says(vllm, "--all2all-backend deepep_low_latency"));
  CHECK(vllm.find("--enable-dbo goes with deepep alone") == std::string::npos);
  // NVLink between hosts is planned with kernels that --enable-dbo does not go with: the launch tells.
  std::vector<std::string> rack = wide;
  rack.insert(rack.end(), {"hardware.gpu=gb200", "serving.two_batch_overlap=true"});
  const std::string dbo = line_of(deepseek, rack);
  CHECK(says(dbo, "--all2all-backend deepep_low_latency"));
  CHECK(dbo.find("this launch runs deepep_low_latency; the plan's times are of flashinfer_nvlink_two_sided") !=
        std::string::npos);
  // The kernels that the plan takes are the launch's to choose, with or without halves.
  wide.emplace_back("serving.two_batch_overlap=false");
  CHECK(says(line_of(deepseek, wide), "--all2all-backend deepep_low_latency"));
  wide.emplace_back("serving.pool=prefill");
  CHECK(says(line_of(deepseek, wide), "--all2all-backend deepep_high_throughput"));
  wide.emplace_back("serving.redundant_experts=32");
  const std::string redundant = line_of(deepseek, wide);
  CHECK(redundant.find("num_redundant_experts\": 32") != std::string::npos);
  CHECK(serve_of(read(redundant, {})).work.layout.redundant == 32);
  wide.resize(4);
  wide.back() = "serving.engine=sglang";
  wide.emplace_back("serving.two_batch_overlap=false");
  CHECK(says(line_of(deepseek, wide), "--moe-a2a-backend deepep"));
  wide.pop_back();
  wide.back() = "serving.engine=tensorrt-llm";
  const std::string other = line_of(deepseek, wide);
  CHECK(other.find("not expressed: serving.balanced_experts = true (it takes a file") != std::string::npos);
  CHECK(other.find("not expressed: serving.two_batch_overlap = true (no key of this engine") != std::string::npos);
}

TEST_CASE("what a launch line cannot say is told") {
  const std::string text = line_of(llama, {"strategy.tp=8", "serving.weights=int4", "serving.kv_cache=int8",
                                           "serving.speculative.draft=3", "serving.speculative.acceptance=0.7",
                                           "serving.speculative.method=eagle", "serving.speculative.draft_time=1 ms"});
  CHECK(text.find("# not expressed: serving.weights = \"int4\" (the checkpoint's format") != std::string::npos);
  CHECK(text.find("# not expressed: serving.kv_cache = \"int8\"") != std::string::npos);
  CHECK(text.find("# not expressed: serving.speculative.draft = 3") != std::string::npos);
  CHECK(text.find("MODEL=meta-llama/Meta-Llama-3-70B\n") != std::string::npos);
  // Another network than its preset's repository holds.
  const std::string own =
      line_of({"model.base=llama3-70b", "model.layers=64", "serving.weights=bf16"}, {"strategy.tp=8"});
  CHECK(own.find("MODEL=llama3-70b\n") != std::string::npos);
  CHECK(own.find("set MODEL to its checkpoint") != std::string::npos);
}

TEST_CASE("a draft is told to vLLM as its configuration spells it, and to the others not yet") {
  const std::vector<std::string> draft{"strategy.tp=8",
                                       "model=llama3.1-70b",
                                       "serving.speculative.draft=4",
                                       "serving.speculative.acceptance=0.7",
                                       "serving.speculative.draft_model=llama3.2-1b",
                                       "serving.speculative.draft_tp=1"};
  const std::string text = line_of(llama, draft);
  CHECK_MESSAGE(text.find(R"(--speculative-config '{"method": "draft_model", "model": "meta-llama/Llama-3.2-1B", )"
                          R"("num_speculative_tokens": 4, "draft_tensor_parallel_size": 1}')") != std::string::npos,
                text);
  CHECK(text.find("not expressed: serving.speculative") == std::string::npos);
  const std::string prompt = line_of(llama, {"strategy.tp=8", "serving.speculative.draft=2",
                                             "serving.speculative.acceptance=0.7", "serving.speculative.method=ngram"});
  CHECK(prompt.find(R"(--speculative-config '{"method": "ngram", "num_speculative_tokens": 2}')") != std::string::npos);
  // and back; what is accepted stays the requests' to say
  std::vector<std::string> more = load;
  more.emplace_back("serving.speculative.acceptance=0.7");
  const std::string line =
      R"(vllm serve Qwen/Qwen2.5-72B -q fp8 -tp 4 --speculative-config '{"model": "Qwen/Qwen2.5-0.5B", )"
      R"("num_speculative_tokens": 5, "draft_tensor_parallel_size": 1, "quantization": "fp8"}')";
  const ServeScenario back = serve_of(read(line + "\n", more));
  REQUIRE(back.work.draft);
  CHECK(back.work.draft->model->id == "qwen2.5-0.5b");
  CHECK(back.work.draft->speculation.draft == 5);
  CHECK(back.work.draft->tp == 1);
  CHECK(back.work.draft->weights == Precision::fp8);
  CHECK(problems(line + "\n", load).find("speculative decoding without 'acceptance'") != std::string::npos);
  CHECK(problems("vllm serve Qwen/Qwen3-32B -q fp8 --speculative-config eagle\n", load).find("it is one JSON object") !=
        std::string::npos);
  std::vector<std::string> other = draft;
  other.emplace_back("serving.engine=sglang");
  CHECK(line_of(llama, other).find("# not expressed: serving.speculative.draft = 4") != std::string::npos);
}

TEST_CASE("a form of another engine, or of training, is refused with the one to take") {
  const Scenario scenario = asked(llama, {"strategy.tp=8"});
  const auto& serve = std::get<ServeScenario>(scenario.question);
  const auto why = [&](LaunchForm form) -> std::string {
    try {
      static_cast<void>(export_launch(scenario, serve, form));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "none";
  };
  CHECK(why(LaunchForm::sglang) ==
        "error: the scenario's engine is 'vllm', and form 'sglang' is another's; use --to vllm, or --set "
        "serving.engine=sglang");
  CHECK(why(LaunchForm::slurm).find("launches training; use --to vllm") != std::string::npos);
  CHECK(why(LaunchForm::vllm) == "none");
}

TEST_CASE("lines as people write them are read") {
  std::vector<std::string> more = load;
  more.emplace_back("serving.weights=bf16");
  const ServeScenario vllm = serve_of(
      read("export HF_HOME=/data\nTP=4\nnohup vllm serve meta-llama/Llama-3.1-70B-Instruct -tp $TP --dtype=auto "
           "--max_model_len 8192 --gpu-memory-utilization=0.92 --port 8000 --enable-prefix-caching\n",
           more));
  CHECK(vllm.architecture.id == "llama3.1-70b");
  CHECK(vllm.work.layout.tp == 4);
  CHECK(vllm.work.gpus == 4);
  CHECK(vllm.work.memory_fraction == 0.92);
  CHECK(vllm.work.max_seq_len == 8192);
  const ServeScenario module = serve_of(read(
      "python -m vllm.entrypoints.openai.api_server --model Qwen/Qwen3-32B --tensor-parallel-size 2 -dp 2 -q fp8\n",
      load));
  CHECK(module.architecture.id == "qwen3-32b");
  CHECK(module.work.gpus == 4);
  CHECK(module.work.weights == Precision::fp8);
  const ServeScenario sglang =
      serve_of(read("python3 -m sglang.launch_server --model Qwen/Qwen3-235B-A22B --tp 8 --dp 8 --enable-dp-attention "
                    "--quantization fp8 --chunked-prefill-size 16384 --mem-fraction-static 0.8\n",
                    load));
  CHECK(sglang.work.layout.tp == 1);
  CHECK(sglang.work.layout.ep == 8);
  CHECK(sglang.work.gpus == 8);
  CHECK(sglang.work.max_num_tokens == 2048);
}

TEST_CASE("what a serving line lacks or contradicts is listed at once") {
  const std::string lacks = problems("vllm serve acme/unheard-of --tensor-parallel-size two\n", {});
  for (const char* part : {"no preset is called 'acme/unheard-of'; give --model", "'--tensor-parallel-size' is 'two'",
                           "missing key 'isl'", "give --isl", "give --osl", "give --concurrency"}) {
    CHECK_MESSAGE(lacks.find(part) != std::string::npos, part, "\nnot in\n", lacks);
  }
  CHECK(problems("vllm serve Qwen/Qwen3-32B --max-num-sequs 4\n", load).find("did you mean '--max-num-seqs'?") !=
        std::string::npos);
  CHECK(problems("vllm serve Qwen/Qwen3-235B-A22B -tp 4 -dp 2 -q fp8\n", load).find("add --enable-expert-parallel") !=
        std::string::npos);
  CHECK(problems("vllm serve Qwen/Qwen3-32B -q aqw\n", load).find("did you mean 'awq'?") != std::string::npos);
  CHECK(problems("python -m sglang.launch_server --model Qwen/Qwen3-32B --tp 8 --dp 3 --enable-dp-attention\n", load)
            .find("--tp-size 8 does not divide by --dp-size 3") != std::string::npos);
}

TEST_CASE("GPTQ's own kernels are asked for by vLLM's flag, which is read back, and refused where they do not exist") {
  const std::vector<std::string> gptq{"strategy.tp=2", "serving.weights=int4", "serving.quantization=gptq"};
  const std::string text = line_of(llama, gptq);
  CHECK(says(text, "--quantization gptq"));
  CHECK(says(text, "--dtype float16"));
  CHECK(text.find("not expressed: serving.quantization") == std::string::npos);
  const ServingWorkload& back = serve_of(read(text, {})).work;
  CHECK(back.weights == Precision::int4);
  CHECK(back.weight_kernels == WeightKernels::gptq);
  CHECK(line_of(llama, {"strategy.tp=2", "serving.weights=int4"}).find("--quantization") == std::string::npos);
  std::vector<std::string> other = gptq;
  other.emplace_back("serving.engine=sglang");
  CHECK(refusal(llama, other).find("'quantization' is an option of vLLM, and the engine is SGLang") !=
        std::string::npos);
  CHECK(refusal(llama, {"serving.weights=bf16", "serving.quantization=gptq"})
            .find("'quantization' gptq multiplies int4 and int8 weights, and 'weights' is bf16") != std::string::npos);
  CHECK(refusal({"model=mixtral-8x7b"}, gptq)
            .find("'quantization' gptq has no kernels for the experts of mixtral-8x7b") != std::string::npos);
}
