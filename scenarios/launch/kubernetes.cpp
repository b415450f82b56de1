// SPDX-License-Identifier: Apache-2.0
// Writes a Deployment or a LeaderWorkerSet of one server a replica, and the Service in front of it. Fields: Kubernetes
// API reference, apps/v1 and core/v1; kubernetes-sigs/lws v0.9.0, api/leaderworkerset/v1/leaderworkerset_types.go.
// vLLM over hosts: its docs/serving/parallelism_scaling.md (--nnodes, from 0.12) and data_parallel_deployment.md.
// Kubernetes replaces $(NAME) in arguments and takes $$ for $.
#include <headroom/scenarios/launch/argument_tables.hpp>
#include <headroom/scenarios/launch/serve_forms.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace headroom::launch {
namespace {

using ProcessWords = std::vector<std::string>;

constexpr std::int64_t port = 8000;
constexpr std::string_view options_folder = "/etc/headroom";
constexpr std::string_view options_file = "options.yaml";
constexpr std::string_view leader = "$(LWS_LEADER_ADDRESS)";
constexpr std::string_view index = "$(LWS_WORKER_INDEX)";

/// A server of one replica: what every host of it runs.
struct Server {
  ProcessWords words;    ///< process and arguments, for Kubernetes to take as they are
  ProcessWords follows;  ///< arguments of all hosts but the first
  std::string behind;    ///< of those, what a shell has to compute
  std::string options;   ///< text of a file of options; empty: none
  ProcessWords bench;
  std::string image;
};

void add(ProcessWords& words, const ProcessWords& more) {
  words.insert(words.end(), more.begin(), more.end());
}

void add_options(Server& server, const LaunchWriting& writing) {
  for (std::string& word : arguments_of_items(writing.items)) {
    server.words.push_back(pod_word(std::move(word)));
  }
}

Server vllm_server(const Replicas& replicas, LaunchWriting& writing) {
  Server server;
  server.image = engine_image("vllm/vllm-openai", "v", writing);
  write_vllm(writing, HostsBy::form);
  const std::int64_t tp = replicas.one.count("strategy.tp", 1);
  const std::int64_t ranks = tp * replicas.one.count("strategy.pp", 1);
  if (replicas.hosts > 1 && ranks > replicas.host_gpus) {
    if (ranks != replicas.gpus) {
      throw ConfigError{"vLLM spreads data ranks over hosts, or one rank group, and not data ranks of " +
                        std::to_string(ranks) + " GPUs each over hosts of " + std::to_string(replicas.host_gpus)};
    }
    writing.put_word("--distributed-executor-backend", "mp");
    writing.put_count("--nnodes", replicas.hosts);
  } else if (replicas.hosts > 1) {
    if (replicas.host_gpus % ranks != 0) {
      throw ConfigError{"data ranks of " + std::to_string(ranks) + " GPUs each do not fill hosts of " +
                        std::to_string(replicas.host_gpus)};
    }
    writing.put_count("--data-parallel-size-local", replicas.host_gpus / ranks);
    writing.put_count("--data-parallel-rpc-port", 13345);
  }
  note_arguments("vllm", "server", writing);
  server.words = {"vllm", "serve", pod_word(checkpoint_of(replicas.one))};
  add_options(server, writing);
  add(server.words, {"--host", "0.0.0.0", "--port", std::to_string(port)});
  server.bench = vllm_bench(bench_load(replicas.one, true));
  if (writing.items.has("--nnodes")) {
    add(server.words, {"--node-rank", std::string{index}, "--master-addr", std::string{leader}});
    server.follows = {"--headless"};
  } else if (replicas.hosts > 1) {
    add(server.words, {"--data-parallel-address", std::string{leader}});
    server.follows = {"--headless"};
    server.behind =
        "--data-parallel-start-rank \"$((LWS_WORKER_INDEX * " + std::to_string(replicas.host_gpus / ranks) + "))\"";
  }
  return server;
}

Server sglang_server(const Replicas& replicas, LaunchWriting& writing) {
  Server server;
  server.image = engine_image("lmsysorg/sglang", "v", writing);
  write_sglang(writing);
  note_arguments("sglang", "server", writing);
  server.words = {"python3", "-m", "sglang.launch_server", "--model-path", pod_word(checkpoint_of(replicas.one))};
  add_options(server, writing);
  add(server.words, {"--host", "0.0.0.0", "--port", std::to_string(port)});
  server.bench = sglang_bench(bench_load(replicas.one, true));
  if (replicas.hosts > 1) {
    add(server.words, {"--node-rank", std::string{index}, "--dist-init-addr", std::string{leader} + ":5000"});
  }
  return server;
}

Server tensorrt_llm_server(const Replicas& replicas, LaunchWriting& writing) {
  if (replicas.hosts > 1) {
    throw ConfigError{
        "TensorRT-LLM starts the ranks of several hosts under MPI, which no pod here brings; use --to tensorrt-llm, "
        "which starts them under Slurm, or a replica of one host"};
  }
  Server server;
  server.image = engine_image("nvcr.io/nvidia/tensorrt-llm/release", "", writing);
  server.options = write_tensorrt_llm(writing);
  note_arguments("tensorrt-llm", "server", writing);
  server.words = {"trtllm-serve", pod_word(checkpoint_of(replicas.one))};
  add_options(server, writing);
  add(server.words, {"--host", "0.0.0.0", "--port", std::to_string(port), "--extra_llm_api_options",
                     std::string{options_folder} + "/" + std::string{options_file}});
  server.bench = tensorrt_llm_bench(bench_load(replicas.one, true));
  return server;
}

Server server_of(const Replicas& replicas, LaunchWriting& writing) {
  const std::string engine = replicas.one.word("serving.engine");
  if (replicas.count > 1) {
    writing.miss("fleet.routing", "a Service spreads connections evenly, whatever the replicas have to do");
  }
  if (engine == "vllm") {
    return vllm_server(replicas, writing);
  }
  if (engine == "sglang") {
    return sglang_server(replicas, writing);
  }
  if (engine != "tensorrt-llm") {
    throw ConfigError{"no launch line is known of engine " + quoted(engine) + "; known: vllm, sglang and tensorrt-llm"};
  }
  return tensorrt_llm_server(replicas, writing);
}

ConfigValue health(std::int64_t failures) {
  return table_value({{"httpGet", table_value({{"path", word_value("/health")}, {"port", count_value(port)}})},
                      {"periodSeconds", count_value(10)},
                      {"failureThreshold", count_value(failures)}});
}

/// Pod of a host; `answers`: it takes requests, and is ready when it does.
ConfigValue pod(const Replicas& replicas, const Server& server, const std::string& name, bool answers) {
  ProcessWords words = server.words;
  add(words, answers ? ProcessWords{} : server.follows);
  if (!answers && !server.behind.empty()) {
    ProcessWords shell{"bash", "-c", "exec \"$$@\" " + pod_word(server.behind), "--"};
    add(shell, words);
    words = std::move(shell);
  }
  const ConfigValue token =
      table_value({{"name", word_value("HF_TOKEN")},
                   {"valueFrom", table_value({{"secretKeyRef", table_value({{"name", word_value("hf-token")},
                                                                            {"key", word_value("token")},
                                                                            {"optional", flag_value(true)}})}})}});
  std::vector<ConfigValue> mounts{table_value({{"name", word_value("shm")}, {"mountPath", word_value("/dev/shm")}})};
  std::vector<ConfigValue> volumes{
      table_value({{"name", word_value("shm")}, {"emptyDir", table_value({{"medium", word_value("Memory")}})}})};
  if (!server.options.empty()) {
    mounts.push_back(table_value({{"name", word_value("options")}, {"mountPath", word_value(options_folder)}}));
    volumes.push_back(table_value(
        {{"name", word_value("options")}, {"configMap", table_value({{"name", word_value(name + "-options")}})}}));
  }
  std::vector<ConfigEntry> container{
      {"name", word_value("engine")},
      {"image", word_value(server.image)},
      {"command", words_value(words)},
      {"env", list_value({token})},
      {"resources",
       table_value(
           {{"limits", table_value({{gpu_resource(replicas.one), word_value(std::to_string(replicas.host_gpus))}})}})},
  };
  if (answers) {
    container.push_back(
        {"ports", list_value({table_value({{"name", word_value("http")}, {"containerPort", count_value(port)}})})});
    container.push_back({"startupProbe", health(360)});
    container.push_back({"readinessProbe", health(3)});
  }
  container.push_back({"volumeMounts", list_value(std::move(mounts))});
  return table_value(
      {{"containers", list_value({table_value(std::move(container))})}, {"volumes", list_value(std::move(volumes))}});
}

ConfigValue named(const std::string& name) {
  return table_value({{"name", word_value(name)}});
}

ConfigValue service(const std::string& name, ConfigValue selector) {
  return table_value(
      {{"apiVersion", word_value("v1")},
       {"kind", word_value("Service")},
       {"metadata", named(name)},
       {"spec", table_value({{"selector", std::move(selector)},
                             {"ports", list_value({table_value({{"name", word_value("http")},
                                                                {"port", count_value(port)},
                                                                {"targetPort", word_value("http")}})})}})}});
}

LaunchText file_of(const Replicas& replicas,
                   const Server& server,
                   LaunchWriting& writing,
                   const std::string& name,
                   std::vector<ConfigValue> documents) {
  if (writing.plan.word("launch.vendor") != "nvidia") {
    writing.notes.push_back({"hardware.gpu", "image " + server.image + " (the build for NVIDIA: name the vendor's)"});
  }
  note_serving_gaps("the engine", writing);
  if (!server.options.empty()) {
    documents.insert(documents.begin(),
                     table_value({{"apiVersion", word_value("v1")},
                                  {"kind", word_value("ConfigMap")},
                                  {"metadata", named(name + "-options")},
                                  {"data", table_value({{std::string{options_file}, word_value(server.options)}})}}));
  }
  const std::string front = documents.back().find("metadata")->find("name")->text;
  const std::string address = "http://" + front + ":" + std::to_string(port);
  std::string text =
      comment_head(writing.plan,
                   {"'kubectl apply -f FILE' starts " + replica_words(replicas) + "; they answer at " + address,
                    bench_comment(replicas, server.bench, address),
                    "to add: secret hf-token with key token for gated checkpoints, a cache of the "
                    "checkpoint, the nodes' selector"},
                   writing.notes);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    text += (i == 0 ? "" : "---\n") + yaml_text(documents[i]);
  }
  return {std::move(text), writing.notes};
}

}  // namespace

LaunchText kubernetes_text(const LaunchPlan& plan) {
  const Replicas replicas = replicas_of(plan);
  if (replicas.hosts > 1) {
    throw ConfigError{"a Deployment's pod lies on one host, and a replica takes " + std::to_string(replicas.hosts) +
                      " of them; use --to leaderworkerset"};
  }
  LaunchWriting writing{replicas.one};
  const Server server = server_of(replicas, writing);
  const std::string name = cluster_name(plan.word("launch.model"));
  const ConfigValue labels = table_value({{"app.kubernetes.io/name", word_value(name)}});
  const ConfigValue deployment =
      table_value({{"apiVersion", word_value("apps/v1")},
                   {"kind", word_value("Deployment")},
                   {"metadata", named(name)},
                   {"spec", table_value({{"replicas", count_value(replicas.count)},
                                         {"selector", table_value({{"matchLabels", labels}})},
                                         {"template", table_value({{"metadata", table_value({{"labels", labels}})},
                                                                   {"spec", pod(replicas, server, name, true)}})}})}});
  return file_of(replicas, server, writing, name, {deployment, service(name, labels)});
}

LaunchText leaderworkerset_text(const LaunchPlan& plan) {
  const Replicas replicas = replicas_of(plan);
  LaunchWriting writing{replicas.one};
  const Server server = server_of(replicas, writing);
  const std::string name = cluster_name(plan.word("launch.model"));
  const std::string front = name + "-leader";  // the set has a Service of its own name for its hosts
  const ConfigValue labels = table_value({{"leaderworkerset.sigs.k8s.io/name", word_value(name)},
                                          {"leaderworkerset.sigs.k8s.io/worker-index", word_value("0")}});
  const ConfigValue set = table_value(
      {{"apiVersion", word_value("leaderworkerset.x-k8s.io/v1")},
       {"kind", word_value("LeaderWorkerSet")},
       {"metadata", named(name)},
       {"spec",
        table_value(
            {{"replicas", count_value(replicas.count)},
             {"leaderWorkerTemplate",
              table_value({{"size", count_value(replicas.hosts)},
                           {"restartPolicy", word_value("RecreateGroupOnPodRestart")},
                           {"leaderTemplate", table_value({{"spec", pod(replicas, server, name, true)}})},
                           {"workerTemplate", table_value({{"spec", pod(replicas, server, name, false)}})}})}})}});
  return file_of(replicas, server, writing, name, {set, service(front, labels)});
}

void read_cluster_text(const ConfigSource& source, LaunchReading& /*reading*/) {
  throw ConfigError{{Diagnostic{source.file,
                                {},
                                "files of Kubernetes, KServe and Ray Serve are written and not read; give the engine's "
                                "command as a line of a script, e.g. 'vllm serve MODEL ...'"}}};
}

}  // namespace headroom::launch
