// SPDX-License-Identifier: Apache-2.0
// Servers that a cluster starts: Kubernetes, LeaderWorkerSet, KServe and Ray Serve.
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/launch/shell_words.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include "../support/yaml.hpp"
#include <algorithm>
#include <string>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

using Words = std::vector<std::string>;

const Words llama{"model=llama3-70b", "serving.weights=bf16", "strategy.tp=8"};
const Words experts{"model=qwen3-235b-a22b", "serving.weights=fp8"};

Scenario asked(Words some, const Words& more) {
  Words all{"kind=serve",      "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8", "serving.isl=2048",
            "serving.osl=256", "serving.concurrency=64"};
  all.insert(all.end(), some.begin(), some.end());
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

ExportedLaunch exported(const Scenario& scenario, LaunchForm form) {
  return export_launch(scenario, std::get<ServeScenario>(scenario.question), form);
}

std::string refusal(const Words& some, const Words& more, LaunchForm form) {
  try {
    static_cast<void>(exported(asked(some, more), form));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

const ConfigValue& container_of(const ConfigValue& document) {
  return document.find("kind")->text == "Deployment"
             ? at(document, {"spec", "template", "spec", "containers", "0"})
             : at(document, {"spec", "leaderWorkerTemplate", "leaderTemplate", "spec", "containers", "0"});
}

/// Words of a container as the process gets them.
Words command_of(const ConfigValue& container) {
  Words words;
  for (const ConfigValue& word : container.find("command")->items) {
    std::string text = word.text;
    for (std::size_t dollar = text.find("$$"); dollar != std::string::npos; dollar = text.find("$$", dollar + 1)) {
      text.erase(dollar, 1);
    }
    words.push_back(text);
  }
  return words;
}

bool says(const Words& words, const Words& part) {
  return std::search(words.begin(), words.end(), part.begin(), part.end()) != words.end();
}

/// The container's command and the benchmark of the file's head as a script, read back.
ServeScenario read_back(const ExportedLaunch& launch, const Words& command) {
  std::string script;
  for (const std::string& word : command) {
    script += launch::shell_quoted(word) + " ";
  }
  constexpr std::string_view load = "# the plan's load: ";
  const std::size_t from = launch.text.find(load) + load.size();
  script += "\n" + launch.text.substr(from, launch.text.find('\n', from) - from) + "\n";
  CAPTURE(script);
  const ImportedLaunch read =
      import_launch({"serve.sh", script}, {std::nullopt, {"hardware.gpu=h100-sxm-80gb"}, false}, sources());
  return std::get<ServeScenario>(read.scenario.question);
}

}  // namespace

TEST_CASE("what a container runs, and the load at the head of its file, come back as the same question") {
  const std::vector<std::pair<Words, Words>> questions{
      {llama, {"serving.kv_cache=fp8", "serving.max_num_seqs=100"}},
      {llama, {"hardware.gpus=16", "strategy.pp=2"}},
      {experts, {"strategy.tp=8", "strategy.ep=8"}},
      {experts, {"strategy.tp=2", "strategy.ep=8", "serving.max_num_tokens=4096"}},
      {experts, {"hardware.gpus=16", "strategy.tp=1", "strategy.ep=16"}},
  };
  for (const char* engine : {"serving.engine=vllm", "serving.engine=sglang"}) {
    for (const auto& [some, rest] : questions) {
      Words more = rest;
      more.emplace_back(engine);
      const Scenario scenario = asked(some, more);
      const ExportedLaunch launch = exported(scenario, LaunchForm::leaderworkerset);
      CAPTURE(launch.text);
      const ConfigValue set = read_yaml(launch.text).front();
      const ServingWorkload& ours = std::get<ServeScenario>(scenario.question).work;
      const ServeScenario back = read_back(launch, command_of(container_of(set)));
      CHECK(back.work.layout.tp == ours.layout.tp);
      CHECK(back.work.layout.pp == ours.layout.pp);
      CHECK(back.work.layout.ep == ours.layout.ep);
      CHECK(back.work.gpus == ours.gpus);
      CHECK(back.work.isl == ours.isl);
      CHECK(back.work.osl == ours.osl);
      CHECK(back.work.concurrency == ours.concurrency);
      CHECK(back.work.weights == ours.weights);
      CHECK(back.work.kv == ours.kv);
      CHECK(back.work.max_num_seqs == ours.max_num_seqs);
      CHECK(back.work.max_num_tokens == ours.max_num_tokens);
      CHECK(back.work.limits().sequence_tokens == ours.limits().sequence_tokens);
    }
  }
}

TEST_CASE("a pod on a slice asks for its profile") {
  const ExportedLaunch launch =
      exported(asked(llama, {"model=llama3-8b", "hardware.gpu=a100-sxm-80gb/3g.40gb", "hardware.gpus=2",
                             "strategy.tp=1", "serving.engine_version=0.12.0"}),
               LaunchForm::kubernetes);
  const ConfigValue deployment = read_yaml(launch.text).front();
  CHECK(at(deployment, {"spec", "replicas"}).integer == 2);
  CHECK(at(container_of(deployment), {"resources", "limits", "nvidia.com/mig-3g.40gb"}).text == "1");
}

TEST_CASE("a Deployment has one pod a replica, on the GPUs of one host, behind a Service") {
  const ExportedLaunch launch =
      exported(asked(llama, {"hardware.gpus=16", "serving.engine_version=0.12.0"}), LaunchForm::kubernetes);
  const std::vector<ConfigValue> documents = read_yaml(launch.text);
  REQUIRE(documents.size() == 2);
  const ConfigValue& deployment = documents.front();
  CHECK(at(deployment, {"apiVersion"}).text == "apps/v1");
  CHECK(at(deployment, {"spec", "replicas"}).integer == 2);
  const ConfigValue& container = container_of(deployment);
  CHECK(at(container, {"image"}).text == "vllm/vllm-openai:v0.12.0");
  CHECK(at(container, {"resources", "limits", "nvidia.com/gpu"}).text == "8");
  const Words command = command_of(container);
  CHECK(says(command, {"vllm", "serve", "meta-llama/Meta-Llama-3-70B"}));
  CHECK(says(command, {"--tensor-parallel-size", "8"}));
  CHECK_FALSE(says(command, {"--data-parallel-size"}));  // replicas are pods
  CHECK(at(documents.back(), {"spec", "selector", "app.kubernetes.io/name"}).text ==
        at(deployment, {"spec", "template", "metadata", "labels", "app.kubernetes.io/name"}).text);
  CHECK(launch.text.find("--max-concurrency 64\n") != std::string::npos);  // of both replicas
  CHECK(refusal(llama, {"hardware.gpus=16", "strategy.pp=2"}, LaunchForm::kubernetes).find("--to leaderworkerset") !=
        std::string::npos);
}

TEST_CASE("TensorRT-LLM in a pod reads its options from a ConfigMap") {
  const ExportedLaunch launch =
      exported(asked(llama, {"serving.engine=tensorrt-llm", "serving.kv_cache=fp8"}), LaunchForm::kubernetes);
  const std::vector<ConfigValue> documents = read_yaml(launch.text);
  REQUIRE(documents.size() == 3);
  CHECK(at(documents[0], {"data", "options.yaml"}).text.find("\n  dtype: fp8\n") != std::string::npos);
  const ConfigValue& container = container_of(documents[1]);
  CHECK(says(command_of(container), {"--extra_llm_api_options", "/etc/headroom/options.yaml"}));
  CHECK(at(container, {"volumeMounts", "1", "mountPath"}).text == "/etc/headroom");
  CHECK(
      refusal(llama, {"hardware.gpus=16", "strategy.pp=2", "serving.engine=tensorrt-llm"}, LaunchForm::leaderworkerset)
          .find("under Slurm") != std::string::npos);
}

TEST_CASE("a LeaderWorkerSet has a group of hosts a replica, of which the first answers") {
  const ExportedLaunch launch =
      exported(asked(llama, {"hardware.gpus=32", "strategy.pp=2"}), LaunchForm::leaderworkerset);
  const std::vector<ConfigValue> documents = read_yaml(launch.text);
  const ConfigValue& set = documents.front();
  CHECK(at(set, {"spec", "replicas"}).integer == 2);
  CHECK(at(set, {"spec", "leaderWorkerTemplate", "size"}).integer == 2);
  const Words first = command_of(container_of(set));
  const ConfigValue& worker = at(set, {"spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers", "0"});
  Words other = command_of(worker);
  CHECK(says(first, {"--nnodes", "2"}));
  CHECK(says(first, {"--master-addr", "$(LWS_LEADER_ADDRESS)"}));
  REQUIRE(other.back() == "--headless");
  other.pop_back();
  CHECK(other == first);
  CHECK(worker.find("readinessProbe") == nullptr);
  CHECK(at(documents.back(), {"spec", "selector", "leaderworkerset.sigs.k8s.io/worker-index"}).text == "0");
  // The set names the Service of its hosts after itself.
  CHECK(at(documents.back(), {"metadata", "name"}).text != at(set, {"metadata", "name"}).text);
  const Words sglang = command_of(
      container_of(read_yaml(exported(asked(llama, {"hardware.gpus=16", "strategy.pp=2", "serving.engine=sglang"}),
                                      LaunchForm::leaderworkerset)
                                 .text)
                       .front()));
  CHECK(says(sglang, {"--nnodes", "2"}));
  CHECK(says(sglang, {"--node-rank", "$(LWS_WORKER_INDEX)", "--dist-init-addr", "$(LWS_LEADER_ADDRESS):5000"}));
}

TEST_CASE("attention groups of vLLM start at the rank of their host") {
  const ExportedLaunch launch =
      exported(asked(experts, {"hardware.gpus=16", "strategy.tp=2", "strategy.ep=16"}), LaunchForm::leaderworkerset);
  const ConfigValue set = read_yaml(launch.text).front();
  CHECK(says(command_of(container_of(set)), {"--data-parallel-size-local", "4"}));
  const Words worker =
      command_of(at(set, {"spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers", "0"}));
  REQUIRE(worker.size() > 4);
  CHECK(worker[2] == "exec \"$@\" --data-parallel-start-rank \"$((LWS_WORKER_INDEX * 4))\"");
  CHECK(worker[4] == "vllm");
}

TEST_CASE("KServe states the layout itself, and the rest as arguments") {
  const ConfigValue one = read_yaml(exported(asked(llama, {"hardware.gpus=24"}), LaunchForm::kserve).text).front();
  CHECK(at(one, {"kind"}).text == "LLMInferenceService");
  CHECK(at(one, {"spec", "replicas"}).integer == 3);
  CHECK(at(one, {"spec", "parallelism", "tensor"}).integer == 8);
  CHECK(one.find("spec")->find("worker") == nullptr);
  const std::string arguments = at(one, {"spec", "template", "containers", "0", "env", "0", "value"}).text;
  CHECK(arguments.find("--max-model-len 2304") != std::string::npos);
  CHECK(arguments.find("--tensor-parallel-size") == std::string::npos);
  const ConfigValue wide =
      read_yaml(
          exported(asked(experts, {"hardware.gpus=16", "strategy.tp=1", "strategy.ep=16"}), LaunchForm::kserve).text)
          .front();
  CHECK(at(wide, {"spec", "parallelism", "data"}).integer == 16);
  CHECK(at(wide, {"spec", "parallelism", "dataLocal"}).integer == 8);
  CHECK(at(wide, {"spec", "parallelism", "expert"}).boolean);
  CHECK(at(wide, {"spec", "worker", "containers", "0", "name"}).text == "main");
  CHECK(refusal(llama, {"hardware.gpus=16", "strategy.pp=2"}, LaunchForm::kserve).find("--to leaderworkerset") !=
        std::string::npos);
  CHECK(refusal(llama, {"serving.engine=sglang"}, LaunchForm::kserve).find("runs vLLM") != std::string::npos);
}

TEST_CASE("Ray Serve gets the engine's options as keywords, and a bundle a GPU") {
  const ConfigValue root =
      read_yaml(exported(asked(llama, {"hardware.gpus=16", "strategy.pp=2", "serving.chunked_prefill=false",
                                       "serving.speculative.draft=2", "serving.speculative.acceptance=0.7",
                                       "serving.speculative.method=ngram"}),
                         LaunchForm::ray_serve)
                    .text)
          .front();
  const ConfigValue& config = at(root, {"applications", "0", "args", "llm_configs", "0"});
  CHECK(at(config, {"accelerator_type"}).text == "H100");
  CHECK(at(config, {"engine_kwargs", "tensor_parallel_size"}).integer == 8);
  CHECK(at(config, {"engine_kwargs", "pipeline_parallel_size"}).integer == 2);
  CHECK_FALSE(at(config, {"engine_kwargs", "enable_chunked_prefill"}).boolean);
  CHECK(at(config, {"engine_kwargs", "speculative_config", "num_speculative_tokens"}).integer == 2);
  CHECK(at(config, {"placement_group_config", "bundles"}).items.size() == 16);
  CHECK(at(config, {"placement_group_config", "strategy"}).text == "PACK");
  CHECK(at(config, {"deployment_config", "num_replicas"}).integer == 1);
  CHECK(refusal(experts, {"strategy.tp=1", "strategy.ep=8"}, LaunchForm::ray_serve).find("--to leaderworkerset") !=
        std::string::npos);
}

TEST_CASE("a fleet in a cluster has all its replicas, spare ones too, and the benchmark sends the whole load") {
  const Words fleet{
      "kind=serve",       "model=llama3.1-70b",    "hardware.gpu=h100-sxm-80gb", "serving.weights=fp8",
      "strategy.tp=4",    "traffic.rate=12 req/s", "traffic.prompt={mean=1500}", "traffic.output={mean=250}",
      "fleet.replicas=3", "fleet.spare=1"};
  const ExportedLaunch launch = exported(scenario_from_overrides(fleet, sources()), LaunchForm::kubernetes);
  CHECK(at(read_yaml(launch.text).front(), {"spec", "replicas"}).integer == 4);
  CHECK(launch.text.find("4 replicas of 4 GPUs, 1 of them spare") != std::string::npos);
  CHECK(launch.text.find("--request-rate 12") != std::string::npos);
  for (const LaunchNote& note : launch.notes) {
    CHECK(note.key != "fleet.replicas");
    CHECK(note.key != "fleet.spare");
  }
  CHECK(std::any_of(launch.notes.begin(), launch.notes.end(),
                    [](const LaunchNote& note) { return note.key == "fleet.routing"; }));
}

TEST_CASE("files for a cluster are recognised, and refused with the way out") {
  for (const LaunchForm form :
       {LaunchForm::kubernetes, LaunchForm::leaderworkerset, LaunchForm::kserve, LaunchForm::ray_serve}) {
    const std::string text = exported(asked(llama, {}), form).text;
    CHECK(form_of(text) == form);
    try {
      static_cast<void>(import_launch({"x.yaml", text}, {}, sources()));
      FAIL("read");
    } catch (const ConfigError& error) {
      CHECK(std::string{error.what()}.find("written and not read") != std::string::npos);
    }
  }
}
