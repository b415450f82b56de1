// SPDX-License-Identifier: Apache-2.0
// Writes `trtllm-serve` and the YAML of its further options. Flags: NVIDIA/TensorRT-LLM,
// tensorrt_llm/commands/serve.py; with attention-DP every rank is a group. The benchmark, tensorrt_llm/bench, starts
// its own engine.
#include <headroom/scenarios/launch/argument_tables.hpp>
#include <headroom/scenarios/launch/serve_forms.hpp>

#include <array>

namespace headroom::launch {
namespace {

using enum RowKind;

constexpr std::array tensorrt_llm_rows{
    LaunchRow{"--pp_size", "strategy.pp", count, "1"},
    LaunchRow{"--max_batch_size", "serving.max_num_seqs"},
    LaunchRow{"--max_num_tokens", "serving.max_num_tokens"},
    LaunchRow{"--max_seq_len", "serving.max_seq_len"},
    LaunchRow{"--enable_chunked_prefill", "serving.chunked_prefill", yes, "false"},
};
constexpr std::string_view yaml = "trtllm.yaml";

void write_parallelism(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::int64_t tp = plan.count("strategy.tp", 1);
  const std::int64_t ep = plan.count("strategy.ep", 1);
  const std::int64_t groups = plan.count("launch.groups", 1);
  if (groups > 1 && tp > 1) {
    throw ConfigError{"TensorRT-LLM's attention-DP makes a group of every rank: tp " + std::to_string(tp) +
                      " with ep " + std::to_string(ep) + " has none; use tp 1, or ep " + std::to_string(tp) +
                      " or less"};
  }
  if (groups * tp > 1) {
    writing.put_count("--tp_size", groups * tp);
  }
  writing.cover("strategy.tp");
  if (ep > 1) {
    writing.put_count("--ep_size", ep);
  }
  writing.cover("strategy.ep");
  note_load(writing, false, BenchGaps::gamma);
}

/// The checkpoint defines the format of weights, and with "auto" also that of the cache.
void note_formats(LaunchWriting& writing) {
  const std::string weights = writing.plan.word("serving.weights");
  if (weights == "bf16" || weights == "fp16") {
    writing.cover("serving.weights");
  } else {
    writing.miss("serving.weights", "the checkpoint's format: MODEL must be one in it");
  }
}

std::string options_yaml(LaunchWriting& writing) {
  const LaunchPlan& plan = writing.plan;
  const std::string cache = plan.word("serving.kv_cache");
  std::string text =
      "kv_cache_config:\n  free_gpu_memory_fraction: " + value_text(*plan.find("serving.memory_fraction")) + "\n";
  if (cache == "fp8" || cache == "nvfp4") {
    text += "  dtype: " + cache + "\n";
    writing.cover("serving.kv_cache");
  } else if (cache == plan.word("serving.weights")) {
    writing.cover("serving.kv_cache");
  }
  writing.cover("serving.memory_fraction");
  return text + (plan.count("launch.groups", 1) > 1 ? "enable_attention_dp: true\n" : "");
}

/// Benchmark commands; trtllm-bench has its own names for the ranks.
std::vector<std::vector<std::string>> bench_commands(const LaunchPlan& plan) {
  const BenchLoad load = bench_load(plan, false);
  if (load.rate) {
    return {tensorrt_llm_bench(load)};
  }
  const auto count = [&](std::string_view key) { return std::to_string(plan.count(key, 1)); };
  std::vector<std::string> run{"trtllm-bench --model \"$MODEL\" throughput", "--backend pytorch",
                               "--dataset dataset.jsonl",
                               "--tp " + std::to_string(plan.count("launch.groups", 1) * plan.count("strategy.tp", 1)),
                               "--pp " + count("strategy.pp")};
  if (plan.count("strategy.ep", 1) > 1) {
    run.push_back("--ep " + count("strategy.ep"));
  }
  for (const std::string& word :
       {"--max_batch_size " + count("serving.max_num_seqs"), "--max_num_tokens " + count("serving.max_num_tokens"),
        "--max_seq_len " + count("serving.max_seq_len"),
        "--kv_cache_free_gpu_mem_fraction " + value_text(*plan.find("serving.memory_fraction")),
        "--concurrency " + std::to_string(load.concurrency), std::string{"--streaming"},
        "--extra_llm_api_options " + std::string{yaml}}) {
    run.push_back(word);
  }
  return {{"trtllm-bench --model \"$MODEL\" prepare-dataset --output dataset.jsonl token-norm-dist",
           "--num-requests " + std::to_string(load.prompts), "--input-mean " + count("serving.isl"), "--input-stdev 0",
           "--output-mean " + count("serving.osl"), "--output-stdev 0"},
          std::move(run)};
}

std::string launcher(const LaunchPlan& plan) {
  const std::int64_t per_node = plan.count("launch.gpus_per_node", 1);
  const std::int64_t gpus =
      plan.count("launch.groups", 1) * plan.count("strategy.tp", 1) * plan.count("strategy.pp", 1);
  if (gpus <= per_node) {
    return "trtllm-serve \"$MODEL\"";
  }
  return "srun --nodes=" + std::to_string((gpus + per_node - 1) / per_node) + " --ntasks=" + std::to_string(gpus) +
         " --ntasks-per-node=" + std::to_string(per_node) + " --mpi=pmix trtllm-llmapi-launch trtllm-serve \"$MODEL\"";
}

}  // namespace

std::string write_tensorrt_llm(LaunchWriting& writing) {
  write_parallelism(writing);
  write_rows(tensorrt_llm_rows, writing);
  std::string options = options_yaml(writing);
  note_formats(writing);
  return options;
}

std::vector<std::string> tensorrt_llm_bench(const BenchLoad& load) {
  return random_bench({"python -m tensorrt_llm.serve.scripts.benchmark_serving", "--backend openai",
                       "--model \"$MODEL\"", "--dataset-name random", "--random-ids"},
                      load);
}

LaunchText tensorrt_llm_text(const LaunchPlan& plan) {
  LaunchWriting writing{plan};
  const std::string options = write_tensorrt_llm(writing);
  note_arguments("tensorrt-llm", "server", writing);
  note_serving_gaps("TensorRT-LLM", writing);
  ServeScript script;
  if (plan.has("traffic.rate")) {
    script.head = {"TensorRT-LLM: 'bash FILE' " + bench_promise(plan)};
  } else {
    script.head = {
        "TensorRT-LLM: 'bash FILE' starts the server; 'bash FILE bench' runs the plan's load on an engine of",
        "its own, on the same GPUs"};
  }
  script.before = "cat > " + std::string{yaml} + " <<'EOF'\n" + options + "EOF\n";
  script.server = {launcher(plan)};
  const std::vector<std::string> words = words_of_items(writing.items);
  script.server.insert(script.server.end(), words.begin(), words.end());
  script.server.push_back("--extra_llm_api_options " + std::string{yaml});
  script.bench = bench_commands(plan);
  return script_text(plan, writing, script);
}

void read_tensorrt_llm_text(const ConfigSource& source, LaunchReading& /*reading*/) {
  throw ConfigError{{Diagnostic{source.file,
                                {},
                                "launches of TensorRT-LLM are written and not read: half of their settings lie in a "
                                "YAML file; state the scenario in TOML (docs/scenario-format.md, serving)"}}};
}

}  // namespace headroom::launch
