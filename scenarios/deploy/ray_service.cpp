// SPDX-License-Identifier: Apache-2.0
// Writes a RayService of KubeRay around the configuration of Ray Serve LLM. Fields: ray-project/kuberay @ 0074129,
// ray-operator/apis/ray/v1/rayservice_types.go (serveConfigV2 is a text), raycluster_types.go (headGroupSpec,
// workerGroupSpecs).
#include <headroom/scenarios/deploy/deploy_forms.hpp>

#include <algorithm>
#include <utility>

namespace headroom::deploy {
namespace {

using namespace launch;

/// The text without its comments at the head.
std::string without_head(std::string_view text) {
  while (text.starts_with('#')) {
    text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  }
  return std::string{text};
}

ConfigValue ray_pod(const std::string& name, const std::string& image, std::vector<ConfigEntry> more) {
  std::vector<ConfigEntry> container{{"name", word_value(name)}, {"image", word_value(image)}};
  container.insert(container.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return table_value({{"spec", table_value({{"containers", list_value({table_value(std::move(container))})}})}});
}

}  // namespace

LaunchText ray_service_text(const LaunchPlan& plan) {
  if (plan.word("serving.engine") != "vllm") {
    throw ConfigError{"Ray Serve LLM runs vLLM, and the scenario's engine is " + quoted(plan.word("serving.engine")) +
                      "; use --to kubernetes, or --set serving.engine=vllm"};
  }
  const Replicas replicas = replicas_of(plan);
  LaunchText serve = ray_serve_text(plan);
  const std::string image = "rayproject/ray-llm:latest";
  serve.notes.push_back({"serving.engine_version", "image " + image +
                                                       " (its tag is a release of Ray, which no scenario "
                                                       "states: name the one whose vLLM is meant)"});
  const std::int64_t per_host = std::max<std::int64_t>(1, plan.count("launch.gpus_per_node", 1));
  const std::int64_t gpus = product(replicas.count, replicas.gpus);
  const std::int64_t hosts = std::max<std::int64_t>(1, (gpus + per_host - 1) / per_host);
  const std::int64_t of_host = std::min(gpus, per_host);
  const ConfigValue workers =
      table_value({{"groupName", word_value("gpus")},
                   {"replicas", count_value(hosts)},
                   {"minReplicas", count_value(hosts)},
                   {"maxReplicas", count_value(hosts)},
                   {"rayStartParams", table_value({})},
                   {"template", ray_pod("ray-worker", image, {{"resources", gpu_limits(plan, of_host)}})}});
  const ConfigValue ports =
      list_value({table_value({{"containerPort", count_value(6379)}, {"name", word_value("gcs-server")}}),
                  table_value({{"containerPort", count_value(8265)}, {"name", word_value("dashboard")}}),
                  table_value({{"containerPort", count_value(8000)}, {"name", word_value("serve")}})});
  const std::string name = workload_name(plan);
  const ConfigValue service = table_value(
      {{"apiVersion", word_value("ray.io/v1")},
       {"kind", word_value("RayService")},
       {"metadata", named_object(name)},
       {"spec",
        table_value({{"serveConfigV2", word_value(without_head(serve.text))},
                     {"rayClusterConfig",
                      table_value({{"headGroupSpec",
                                    table_value({{"rayStartParams", table_value({{"num-gpus", word_value("0")}})},
                                                 {"template", ray_pod("ray-head", image, {{"ports", ports}})}})},
                                   {"workerGroupSpecs", list_value({workers})}})}})}});
  const std::string address = "http://" + name + "-serve-svc:8000";
  const std::vector<std::string> head{
      "'kubectl apply -f FILE' starts " + replica_words(replicas) + " on " + std::to_string(hosts) +
          (hosts == 1 ? " worker of " : " workers of ") + std::to_string(of_host) + " GPUs; they answer at " + address,
      bench_comment(replicas, engine_bench(replicas.one), address) + " --served-model-name " + name,
      "to add: the token of gated checkpoints as HF_TOKEN, CPU and memory of head and workers"};
  return {comment_head(replicas.one, head, serve.notes) + yaml_text(service), serve.notes};
}

}  // namespace headroom::deploy
