// SPDX-License-Identifier: Apache-2.0
// Files for Kubernetes against the published definitions of their resources: each field that is written is one of
// these, of its type, and none that a definition requires is missing. Types and required fields ('!') are facts of the
// definitions' openAPIV3Schema, of the version that is stored; '*' stands for any key, '[]' for an element. Those of a
// pod are the same in all of them.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/yaml/yaml_reader.hpp>
#include <headroom/scenarios/deploy/deploy.hpp>
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/pools/cluster_export.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include "../support/yaml.hpp"
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

using Words = std::vector<std::string>;

struct Definition {
  std::string api, kind;
  /// "!spec.replicas integer": a path, with '!' where its parent requires it, and its type. A quantity is a number or a
  /// text.
  Words fields;
};

/// Fields of a pod's spec that are written anywhere, under a path.
Words pod(const std::string& path) {
  Words fields;
  for (const std::string_view field : {"!containers array",
                                       "containers[] object",
                                       "!containers[].name string",
                                       "containers[].image string",
                                       "containers[].command array",
                                       "containers[].command[] string",
                                       "containers[].args array",
                                       "containers[].args[] string",
                                       "containers[].env array",
                                       "containers[].env[] object",
                                       "!containers[].env[].name string",
                                       "containers[].env[].value string",
                                       "containers[].env[].valueFrom object",
                                       "containers[].env[].valueFrom.secretKeyRef object",
                                       "!containers[].env[].valueFrom.secretKeyRef.key string",
                                       "containers[].env[].valueFrom.secretKeyRef.name string",
                                       "containers[].env[].valueFrom.secretKeyRef.optional boolean",
                                       "containers[].resources object",
                                       "containers[].resources.limits object",
                                       "containers[].resources.limits.* quantity",
                                       "containers[].resources.requests object",
                                       "containers[].resources.requests.* quantity",
                                       "containers[].ports array",
                                       "containers[].ports[] object",
                                       "!containers[].ports[].containerPort integer",
                                       "containers[].ports[].name string",
                                       "containers[].startupProbe object",
                                       "containers[].startupProbe.httpGet object",
                                       "!containers[].startupProbe.httpGet.port quantity",
                                       "containers[].startupProbe.httpGet.path string",
                                       "containers[].startupProbe.periodSeconds integer",
                                       "containers[].startupProbe.failureThreshold integer",
                                       "containers[].readinessProbe object",
                                       "containers[].readinessProbe.httpGet object",
                                       "!containers[].readinessProbe.httpGet.port quantity",
                                       "containers[].readinessProbe.httpGet.path string",
                                       "containers[].readinessProbe.periodSeconds integer",
                                       "containers[].readinessProbe.failureThreshold integer",
                                       "containers[].volumeMounts array",
                                       "containers[].volumeMounts[] object",
                                       "!containers[].volumeMounts[].mountPath string",
                                       "!containers[].volumeMounts[].name string",
                                       "volumes array",
                                       "volumes[] object",
                                       "!volumes[].name string",
                                       "volumes[].emptyDir object",
                                       "volumes[].emptyDir.medium string"}) {
    const bool required = field.starts_with('!');
    fields.push_back((required ? "!" : "") + path + "." + std::string{field.substr(required ? 1 : 0)});
  }
  return fields;
}

Words joined(Words fields, const std::vector<Words>& more) {
  for (const Words& some : more) {
    fields.insert(fields.end(), some.begin(), some.end());
  }
  return fields;
}

/// kubernetes-sigs/lws @ 060ab4d, config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml.
Definition leader_worker_set() {
  return {
      "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
      joined(
          {"spec object", "spec.replicas integer", "!spec.leaderWorkerTemplate object",
           "spec.leaderWorkerTemplate.size integer", "spec.leaderWorkerTemplate.restartPolicy string",
           "spec.leaderWorkerTemplate.leaderTemplate object", "spec.leaderWorkerTemplate.leaderTemplate.spec object",
           "!spec.leaderWorkerTemplate.workerTemplate object", "spec.leaderWorkerTemplate.workerTemplate.spec object"},
          {pod("spec.leaderWorkerTemplate.leaderTemplate.spec"),
           pod("spec.leaderWorkerTemplate.workerTemplate.spec")})};
}

/// kserve/kserve @ aaac4e2, config/crd/full/llmisvc/serving.kserve.io_llminferenceservices.yaml.
Definition llm_inference_service() {
  return {"serving.kserve.io/v1alpha2", "LLMInferenceService",
          joined({"spec object", "!spec.model object", "!spec.model.uri string", "spec.model.name string",
                  "spec.replicas integer", "spec.parallelism object", "spec.parallelism.tensor integer",
                  "spec.parallelism.pipeline integer", "spec.parallelism.data integer",
                  "spec.parallelism.dataLocal integer", "spec.parallelism.expert boolean", "spec.router object",
                  "spec.router.route object", "spec.router.gateway object", "spec.router.scheduler object",
                  "spec.template object", "spec.worker object"},
                 {pod("spec.template"), pod("spec.worker")})};
}

/// kserve/kserve @ aaac4e2, config/crd/full/serving.kserve.io_inferenceservices.yaml.
Definition inference_service() {
  return {"serving.kserve.io/v1beta1", "InferenceService",
          joined({"spec object", "!spec.predictor object", "spec.predictor.minReplicas integer",
                  "spec.predictor.maxReplicas integer", "spec.predictor.model object",
                  "spec.predictor.model.modelFormat object", "!spec.predictor.model.modelFormat.name string",
                  "spec.predictor.model.args array", "spec.predictor.model.args[] string",
                  "spec.predictor.model.resources object", "spec.predictor.model.resources.limits object",
                  "spec.predictor.model.resources.limits.* quantity", "spec.predictor.workerSpec object",
                  "spec.predictor.workerSpec.pipelineParallelSize integer",
                  "spec.predictor.workerSpec.tensorParallelSize integer"},
                 {pod("spec.predictor.workerSpec")})};
}

/// ray-project/kuberay @ feeaf72, ray-operator/config/crd/bases/ray.io_rayservices.yaml.
Definition ray_service() {
  const std::string cluster = "spec.rayClusterConfig";
  return {
      "ray.io/v1", "RayService",
      joined(
          {"spec object", "spec.serveConfigV2 string", "!" + cluster + " object",
           "!" + cluster + ".headGroupSpec object", "!" + cluster + ".headGroupSpec.template object",
           cluster + ".headGroupSpec.template.spec object", cluster + ".headGroupSpec.rayStartParams object",
           cluster + ".headGroupSpec.rayStartParams.* string", cluster + ".workerGroupSpecs array",
           cluster + ".workerGroupSpecs[] object", "!" + cluster + ".workerGroupSpecs[].groupName string",
           "!" + cluster + ".workerGroupSpecs[].maxReplicas integer",
           "!" + cluster + ".workerGroupSpecs[].minReplicas integer", cluster + ".workerGroupSpecs[].replicas integer",
           cluster + ".workerGroupSpecs[].rayStartParams object", "!" + cluster + ".workerGroupSpecs[].template object",
           cluster + ".workerGroupSpecs[].template.spec object"},
          {pod(cluster + ".headGroupSpec.template.spec"), pod(cluster + ".workerGroupSpecs[].template.spec")})};
}

/// ai-dynamo/dynamo @ 0fddc01, deploy/operator/api/v1alpha1: dynamographdeployment_types.go,
/// dynamocomponentdeployment_types.go, common.go.
Definition dynamo_graph() {
  return {"nvidia.com/v1alpha1",
          "DynamoGraphDeployment",
          {"spec object",
           "spec.backendFramework string",
           "spec.services object",
           "spec.services.* object",
           "spec.services.*.componentType string",
           "spec.services.*.subComponentType string",
           "spec.services.*.replicas integer",
           "spec.services.*.envFromSecret string",
           "spec.services.*.multinode object",
           "!spec.services.*.multinode.nodeCount integer",
           "spec.services.*.resources object",
           "spec.services.*.resources.limits object",
           "spec.services.*.resources.limits.gpu string",
           "spec.services.*.extraPodSpec object",
           "spec.services.*.extraPodSpec.mainContainer object",
           "spec.services.*.extraPodSpec.mainContainer.image string",
           "spec.services.*.extraPodSpec.mainContainer.command array",
           "spec.services.*.extraPodSpec.mainContainer.command[] string",
           "spec.services.*.extraPodSpec.mainContainer.args array",
           "spec.services.*.extraPodSpec.mainContainer.args[] string"}};
}

/// kubernetes-sigs/kueue @ ff69552, config/components/crd/bases.
std::vector<Definition> kueue_objects() {
  const std::string api = "kueue.x-k8s.io/v1beta2";
  const std::string group = "spec.resourceGroups[]";
  return {
      {api, "ResourceFlavor", {"spec object", "spec.nodeLabels object", "spec.nodeLabels.* string"}},
      {api,
       "ClusterQueue",
       {"spec object",
        "spec.namespaceSelector object",
        "spec.namespaceSelector.matchLabels object",
        "spec.namespaceSelector.matchLabels.* string",
        "spec.cohortName string",
        "spec.queueingStrategy string",
        "spec.preemption object",
        "spec.preemption.withinClusterQueue string",
        "spec.preemption.reclaimWithinCohort string",
        "spec.fairSharing object",
        "spec.fairSharing.weight quantity",
        "spec.resourceGroups array",
        group + " object",
        "!" + group + ".coveredResources array",
        group + ".coveredResources[] string",
        "!" + group + ".flavors array",
        group + ".flavors[] object",
        "!" + group + ".flavors[].name string",
        "!" + group + ".flavors[].resources array",
        group + ".flavors[].resources[] object",
        "!" + group + ".flavors[].resources[].name string",
        "!" + group + ".flavors[].resources[].nominalQuota quantity",
        group + ".flavors[].resources[].borrowingLimit quantity"}},
      {api, "LocalQueue", {"spec object", "spec.clusterQueue string"}},
      {api, "WorkloadPriorityClass", {"!value integer", "description string"}},
  };
}

bool is_of(const ConfigValue& value, std::string_view type) {
  switch (value.kind) {
    case ConfigValue::Kind::table: return type == "object";
    case ConfigValue::Kind::array: return type == "array";
    case ConfigValue::Kind::text: return type == "string" || type == "quantity";
    case ConfigValue::Kind::integer: return type == "integer" || type == "quantity";
    case ConfigValue::Kind::boolean: return type == "boolean";
    default: return false;
  }
}

/// Types of the paths of a definition, and the members that each path must have.
struct Schema {
  std::map<std::string, std::string, std::less<>> types;
  std::map<std::string, Words, std::less<>> required;

  explicit Schema(const Definition& definition) {
    for (const std::string& field : definition.fields) {
      const bool must = field.starts_with('!');
      const std::size_t blank = field.find(' ');
      const std::string path = field.substr(must ? 1 : 0, blank - (must ? 1 : 0));
      types[path] = field.substr(blank + 1);
      if (must) {
        const std::size_t dot = path.rfind('.');
        required[dot == std::string::npos ? "" : path.substr(0, dot)].push_back(
            dot == std::string::npos ? path : path.substr(dot + 1));
      }
    }
  }
};

void check_value(const ConfigValue& value, const std::string& path, const Schema& schema, Words& faults) {
  if (!path.empty()) {
    const auto known = schema.types.find(path);
    if (known == schema.types.end()) {
      faults.push_back(path + " is no field");
      return;
    }
    if (!is_of(value, known->second)) {
      faults.push_back(path + " is no " + known->second);
      return;
    }
  }
  if (const auto must = schema.required.find(path); must != schema.required.end()) {
    for (const std::string& member : must->second) {
      if (value.find(member) == nullptr) {
        faults.push_back(path + " lacks " + member);
      }
    }
  }
  for (const ConfigEntry& entry : value.entries) {
    if (path.empty() && (entry.key == "apiVersion" || entry.key == "kind" || entry.key == "metadata")) {
      continue;
    }
    const std::string own = (path.empty() ? "" : path + ".") + entry.key;
    const std::string any = path + ".*";
    check_value(entry.value, schema.types.contains(any) ? any : own, schema, faults);
  }
  for (const ConfigValue& item : value.items) {
    check_value(item, path + "[]", schema, faults);
  }
}

Words faults_of(const ConfigValue& document, const Definition& definition) {
  Words faults;
  CHECK(at(document, {"apiVersion"}).text == definition.api);
  CHECK(at(document, {"kind"}).text == definition.kind);
  CHECK(at(document, {"metadata", "name"}).kind == ConfigValue::Kind::text);
  check_value(document, "", Schema{definition}, faults);
  return faults;
}

std::vector<ConfigValue> documents_of(std::string_view text) {
  std::vector<ConfigValue> documents;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("---\n"), text.size());
    if (const std::string_view one = text.substr(0, end); one.find("kind: ") != std::string_view::npos) {
      documents.push_back(parse_yaml(one, "objects.yaml"));
    }
    text.remove_prefix(std::min(text.size(), end + 4));
  }
  return documents;
}

void check_documents(const std::string& text, const std::vector<Definition>& definitions) {
  for (const ConfigValue& document : documents_of(text)) {
    const std::string& kind = at(document, {"kind"}).text;
    const auto known = std::find_if(definitions.begin(), definitions.end(),
                                    [&](const Definition& definition) { return definition.kind == kind; });
    if (kind == "Service") {
      continue;  // of Kubernetes itself
    }
    CAPTURE(kind);
    REQUIRE(known != definitions.end());
    for (const std::string& fault : faults_of(document, *known)) {
      FAIL_CHECK(fault);
    }
  }
}

Scenario asked(const Words& more) {
  Words all{
      "kind=serve",      "hardware.gpu=h100-sxm-80gb", "model=llama3-70b", "serving.weights=bf16", "serving.isl=2048",
      "serving.osl=256", "serving.concurrency=64",     "hardware.gpus=16", "strategy.tp=8"};
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

std::string deployed(const Words& more, DeployForm form) {
  const Scenario scenario = asked(more);
  return export_deployment(scenario, std::get<ServeScenario>(scenario.question), form).text;
}

std::string launched(const Words& more, LaunchForm form) {
  const Scenario scenario = asked(more);
  return export_launch(scenario, std::get<ServeScenario>(scenario.question), form).text;
}

}  // namespace

TEST_CASE("published schemas: servers on Kubernetes keep the definitions of their resources") {
  check_documents(launched({}, LaunchForm::leaderworkerset), {leader_worker_set()});
  check_documents(launched({"strategy.pp=2"}, LaunchForm::leaderworkerset), {leader_worker_set()});
  check_documents(launched({}, LaunchForm::kserve), {llm_inference_service()});
  check_documents(deployed({}, DeployForm::inference_service), {inference_service()});
  check_documents(deployed({"strategy.pp=2"}, DeployForm::inference_service), {inference_service()});
  check_documents(deployed({}, DeployForm::ray_service), {ray_service()});
  check_documents(deployed({}, DeployForm::dynamo), {dynamo_graph()});
  check_documents(deployed({"strategy.pp=2"}, DeployForm::dynamo), {dynamo_graph()});
}

TEST_CASE("published schemas: queues of Kueue keep the definitions of the version that is stored") {
  const std::string text = R"(
schema = 1
kind = "cluster"
name = "two teams"
[[pool]]
name = "a100"
gpu = "a100-sxm-80gb"
nodes = 1
price = "2 $/h"
date = "2026-08"
[[pool]]
name = "t4"
gpu = "t4"
nodes = 2
gpus_per_node = 4
price = "0.5 $/h"
date = "2026-08"
[policy]
order = "fair"
[[tenant]]
name = "research"
weight = 2
[[tenant]]
name = "product"
quota = {a100 = 6}
[[job]]
name = "urgent"
gpus = 1
time = "1 h"
priority = 7
)";
  const pools::ClusterQuestion question = pools::read_cluster(
      parse_toml(text, "cluster.toml"), "cluster.toml", sources(),
      [](const ConfigValue&, const std::string&) -> std::shared_ptr<const JobQuestion> { return nullptr; });
  check_documents(pools::kueue_text(question), kueue_objects());
}

TEST_CASE("published schemas: a field of another name or type, and one that is missing, are told") {
  const ConfigValue queue = parse_yaml(
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata:\n  name: a\nspec:\n  cohort: all\n"
      "  queueingStrategy: 3\n  resourceGroups:\n    - flavors: []\n",
      "queue.yaml");
  CHECK(faults_of(queue, kueue_objects()[1]) == Words{"spec.cohort is no field", "spec.queueingStrategy is no string",
                                                      "spec.resourceGroups[] lacks coveredResources"});
}
