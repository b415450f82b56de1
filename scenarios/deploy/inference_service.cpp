// SPDX-License-Identifier: Apache-2.0
// Writes an InferenceService of KServe on its Hugging Face runtime, whose engine is vLLM. Fields: kserve/kserve
// v0.20.0, pkg/apis/serving/v1beta1/{predictor,component}.go (minReplicas, maxReplicas, model, workerSpec with
// pipelineParallelSize and tensorParallelSize); arguments of the runtime: its documentation, Hugging Face LLM serving
// runtime (options of vLLM behind --model_name and --model_id).
#include <headroom/scenarios/deploy/deploy_forms.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::deploy {

using namespace launch;

LaunchText inference_service_text(const LaunchPlan& plan) {
  if (plan.word("serving.engine") != "vllm") {
    throw ConfigError{"KServe's Hugging Face runtime runs vLLM, and the scenario's engine is " +
                      quoted(plan.word("serving.engine")) + "; use --to kubernetes, or --set serving.engine=vllm"};
  }
  const Replicas replicas = replicas_of(plan);
  const std::int64_t tp = plan.count("strategy.tp", 1);
  const std::int64_t pp = plan.count("strategy.pp", 1);
  if (replicas.hosts > 1 && (pp != replicas.hosts || tp != replicas.host_gpus)) {
    throw ConfigError{
        "an InferenceService spreads a replica over hosts as pipeline ranks, one host each, and this one's "
        "tp " +
        std::to_string(tp) + " and pp " + std::to_string(pp) + " lie on " + std::to_string(replicas.hosts) +
        " hosts of " + std::to_string(replicas.host_gpus) + " GPUs; use --to leaderworkerset"};
  }
  LaunchWriting writing{replicas.one};
  static_cast<void>(write_engine(writing));
  note_front(replicas, "the service's gateway spreads connections, whatever the replicas have to do", writing);
  const std::string version = plan.word("serving.engine_version");
  writing.cover("serving.engine_version");
  writing.notes.push_back(
      {"serving.engine_version", (version.empty() ? std::string{"the release of vLLM"} : "vLLM " + version) +
                                     " (the runtime's image of the installed KServe decides it)"});
  note_serving_gaps("KServe", writing);
  const std::string name = workload_name(plan);
  std::vector<std::string> arguments{"--model_name=" + name, "--model_id=" + pod_word(checkpoint_of(plan))};
  constexpr std::array<std::string_view, 2> by_workers{"--tensor-parallel-size", "--pipeline-parallel-size"};
  LaunchItems kept;
  for (const LaunchItem& item : writing.items.all()) {
    if (replicas.hosts == 1 || std::find(by_workers.begin(), by_workers.end(), item.name) == by_workers.end()) {
      kept.put(item.name, item.value);
    }
  }
  for (std::string& word : arguments_of_items(kept)) {
    arguments.push_back(pod_word(std::move(word)));
  }
  std::vector<ConfigEntry> predictor{
      {"minReplicas", count_value(replicas.count)},
      {"maxReplicas", count_value(replicas.count)},
      {"model", table_value({{"modelFormat", named_object("huggingface")},
                             {"args", words_value(arguments)},
                             {"resources", gpu_limits(plan, replicas.host_gpus)}})},
  };
  if (replicas.hosts > 1) {
    predictor.push_back(
        {"workerSpec",
         table_value(
             {{"pipelineParallelSize", count_value(pp)},
              {"tensorParallelSize", count_value(tp)},
              {"containers", list_value({table_value({{"name", word_value("worker-container")},
                                                      {"resources", gpu_limits(plan, replicas.host_gpus)}})})}})});
  }
  const ConfigValue service = table_value({{"apiVersion", word_value("serving.kserve.io/v1beta1")},
                                           {"kind", word_value("InferenceService")},
                                           {"metadata", named_object(name)},
                                           {"spec", table_value({{"predictor", table_value(std::move(predictor))}})}});
  const std::vector<std::string> head{
      "'kubectl apply -f FILE' starts " + replica_words(replicas) + " on the runtime kserve-huggingfaceserver",
      bench_comment(replicas, engine_bench(replicas.one), "http://" + name + ".NAMESPACE.DOMAIN/openai") +
          " --served-model-name " + name,
      "to add: the token of gated checkpoints as HF_TOKEN, CPU, memory and the nodes' selector"};
  return {comment_head(replicas.one, head, writing.notes) + yaml_text(service), writing.notes};
}

}  // namespace headroom::deploy
