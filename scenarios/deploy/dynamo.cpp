// SPDX-License-Identifier: Apache-2.0
// Writes a DynamoGraphDeployment: a frontend and workers of one engine, of which some may prefill alone. Fields:
// ai-dynamo/dynamo @ 0044eb9, examples/backends/vllm/deploy/disagg-multinode.yaml (multinode.nodeCount: limits are
// those of one of its nodes), @ 04521f4, examples/backends/{sglang,trtllm}/deploy/disagg.yaml; nvidia.com_dynamograph-
// deployments.yaml (nvidia.com/v1alpha1).
#include <headroom/scenarios/deploy/deploy_forms.hpp>

#include <algorithm>
#include <utility>

namespace headroom::deploy {
namespace {

using namespace launch;

struct DynamoEngine {
  std::string_view engine, backend, image, module, model_flag;
  std::vector<std::string> prefill, decode;  ///< arguments of workers of one kind
};

DynamoEngine dynamo_engine(const std::string& engine) {
  if (engine == "vllm") {
    return {"vllm", "vllm", "nvcr.io/nvidia/ai-dynamo/vllm-runtime", "dynamo.vllm", "--model", {"--is-prefill-worker"},
            {}};
  }
  if (engine == "sglang") {
    return {"sglang",
            "sglang",
            "nvcr.io/nvidia/ai-dynamo/sglang-runtime",
            "dynamo.sglang",
            "--model-path",
            {"--disaggregation-mode", "prefill"},
            {"--disaggregation-mode", "decode"}};
  }
  return {"tensorrt-llm",
          "trtllm",
          "nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime",
          "dynamo.trtllm",
          "--model-path",
          {"--disaggregation-mode", "prefill"},
          {"--disaggregation-mode", "decode"}};
}

ConfigValue container(const std::string& image, std::vector<ConfigEntry> more) {
  std::vector<ConfigEntry> entries{{"image", word_value(image)}};
  entries.insert(entries.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return table_value({{"mainContainer", table_value(std::move(entries))}});
}

/// Workers that hold replicas of one layout; `kind`: "prefill", "decode", or empty where each does both.
ConfigValue workers(const Replicas& replicas,
                    const DynamoEngine& engine,
                    const std::string& image,
                    std::string_view kind,
                    const LaunchWriting& writing) {
  std::vector<std::string> arguments{std::string{engine.model_flag}, pod_word(checkpoint_of(writing.plan))};
  for (std::string& word : arguments_of_items(writing.items)) {
    arguments.push_back(pod_word(std::move(word)));
  }
  const std::vector<std::string>& own = kind == "prefill" ? engine.prefill : engine.decode;
  if (!kind.empty()) {
    arguments.insert(arguments.end(), own.begin(), own.end());
  }
  std::vector<ConfigEntry> worker{{"envFromSecret", word_value("hf-token-secret")},
                                  {"componentType", word_value("worker")}};
  if (!kind.empty()) {
    worker.push_back({"subComponentType", word_value(kind)});
  }
  worker.push_back({"replicas", count_value(replicas.count)});
  if (replicas.hosts > 1) {
    worker.push_back({"multinode", table_value({{"nodeCount", count_value(replicas.hosts)}})});
  }
  worker.push_back(
      {"resources", table_value({{"limits", table_value({{"gpu", word_value(std::to_string(replicas.host_gpus))}})}})});
  worker.push_back(
      {"extraPodSpec", container(image, {{"command", words_value({"python3", "-m", std::string{engine.module}})},
                                         {"args", words_value(arguments)}})});
  return table_value(std::move(worker));
}

/// The plan of the replicas that prefill: their own tp, no groups and no pipeline.
LaunchPlan prefill_plan(LaunchPlan plan, const PrefillPool& pool) {
  plan.set("strategy.tp", count_value(pool.tp));
  plan.set("strategy.pp", count_value(1));
  plan.set("launch.groups", count_value(1));
  plan.set("launch.replicas", count_value(pool.replicas.value_or(1)));
  plan.set("launch.servers", count_value(pool.replicas.value_or(1)));
  plan.set("hardware.gpus", count_value(product(pool.replicas.value_or(1), pool.tp)));
  plan.erase("fleet.spare");
  return plan;
}

}  // namespace

LaunchText dynamo_text(const LaunchPlan& plan, const std::optional<PrefillPool>& prefill) {
  if (plan.word("launch.vendor") != "nvidia") {
    throw ConfigError{"Dynamo's workers ask for GPUs of NVIDIA, and the plan's are " +
                      quoted(plan.word("hardware.gpu")) + "; use --to kubernetes or leaderworkerset"};
  }
  const Replicas replicas = replicas_of(plan);
  LaunchWriting writing{replicas.one};
  const DynamoEngine engine = dynamo_engine(plan.word("serving.engine"));
  const std::string options = write_engine(writing);
  note_front(replicas, "the frontend spreads requests round robin unless DYN_ROUTER_MODE says otherwise", writing);
  if (prefill) {
    writing.cover("fleet.prefill");
    if (!prefill->replicas) {
      writing.notes.push_back(
          {"fleet.prefill", "fleet.prefill.replicas (the plan states no number of them: 1 is written)"});
    }
  }
  const std::string image = std::string{engine.image} + ":latest";
  writing.notes.push_back({"serving.engine_version", "image " + image +
                                                         " (its tag is a release of Dynamo, which no "
                                                         "scenario states: name the one whose engine is meant)"});
  writing.cover("serving.engine_version");
  note_serving_gaps("Dynamo", writing);
  std::vector<ConfigEntry> services{
      {"Frontend", table_value({{"componentType", word_value("frontend")},
                                {"replicas", count_value(1)},
                                {"extraPodSpec", container(image, {})}})},
      {"decode", workers(replicas, engine, image, prefill ? "decode" : "", writing)},
  };
  if (prefill) {
    const Replicas first = replicas_of(prefill_plan(plan, *prefill));
    LaunchWriting prompts{first.one};
    static_cast<void>(write_engine(prompts));
    services.push_back({"prefill", workers(first, engine, image, "prefill", prompts)});
  }
  const std::string name = workload_name(plan);
  const ConfigValue graph = table_value({{"apiVersion", word_value("nvidia.com/v1alpha1")},
                                         {"kind", word_value("DynamoGraphDeployment")},
                                         {"metadata", named_object(name)},
                                         {"spec", table_value({{"backendFramework", word_value(engine.backend)},
                                                               {"services", table_value(std::move(services))}})}});
  const std::string address = "http://" + name + "-frontend:8000";
  std::vector<std::string> head{"'kubectl apply -f FILE' starts " + replica_words(replicas) +
                                    (prefill ? " that decode, and those that prefill" : "") + "; they answer at " +
                                    address,
                                bench_comment(replicas, engine_bench(replicas.one), address),
                                "to add: secret hf-token-secret with the key HF_TOKEN, a cache of the checkpoint"};
  if (!options.empty()) {
    head.emplace_back("options without a flag go to a file that --extra-engine-args names:");
    for (std::string_view rest = options; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      head.push_back("  " + std::string{rest.substr(0, end)});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {comment_head(replicas.one, head, writing.notes) + yaml_text(graph), writing.notes};
}

}  // namespace headroom::deploy
