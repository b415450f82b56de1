// SPDX-License-Identifier: Apache-2.0
// Writes an LLMInferenceService of KServe, whose runtime is vLLM. Fields: kserve/kserve v0.20.0,
// pkg/apis/serving/v1alpha2/llm_inference_service_types.go; which of them become flags:
// config/llmisvcconfig/config-llm-template.yaml (tensor alone) and config-llm-worker-data-parallel.yaml (tensor, data,
// dataLocal, expert). These templates evaluate VLLM_ADDITIONAL_ARGS in a shell.
#include <headroom/scenarios/launch/argument_tables.hpp>
#include <headroom/scenarios/launch/serve_forms.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace headroom::launch {
namespace {

/// Options as words for the shell inside an environment variable, in which Kubernetes takes $$ for $. Those that the
/// service states elsewhere are left out.
std::string additional(const LaunchItems& items, std::span<const std::string_view> elsewhere) {
  LaunchItems kept;
  for (const LaunchItem& item : items.all()) {
    if (std::find(elsewhere.begin(), elsewhere.end(), item.name) == elsewhere.end()) {
      kept.put(item.name, item.value);
    }
  }
  std::string text;
  for (const std::string& word : arguments_of_items(kept)) {
    text += (text.empty() ? "" : " ") + shell_quoted(word);
  }
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at + 2)) {
    text.insert(at, "$");
  }
  return text;
}

ConfigValue pod(const Replicas& replicas, const std::string& arguments) {
  const ConfigValue gpus = table_value({{gpu_resource(replicas.one), word_value(std::to_string(replicas.host_gpus))}});
  return table_value(
      {{"containers",
        list_value({table_value({{"name", word_value("main")},
                                 {"env", list_value({table_value({{"name", word_value("VLLM_ADDITIONAL_ARGS")},
                                                                  {"value", word_value(arguments)}})})},
                                 {"resources", table_value({{"limits", gpus}, {"requests", gpus}})}})})}});
}

/// Sizes of the layout that the service states itself. A replica of one host passes data and pipeline ranks to vLLM.
ConfigValue parallelism(const Replicas& replicas) {
  const std::int64_t tp = replicas.one.count("strategy.tp", 1);
  std::vector<ConfigEntry> sizes{{"tensor", count_value(tp)}};
  if (replicas.hosts > 1) {
    sizes.push_back({"data", count_value(replicas.one.count("launch.groups", 1))});
    sizes.push_back({"dataLocal", count_value(replicas.host_gpus / tp)});
    sizes.push_back({"expert", flag_value(true)});
  }
  return table_value(std::move(sizes));
}

void refuse_layout(const Replicas& replicas) {
  const std::int64_t ranks = replicas.one.count("strategy.tp", 1) * replicas.one.count("strategy.pp", 1);
  const bool data = replicas.one.count("launch.groups", 1) > 1 && replicas.one.count("strategy.pp", 1) == 1;
  if (replicas.hosts > 1 && (!data || replicas.host_gpus % ranks != 0)) {
    throw ConfigError{
        "KServe's vLLM spreads data ranks over hosts, each on one of them, and this replica's tp and pp "
        "span " +
        std::to_string(replicas.hosts) + " hosts; use --to leaderworkerset"};
  }
}

}  // namespace

LaunchText kserve_text(const LaunchPlan& plan) {
  const Replicas replicas = replicas_of(plan);
  refuse_layout(replicas);
  LaunchWriting writing{replicas.one};
  if (replicas.count > 1) {
    writing.miss("fleet.routing", "KServe's scheduler picks the replica by its queue, its cache and shared prefixes");
  }
  write_vllm(writing, HostsBy::form);
  note_arguments("vllm", "server", writing);
  constexpr std::array<std::string_view, 3> spread{"--tensor-parallel-size", "--data-parallel-size",
                                                   "--enable-expert-parallel"};
  const std::string arguments = additional(writing.items, std::span{spread}.first(replicas.hosts > 1 ? 3 : 1));
  note_serving_gaps("KServe", writing);
  const std::string name = cluster_name(plan.word("launch.model"));
  std::vector<ConfigEntry> spec{
      {"model", table_value({{"uri", word_value("hf://" + checkpoint_of(plan))}, {"name", word_value(name)}})},
      {"replicas", count_value(replicas.count)},
      {"parallelism", parallelism(replicas)},
      {"router",
       table_value({{"route", table_value({})}, {"gateway", table_value({})}, {"scheduler", table_value({})}})},
      {"template", pod(replicas, arguments)},
  };
  if (replicas.hosts > 1) {
    spec.push_back({"worker", pod(replicas, arguments)});
  }
  const ConfigValue service = table_value({{"apiVersion", word_value("serving.kserve.io/v1alpha2")},
                                           {"kind", word_value("LLMInferenceService")},
                                           {"metadata", table_value({{"name", word_value(name)}})},
                                           {"spec", table_value(std::move(spec))}});
  const std::vector<std::string> head{
      "'kubectl apply -f FILE' starts " + replica_words(replicas) + " with KServe's image of vLLM",
      bench_comment(replicas, vllm_bench(bench_load(replicas.one, true)), "http://GATEWAY/NAMESPACE/" + name) +
          " --served-model-name " + name,
      "to add: a service account with the token of gated checkpoints, CPU, memory and the nodes' selector"};
  return {comment_head(replicas.one, head, writing.notes) + yaml_text(service), writing.notes};
}

}  // namespace headroom::launch
