// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/deploy/deploy_forms.hpp>
#include <headroom/scenarios/launch/argument_tables.hpp>

#include <utility>

namespace headroom::deploy {

using namespace launch;

std::string write_engine(LaunchWriting& writing) {
  const std::string engine = writing.plan.word("serving.engine");
  if (engine == "vllm") {
    write_vllm(writing, HostsBy::form);
    note_arguments("vllm", "server", writing);
    return {};
  }
  if (engine == "sglang") {
    write_sglang(writing);
    note_arguments("sglang", "server", writing);
    return {};
  }
  if (engine == "tensorrt-llm") {
    std::string options = write_tensorrt_llm(writing);
    note_arguments("tensorrt-llm", "server", writing);
    return options;
  }
  throw ConfigError{"no launch line is known of engine " + quoted(engine) + "; known: vllm, sglang and tensorrt-llm"};
}

std::vector<std::string> engine_command(const LaunchWriting& writing) {
  const std::string engine = writing.plan.word("serving.engine");
  const std::string model = checkpoint_of(writing.plan);
  std::vector<std::string> words =
      engine == "vllm"     ? std::vector<std::string>{"vllm", "serve", model}
      : engine == "sglang" ? std::vector<std::string>{"python3", "-m", "sglang.launch_server", "--model-path", model}
                           : std::vector<std::string>{"trtllm-serve", model};
  for (std::string& word : arguments_of_items(writing.items)) {
    words.push_back(std::move(word));
  }
  return words;
}

std::vector<std::string> engine_bench(const LaunchPlan& plan) {
  const std::string engine = plan.word("serving.engine");
  const BenchLoad load = bench_load(plan, true);
  return engine == "vllm" ? vllm_bench(load) : engine == "sglang" ? sglang_bench(load) : tensorrt_llm_bench(load);
}

std::string image_of_engine(LaunchWriting& writing) {
  const std::string engine = writing.plan.word("serving.engine");
  return engine == "vllm"     ? engine_image("vllm/vllm-openai", "v", writing)
         : engine == "sglang" ? engine_image("lmsysorg/sglang", "v", writing)
                              : engine_image("nvcr.io/nvidia/tensorrt-llm/release", "", writing);
}

void note_front(const Replicas& replicas, std::string_view front, LaunchWriting& writing) {
  if (replicas.count > 1) {
    writing.miss("fleet.routing", front);
  }
}

ConfigValue named_object(const std::string& name) {
  return table_value({{"name", word_value(name)}});
}

ConfigValue gpu_limits(const LaunchPlan& plan, std::int64_t gpus) {
  return table_value({{"limits", table_value({{gpu_resource(plan), word_value(std::to_string(gpus))}})}});
}

bool is_serving(const LaunchPlan& plan) {
  return plan.word("launch.kind") == "serve";
}

std::string workload_name(const LaunchPlan& plan) {
  return cluster_name(plan.word("launch.model", "training"));
}

}  // namespace headroom::deploy
