// SPDX-License-Identifier: Apache-2.0
// Deployments: each file holds the plan's numbers, and no field that its form does not have. Fields by release, read in
// the schemas that docs/formats.md names; '*' stands for any key, '[]' for an element.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/yaml/yaml_reader.hpp>
#include <headroom/scenarios/deploy/deploy.hpp>
#include <headroom/scenarios/launch/launch_plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/reports/focus_bill.hpp>
#include <headroom/scenarios/sharing/mig_parted.hpp>
#include <headroom/scenarios/sharing/mig_parted_reader.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "../support/sources.hpp"
#include "../support/yaml.hpp"
#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

using Words = std::vector<std::string>;

Scenario asked(const Words& more) {
  Words all{
      "kind=serve",      "hardware.gpu=h100-sxm-80gb", "model=llama3-70b", "serving.weights=bf16", "serving.isl=2048",
      "serving.osl=256", "serving.concurrency=64",     "hardware.gpus=16", "strategy.tp=8"};
  if (std::any_of(more.begin(), more.end(), [](const std::string& one) { return one.starts_with("traffic."); })) {
    std::erase(all, "serving.concurrency=64");  // a fixed load, where requests come at a rate
  }
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

ExportedLaunch exported(const Words& more, DeployForm form) {
  const Scenario scenario = asked(more);
  return export_deployment(scenario, std::get<ServeScenario>(scenario.question), form);
}

std::string refusal(const Words& more, DeployForm form) {
  try {
    static_cast<void>(exported(more, form));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

/// Leaves of a document as paths; below a path of the table that ends in "/**" nothing is looked at.
void collect(const ConfigValue& value, const std::string& path, const Words& open, std::set<std::string>& paths) {
  if (std::find(open.begin(), open.end(), path + "/**") != open.end()) {
    paths.insert(path + "/**");
    return;
  }
  if (value.kind == ConfigValue::Kind::table && !value.entries.empty()) {
    for (const ConfigEntry& entry : value.entries) {
      collect(entry.value, path.empty() ? entry.key : path + "/" + entry.key, open, paths);
    }
  } else if (value.kind == ConfigValue::Kind::array && !value.items.empty()) {
    for (const ConfigValue& item : value.items) {
      collect(item, path + "/[]", open, paths);
    }
  } else {
    paths.insert(path);
  }
}

void check_fields(const ConfigValue& document, const Words& permitted) {
  std::set<std::string> paths;
  collect(document, "", permitted, paths);
  for (const std::string& path : paths) {
    CAPTURE(path);
    CHECK(std::find(permitted.begin(), permitted.end(), path) != permitted.end());
  }
}

/// nvidia.com/v1alpha1, ai-dynamo/dynamo 1.3.
Words dynamo_fields() {
  Words fields{"apiVersion", "kind", "metadata/name", "spec/backendFramework"};
  for (const std::string service : {"Frontend", "decode", "prefill"}) {
    for (const std::string field : {"componentType", "subComponentType", "replicas", "envFromSecret",
                                    "multinode/nodeCount", "resources/limits/gpu", "extraPodSpec/mainContainer/image",
                                    "extraPodSpec/mainContainer/command/[]", "extraPodSpec/mainContainer/args/[]"}) {
      fields.push_back("spec/services/" + service + "/" + field);
    }
  }
  return fields;
}

bool in_order(const ConfigValue& list, const Words& part) {
  Words words;
  for (const ConfigValue& item : list.items) {
    words.push_back(item.text);
  }
  return std::search(words.begin(), words.end(), part.begin(), part.end()) != words.end();
}

}  // namespace

TEST_CASE("deployments: Dynamo's graph has the plan's replicas, ranks and options, and pools apart where they are") {
  const ExportedLaunch one = exported({}, DeployForm::dynamo);
  const ConfigValue graph = parse_yaml(one.text, "graph.yaml");
  check_fields(graph, dynamo_fields());
  const ConfigValue& worker = at(graph, {"spec", "services", "decode"});
  CHECK(worker.find("replicas")->integer == 2);  // 16 GPUs of tp 8
  CHECK(at(worker, {"resources", "limits", "gpu"}).text == "8");
  CHECK(in_order(at(worker, {"extraPodSpec", "mainContainer", "args"}), {"--tensor-parallel-size", "8"}));
  CHECK(in_order(at(worker, {"extraPodSpec", "mainContainer", "args"}), {"--max-model-len", "2304"}));  // 2048 + 256
  CHECK(in_order(at(worker, {"extraPodSpec", "mainContainer", "command"}), {"python3", "-m", "dynamo.vllm"}));
  const ConfigValue apart = parse_yaml(exported({"traffic.rate=4 req/s", "fleet.replicas=1", "fleet.prefill.tp=4",
                                                 "fleet.prefill.replicas=3", "fleet.prefill.link=400 Gb/s"},
                                                DeployForm::dynamo)
                                           .text,
                                       "graph.yaml");
  check_fields(apart, dynamo_fields());
  const ConfigValue& prompts = at(apart, {"spec", "services", "prefill"});
  CHECK(prompts.find("replicas")->integer == 3);
  CHECK(prompts.find("subComponentType")->text == "prefill");
  CHECK(at(prompts, {"resources", "limits", "gpu"}).text == "4");
  CHECK(in_order(at(prompts, {"extraPodSpec", "mainContainer", "args"}), {"--tensor-parallel-size", "4"}));
  CHECK(in_order(at(prompts, {"extraPodSpec", "mainContainer", "args"}), {"--is-prefill-worker"}));
  const ConfigValue hosts = parse_yaml(exported({"strategy.pp=2"}, DeployForm::dynamo).text, "graph.yaml");
  CHECK(at(hosts, {"spec", "services", "decode", "multinode", "nodeCount"}).integer == 2);
  CHECK(at(hosts, {"spec", "services", "decode", "resources", "limits", "gpu"}).text == "8");
  CHECK(says(refusal({"hardware.gpu=mi300x", "hardware.gpus=8"}, DeployForm::dynamo), "GPUs of NVIDIA"));
}

TEST_CASE("deployments: KServe's InferenceService and KubeRay's RayService") {
  // serving.kserve.io/v1beta1, kserve v0.20.0.
  const Words service_fields{"apiVersion",
                             "kind",
                             "metadata/name",
                             "spec/predictor/minReplicas",
                             "spec/predictor/maxReplicas",
                             "spec/predictor/model/modelFormat/name",
                             "spec/predictor/model/args/[]",
                             "spec/predictor/model/resources/limits/nvidia.com/gpu",
                             "spec/predictor/workerSpec/pipelineParallelSize",
                             "spec/predictor/workerSpec/tensorParallelSize",
                             "spec/predictor/workerSpec/containers/[]/name",
                             "spec/predictor/workerSpec/containers/[]/resources/limits/nvidia.com/gpu"};
  const ConfigValue service = parse_yaml(exported({}, DeployForm::inference_service).text, "isvc.yaml");
  check_fields(service, service_fields);
  CHECK(at(service, {"spec", "predictor", "minReplicas"}).integer == 2);
  CHECK(in_order(at(service, {"spec", "predictor", "model", "args"}), {"--tensor-parallel-size", "8"}));
  const ConfigValue hosts = parse_yaml(exported({"strategy.pp=2"}, DeployForm::inference_service).text, "isvc.yaml");
  check_fields(hosts, service_fields);
  CHECK(at(hosts, {"spec", "predictor", "workerSpec", "pipelineParallelSize"}).integer == 2);
  CHECK(at(hosts, {"spec", "predictor", "workerSpec", "tensorParallelSize"}).integer == 8);
  CHECK(says(refusal({"serving.engine=sglang"}, DeployForm::inference_service), "runs vLLM"));
  // ray.io/v1, kuberay v1.3.
  const ConfigValue ray = parse_yaml(exported({}, DeployForm::ray_service).text, "ray.yaml");
  const std::string cluster = "spec/rayClusterConfig/";
  const std::string pod = "template/spec/containers/[]/";
  check_fields(ray,
               {"apiVersion", "kind", "metadata/name", "spec/serveConfigV2",
                cluster + "headGroupSpec/rayStartParams/num-gpus", cluster + "headGroupSpec/" + pod + "name",
                cluster + "headGroupSpec/" + pod + "image", cluster + "headGroupSpec/" + pod + "ports/[]/containerPort",
                cluster + "headGroupSpec/" + pod + "ports/[]/name", cluster + "workerGroupSpecs/[]/groupName",
                cluster + "workerGroupSpecs/[]/replicas", cluster + "workerGroupSpecs/[]/minReplicas",
                cluster + "workerGroupSpecs/[]/maxReplicas", cluster + "workerGroupSpecs/[]/rayStartParams",
                cluster + "workerGroupSpecs/[]/" + pod + "name", cluster + "workerGroupSpecs/[]/" + pod + "image",
                cluster + "workerGroupSpecs/[]/" + pod + "resources/limits/nvidia.com/gpu"});
  const ConfigValue& group = at(ray, {"spec", "rayClusterConfig", "workerGroupSpecs", "0"});
  CHECK(group.find("replicas")->integer == 2);  // 16 GPUs on hosts of 8
  const ConfigValue serve = parse_yaml(at(ray, {"spec", "serveConfigV2"}).text, "serve.yaml");
  const ConfigValue& config = at(serve, {"applications", "0", "args", "llm_configs", "0"});
  CHECK(at(config, {"engine_kwargs", "tensor_parallel_size"}).integer == 8);
  CHECK(at(config, {"deployment_config", "num_replicas"}).integer == 2);
}

TEST_CASE("deployments: SkyPilot's task of a server and of a training") {
  // skypilot master of 2026-08, sky/utils/schemas.py.
  const Words fields{"name",
                     "num_nodes",
                     "resources/accelerators/H100",
                     "resources/use_spot",
                     "resources/image_id",
                     "resources/ports",

                     "service/readiness_probe/path",
                     "service/readiness_probe/initial_delay_seconds",
                     "service/replicas",
                     "service/ports",
                     "run"};
  const ConfigValue server =
      parse_yaml(exported({"serving.engine_version=0.12.0"}, DeployForm::skypilot).text, "sky.yaml");
  check_fields(server, fields);
  CHECK(at(server, {"resources", "accelerators", "H100"}).integer == 8);
  CHECK(at(server, {"resources", "image_id"}).text == "docker:vllm/vllm-openai:v0.12.0");
  CHECK(at(server, {"service", "replicas"}).integer == 2);
  CHECK(says(server.find("run")->text, "--tensor-parallel-size 8"));
  CHECK(says(refusal({"strategy.pp=2"}, DeployForm::skypilot), "spans 2 nodes"));
  const Scenario scenario = scenario_from_overrides(
      Words{"kind=train", "model=llama3-70b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=64", "training.seq_len=8192",
            "training.global_batch=128", "training.precision=bf16", "strategy.tp=8", "strategy.pp=2", "strategy.dp=4",
            "strategy.micro_batch=1", "strategy.recompute=full"},
      sources());
  const auto& train = std::get<TrainScenario>(scenario.question);
  const ConfigValue task =
      parse_yaml(export_deployment(scenario, train, train.strategy, DeployForm::skypilot).text, "sky.yaml");
  check_fields(task, fields);
  CHECK(task.find("num_nodes")->integer == 8);
  CHECK(says(task.find("run")->text, "--nnodes"));
  CHECK_THROWS_WITH_AS(static_cast<void>(export_deployment(scenario, train, train.strategy, DeployForm::dynamo)),
                       doctest::Contains("deploys servers"), ConfigError);
}

TEST_CASE("deployments: CloudAI's test, scenario and system, of serving and of training") {
  // NVIDIA/cloudai of 2026-08: TestDefinition, TestScenarioModel and TestRunModel (no other field passes), SlurmSystem.
  const Words test_fields{"name",
                          "description",
                          "test_template_name",
                          "cmd_args/docker_image_url",
                          "cmd_args/model",
                          "cmd_args/serve_healthcheck",
                          "cmd_args/serve_wait_seconds",
                          "cmd_args/decode/**",
                          "bench_cmd_args/random_input_len",
                          "bench_cmd_args/random_output_len",
                          "bench_cmd_args/max_concurrency",
                          "bench_cmd_args/num_prompts"};
  const ConfigValue test = parse_toml(exported({}, DeployForm::cloudai_test).text, "test.toml");
  check_fields(test, test_fields);
  CHECK(test.find("test_template_name")->text == "vllm");
  CHECK(at(test, {"cmd_args", "decode", "tensor_parallel_size"}).integer == 8);
  CHECK(at(test, {"bench_cmd_args", "random_input_len"}).integer == 2048);
  CHECK(at(test, {"bench_cmd_args", "max_concurrency"}).integer == 32);  // a replica's half of 64
  const Words scenario_fields{"name",
                              "Tests/[]/id",
                              "Tests/[]/name",
                              "Tests/[]/description",
                              "Tests/[]/test_name",
                              "Tests/[]/test_template_name",
                              "Tests/[]/num_nodes",
                              "Tests/[]/time_limit",
                              "Tests/[]/dependencies/[]/type",
                              "Tests/[]/dependencies/[]/id",
                              "Tests/[]/cmd_args/docker_image_url",
                              "Tests/[]/cmd_args/subtest_name",
                              "Tests/[]/cmd_args/ngpus",
                              "Tests/[]/cmd_args/minbytes",
                              "Tests/[]/cmd_args/maxbytes",
                              "Tests/[]/cmd_args/stepfactor",
                              "Tests/[]/cmd_args/iters",
                              "Tests/[]/cmd_args/warmup_iters"};
  const ConfigValue runs = parse_toml(exported({}, DeployForm::cloudai_scenario).text, "scenario.toml");
  check_fields(runs, scenario_fields);
  const ConfigValue& tests = *runs.find("Tests");
  CHECK(at(tests, {"0", "cmd_args", "subtest_name"}).text == "all_reduce_perf_mpi");
  CHECK(tests.items.back().find("test_name")->text == test.find("name")->text);
  CHECK(at(tests.items.back(), {"dependencies", "0", "id"}).text == at(tests, {"0", "id"}).text);
  const Scenario scenario = scenario_from_overrides(
      Words{"kind=train", "model=llama3-70b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=64", "training.seq_len=8192",
            "training.global_batch=128", "training.precision=bf16", "strategy.tp=8", "strategy.pp=2", "strategy.dp=4",
            "strategy.zero=1", "strategy.micro_batch=1", "strategy.sequence_parallel=true", "strategy.recompute=full"},
      sources());
  const auto& train = std::get<TrainScenario>(scenario.question);
  const auto text = [&](DeployForm form) { return export_deployment(scenario, train, train.strategy, form).text; };
  const ConfigValue job = parse_toml(text(DeployForm::cloudai_test), "test.toml");
  const ConfigValue& arguments = *job.find("cmd_args");
  CHECK(job.find("test_template_name")->text == "MegatronRun");
  CHECK(arguments.find("tensor_model_parallel_size")->integer == 8);
  CHECK(arguments.find("pipeline_model_parallel_size")->integer == 2);
  CHECK(arguments.find("sequence_parallel")->text == "");  // a flag
  for (const ConfigEntry& entry : arguments.entries) {
    CHECK(entry.key.find('-') == std::string::npos);
  }
  const ConfigValue checks = parse_toml(text(DeployForm::cloudai_scenario), "scenario.toml");
  check_fields(checks, scenario_fields);
  CHECK(checks.find("Tests")->items.size() == 5);  // all-reduce, reduce-scatter, all-gather, send and receive, the plan
  CHECK(checks.find("Tests")->items.front().find("num_nodes")->integer == 8);
  const ConfigValue system = parse_toml(text(DeployForm::cloudai_system), "system.toml");
  check_fields(system, {"name", "scheduler", "install_path", "output_path", "default_partition", "mpi", "gpus_per_node",
                        "ntasks_per_node", "partitions/[]/name", "partitions/[]/groups/[]/name",
                        "partitions/[]/groups/[]/nodes/[]"});
  CHECK(system.find("gpus_per_node")->integer == 8);
  CHECK(at(system, {"partitions", "0", "groups", "0", "nodes", "0"}).text == "node-[1-8]");
}

TEST_CASE("deployments: a file reads the same by the strict reader of the tests, and says what it cannot") {
  for (const DeployForm form :
       {DeployForm::dynamo, DeployForm::inference_service, DeployForm::ray_service, DeployForm::skypilot}) {
    CAPTURE(deploy_form_names[static_cast<std::size_t>(form)]);
    const ExportedLaunch launch = exported({"traffic.rate=4 req/s", "fleet.replicas=2"}, form);
    const std::vector<ConfigValue> strict = YamlReader{launch.text}.documents();
    REQUIRE(strict.size() == 1);
    CHECK(launch::same_value(strict.front(), parse_yaml(launch.text, "f.yaml")));
    CHECK(says(launch.text, "# not expressed: "));
  }
}

TEST_CASE("deployments: names that are commands stay names") {
  const std::string hostile = "1\"; $(touch x) #: {a}";
  for (const DeployForm form : {DeployForm::skypilot, DeployForm::cloudai_test}) {
    CAPTURE(deploy_form_names[static_cast<std::size_t>(form)]);
    Scenario scenario = asked({});
    scenario.name = hostile + "\nrun: evil";
    auto& serve = std::get<ServeScenario>(scenario.question);
    serve.engine_version = hostile;
    const std::string text = export_deployment(scenario, serve, form).text;
    const bool yaml = form == DeployForm::skypilot;
    const ConfigValue document = yaml ? parse_yaml(text, "f") : parse_toml(text, "f");
    const std::string image =
        yaml ? at(document, {"resources", "image_id"}).text : at(document, {"cmd_args", "docker_image_url"}).text;
    CHECK(image.ends_with(hostile));
    CHECK(document.find("run") == (yaml ? &at(document, {"run"}) : nullptr));
    CHECK(!says(text, "\nrun: evil"));
  }
}

TEST_CASE("slices: a configuration of mig-parted becomes tenants whose slices are the same") {
  const Device& card = sources().catalog.device("a100-sxm-80gb");
  const PartitionScheme& scheme = *sources().catalog.partitions(card);
  const Bytes context{512e6};
  const std::vector<MigLayout> layouts{{"half", "all", {"3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb"}},
                                       {"off", "all", {}}};
  const std::string text = mig_parted(card, layouts);
  const std::vector<MigLayout> back = read_mig_parted({"mig.yaml", text});
  REQUIRE(back.size() == 2);
  CHECK(back[0].name == "half");
  CHECK(back[0].profiles == layouts[0].profiles);
  CHECK(back[1].profiles.empty());
  const ImportedSlices slices = sharing_of_slices({"mig.yaml", text}, "", card, scheme, context);
  const ConfigValue scenario = parse_toml(slices.toml, "s.toml");
  REQUIRE(scenario.find("tenant")->items.size() == 4);
  CHECK(at(scenario, {"sharing", "mode"}).text == "mig");
  const auto refused = [&](const std::string& yaml, const std::string& name) {
    try {
      static_cast<void>(sharing_of_slices({"mig.yaml", yaml}, name, card, scheme, context));
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{"read"};
  };
  CHECK(says(refused(text, "hal"), "there is no configuration 'hal' that cuts a card; did you mean 'half'?"));
  CHECK(says(refused("version: v1\nmig-configs:\n  a:\n  - devices: all\n    mig-enabled: true\n    mig-devices:\n     "
                     " 1g.5gb: 7\n",
                     ""),
             "has no profile '1g.5gb'"));
  const std::string broken =
      refused("version: v2\nmig-configs:\n  a:\n  - mig-enabled: 1\n    mig-devices:\n      1g.10gb: 0\n", "");
  CHECK(says(broken, "mig.yaml:1:10: error: 'version' must be v1"));
  CHECK(says(broken, "mig.yaml:4:5: error: 'devices' is missing"));
  CHECK(says(broken, "mig.yaml:4:18: error: 'mig-enabled' must be true or false"));
  CHECK(says(broken, "mig.yaml:6:16: error: the number of '1g.10gb' must be 1 to 64"));
}

TEST_CASE("bills: rows of FOCUS become prices by what was charged, spread commitments with them") {
  const std::string header =
      "BillingCurrency,ChargeCategory,ChargeClass,ChargePeriodStart,ChargePeriodEnd,EffectiveCost,PricingCategory,"
      "PricingQuantity,"
      "PricingUnit,ProviderName,RegionId,SkuId,SkuPriceDetails\n";
  const auto row = [](const std::string& cost, const std::string& category, const std::string& hours,
                      const std::string& region, const std::string& type) {
    return "USD,Usage,,2026-10-01T00:00:00Z,2026-10-02T00:00:00Z," + cost + "," + category + "," + hours +
           ",Hours,AWS," + region + ",sku,\"{\"\"InstanceType\"\": \"\"" + type + "\"\", \"\"GpuCount\"\": 8}\"\n";
  };
  const std::string bill = header + row("480", "Standard", "10", "us-east-1", "p5.48xlarge") +
                           row("320", "Standard", "10", "us-west-2", "p5.48xlarge") +
                           row("100", "Committed", "10", "eu-west-1", "p5.48xlarge") +
                           row("7", "Standard", "1", "us-east-1", "m5.large") +
                           "USD,Tax,,2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,12,,,,AWS,,,\n" +
                           row("50", "Dynamic", "5", "us-east-1", "x9.big");
  const ImportedPrices prices = import_focus_bill({"bill.csv", bill}, {"mine", {"x9.big=l40s:2"}}, sources().catalog);
  const ConfigValue list = parse_toml(prices.toml, "mine.toml");
  CHECK(list.find("date")->text == "2026-10");
  const std::vector<ConfigValue>& offers = list.find("offer")->items;
  REQUIRE(offers.size() == 3);
  // (480 + 320) USD over 2 x 10 h x 8 GPUs; 100 over 10 x 8; 50 over 5 x 2.
  CHECK(at(offers[0], {"price", "value"}).text == "5 $/h");
  CHECK(offers[0].find("gpu")->text == "h100-sxm-80gb");
  CHECK(offers[0].find("region")->text == "us");
  CHECK(at(offers[1], {"price", "value"}).text == "1.25 $/h");
  CHECK(offers[1].find("market")->text == "reserved");
  CHECK(offers[1].find("region")->text == "eu");
  CHECK(at(offers[2], {"price", "value"}).text == "5 $/h");
  CHECK(offers[2].find("market")->text == "spot");
  const auto refused = [&](const std::string& text, const Words& instances) {
    try {
      static_cast<void>(import_focus_bill({"bill.csv", text}, {"mine", instances}, sources().catalog));
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{"read"};
  };
  CHECK(says(refused("ChargeCategory,EffectiveCost\nUsage,1\n", {}),
             "bill.csv:1:1: error: column 'BillingCurrency' is missing"));
  CHECK(says(refused(bill, {"x=h100-sxm-80gb:0", "=b", "y=h1000"}),
             "--set x=h100-sxm-80gb:0: error: the number of GPUs"));
  CHECK(says(refused(header + row("1", "Standard", "1", "us", "m5.large"), {}),
             "no row is the use of a GPU by the hour"));
  std::string euros = bill;
  euros.replace(euros.find("USD"), 3, "EUR");
  CHECK(says(refused(euros, {}), "bill.csv:2:1: error: 'BillingCurrency' is 'EUR'"));
}
