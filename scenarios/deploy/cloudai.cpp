// SPDX-License-Identifier: Apache-2.0
// Writes TOML of NVIDIA's CloudAI that verifies a plan: a test of it, a scenario that first measures its collectives,
// and the Slurm system. Fields: NVIDIA/cloudai @ 5b5c0f7, src/cloudai/models/{workload,scenario}.py, systems/slurm/
// slurm_system.py, workloads/{vllm/vllm,sglang/sglang,common/llm_serving,megatron_run/megatron_run,nccl_test/nccl}.py,
// registration.py (names of templates). A flag of MegatronRun is an empty text; names have underscores.
#include <headroom/core/printable.hpp>
#include <headroom/scenarios/deploy/deploy_forms.hpp>
#include <headroom/scenarios/launch/megatron_core.hpp>

#include <algorithm>
#include <utility>

namespace headroom::deploy {
namespace {

using namespace launch;

std::int64_t nodes_of(const LaunchPlan& plan) {
  const std::int64_t gpus = is_serving(plan) ? replicas_of(plan).gpus : plan.count("hardware.gpus", 1);
  const std::int64_t per_node = std::max<std::int64_t>(1, plan.count("launch.gpus_per_node", 1));
  return std::max<std::int64_t>(1, (gpus + per_node - 1) / per_node);
}

std::string underscored(std::string_view flag) {
  while (flag.starts_with('-')) {
    flag.remove_prefix(1);
  }
  std::string name{flag};
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string test_name(const LaunchPlan& plan) {
  return workload_name(plan) + (is_serving(plan) ? "-serving" : "-training");
}

std::string toml_with_head(const LaunchPlan& plan,
                           const std::vector<std::string>& head,
                           const std::vector<LaunchNote>& notes,
                           const ConfigValue& document) {
  return comment_head(plan, head, notes) + document_text(document, {});
}

ConfigValue test_definition(const LaunchPlan& plan,
                            std::string_view what,
                            std::string_view test_template,
                            ConfigValue arguments) {
  return table_value({{"name", word_value(test_name(plan))},
                      {"description", word_value(shown(plan.word("name", "a plan")) + ", " + std::string{what})},
                      {"test_template_name", word_value(test_template)},
                      {"cmd_args", std::move(arguments)}});
}

/// Options as members: "--max-num-seqs" as max_num_seqs, a negated flag as its name and false.
ConfigValue engine_table(const LaunchItems& items) {
  std::vector<ConfigEntry> entries;
  for (const LaunchItem& item : items.all()) {
    const bool negated = item.name.starts_with("--no-");
    const std::string name = underscored(negated ? std::string_view{item.name}.substr(5) : std::string_view{item.name});
    entries.push_back({name, negated ? flag_value(!item.value.boolean) : item.value});
  }
  return table_value(std::move(entries));
}

LaunchText serving_test(const LaunchPlan& plan) {
  const std::string engine = plan.word("serving.engine");
  if (engine != "vllm" && engine != "sglang") {
    throw ConfigError{"CloudAI serves vLLM and SGLang, and the scenario's engine is " + quoted(engine) +
                      "; use --to tensorrt-llm"};
  }
  const Replicas replicas = replicas_of(plan);
  LaunchWriting writing{replicas.one};
  static_cast<void>(write_engine(writing));
  const std::string image = image_of_engine(writing);
  if (replicas.count > 1) {
    writing.notes.push_back({"fleet.replicas", "fleet.replicas = " + std::to_string(replicas.count) +
                                                   " (the test starts one and sends it one replica's load)"});
    writing.cover("fleet.replicas");
    writing.miss("fleet.routing", "one replica has no router");
  }
  note_serving_gaps("CloudAI", writing);
  const BenchLoad load = bench_load(plan, false);
  if (load.rate) {
    writing.notes.push_back({"traffic.rate",
                             "traffic.rate (CloudAI's benchmark keeps max_concurrency requests in flight; "
                             "state those that the plan runs at the rate)"});
  }
  ConfigValue document = test_definition(plan, "one replica", engine,
                                         table_value({{"docker_image_url", word_value(image)},
                                                      {"model", word_value(checkpoint_of(plan))},
                                                      {"serve_healthcheck", word_value("/health")},
                                                      {"serve_wait_seconds", count_value(3600)},
                                                      {"decode", engine_table(writing.items)}}));
  document.entries.push_back({"bench_cmd_args", table_value({{"random_input_len", count_value(load.isl)},
                                                             {"random_output_len", count_value(load.osl)},
                                                             {"max_concurrency", count_value(load.concurrency)},
                                                             {"num_prompts", count_value(load.prompts)}})});
  return {toml_with_head(replicas.one,
                         {"A test of CloudAI, for the folder of --tests-dir: one replica of " +
                              std::to_string(replicas.gpus) + " GPUs under its load of the plan",
                          "its result, vllm-bench.json, is read by 'headroom import --from bench-serve'"},
                         writing.notes, document),
          writing.notes};
}

LaunchText training_test(const LaunchPlan& plan) {
  LaunchWriting writing = write_megatron(plan, false);
  std::vector<ConfigEntry> arguments{{"docker_image_url", word_value("nvcr.io#nvidia/pytorch:latest")},
                                     {"run_script", word_value("pretrain_gpt.py")}};
  for (const LaunchItem& item : writing.items.all()) {
    const bool flag = item.value.kind == ConfigValue::Kind::boolean;
    if (!flag || item.value.boolean) {
      arguments.push_back({underscored(item.name), flag ? word_value("") : item.value});
    }
  }
  writing.notes.push_back({"training.software",
                           "docker_image_url and run_script (the image, its tag, and where "
                           "Megatron-LM lies in it are the site's)"});
  return {toml_with_head(plan,
                         {"A test of CloudAI, for the folder of --tests-dir: Megatron-LM with the plan's arguments",
                          "to add: data, tokenizer and learning rate"},
                         writing.notes,
                         test_definition(plan, "Megatron-LM", "MegatronRun", table_value(std::move(arguments)))),
          writing.notes};
}

struct PlannedCollective {
  std::string_view subtest, why;
};

/// Collectives whose rate decides the plan.
std::vector<PlannedCollective> collectives_of(const LaunchPlan& plan) {
  std::vector<PlannedCollective> list;
  const auto add = [&](bool needed, std::string_view subtest, std::string_view why) {
    if (needed) {
      list.push_back({subtest, why});
    }
  };
  const bool serving = is_serving(plan);
  const std::int64_t tp = plan.count("strategy.tp", 1);
  add(serving ? tp > 1 : true, "all_reduce_perf_mpi", serving ? "tensor parallelism" : "data and tensor parallelism");
  add(!serving && plan.count("strategy.zero", 0) > 0, "reduce_scatter_perf_mpi", "sharded gradients");
  add(!serving && plan.count("strategy.zero", 0) > 0, "all_gather_perf_mpi", "sharded parameters");
  add(plan.count("strategy.ep", 1) > 1, "alltoall_perf_mpi", "dispatch of experts");
  add(plan.count("strategy.pp", 1) > 1, "sendrecv_perf_mpi", "pipeline ranks");
  return list;
}

}  // namespace

LaunchText cloudai_test_text(const LaunchPlan& plan) {
  return is_serving(plan) ? serving_test(plan) : training_test(plan);
}

LaunchText cloudai_scenario_text(const LaunchPlan& plan) {
  const std::int64_t nodes = nodes_of(plan);
  std::vector<ConfigValue> tests;
  std::string before;
  const auto depends = [&](std::vector<ConfigEntry>& test) {
    if (!before.empty()) {
      test.push_back(
          {"dependencies",
           list_value({table_value({{"type", word_value("start_post_comp")}, {"id", word_value(before)}})})});
    }
  };
  for (const PlannedCollective& collective : collectives_of(plan)) {
    const std::string id{collective.subtest.substr(0, collective.subtest.find("_perf"))};
    std::vector<ConfigEntry> test{{"id", word_value(id)},
                                  {"name", word_value(id)},
                                  {"description", word_value(collective.why)},
                                  {"test_template_name", word_value("NcclTest")},
                                  {"num_nodes", count_value(nodes)},
                                  {"time_limit", word_value("00:10:00")}};
    test.push_back({"cmd_args", table_value({{"docker_image_url", word_value("nvcr.io#nvidia/pytorch:latest")},
                                             {"subtest_name", word_value(collective.subtest)},
                                             {"ngpus", count_value(1)},
                                             {"minbytes", word_value("1M")},
                                             {"maxbytes", word_value("1G")},
                                             {"stepfactor", count_value(2)},
                                             {"iters", count_value(20)},
                                             {"warmup_iters", count_value(5)}})});
    depends(test);
    before = id;
    tests.push_back(table_value(std::move(test)));
  }
  std::vector<ConfigEntry> own{{"id", word_value("plan")},
                               {"test_name", word_value(test_name(plan))},
                               {"num_nodes", count_value(nodes)},
                               {"time_limit", word_value("02:00:00")}};
  depends(own);
  tests.push_back(table_value(std::move(own)));
  const std::vector<LaunchNote> notes{
      {"launch.image", "docker_image_url (the image with nccl-tests and its tag are the site's)"}};
  return {toml_with_head(
              plan,
              {"A scenario of CloudAI: 'cloudai run --system-config SYSTEM --tests-dir TESTS --test-scenario "
               "FILE'",
               "it measures the collectives of the plan on its " + std::to_string(nodes) +
                   (nodes == 1 ? " node" : " nodes") +
                   ", then runs the test that --to cloudai-test writes; "
                   "'headroom import --from nccl-tests' reads the first"},
              notes, table_value({{"name", word_value(workload_name(plan))}, {"Tests", list_value(std::move(tests))}})),
          notes};
}

LaunchText cloudai_system_text(const LaunchPlan& plan) {
  const std::int64_t per_node = std::max<std::int64_t>(1, plan.count("launch.gpus_per_node", 1));
  const std::int64_t nodes = nodes_of(plan);
  const ConfigValue group = table_value(
      {{"name", word_value("group_1")}, {"nodes", words_value({"node-[1-" + std::to_string(nodes) + "]"})}});
  const ConfigValue partition = table_value({{"name", word_value("partition_1")}, {"groups", list_value({group})}});
  const ConfigValue system = table_value({{"name", word_value(cluster_name(plan.word("hardware.gpu", "cluster")))},
                                          {"scheduler", word_value("slurm")},
                                          {"install_path", word_value("./install")},
                                          {"output_path", word_value("./results")},
                                          {"default_partition", word_value("partition_1")},
                                          {"mpi", word_value("pmix")},
                                          {"gpus_per_node", count_value(per_node)},
                                          {"ntasks_per_node", count_value(per_node)},
                                          {"partitions", list_value({partition})}});
  const std::vector<LaunchNote> notes{
      {"hardware.node",
       "names of nodes and partitions, paths and NCCL's variables (no scenario states them: put the "
       "site's in)"}};
  return {toml_with_head(plan, {"A Slurm system of CloudAI with the plan's nodes"}, notes, system), notes};
}

}  // namespace headroom::deploy
