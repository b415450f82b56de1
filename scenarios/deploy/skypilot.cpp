// SPDX-License-Identifier: Apache-2.0
// Writes a task of SkyPilot: of serving with a service, of training over its nodes. Fields: skypilot-org/skypilot @
// 00052df, sky/utils/schemas.py (get_task_schema, _get_single_resources_schema, get_service_schema); variables of a
// node: docs.skypilot.co, running-jobs/distributed-jobs; names of accelerators: its catalog.
#include <headroom/scenarios/deploy/deploy_forms.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::deploy {
namespace {

using namespace launch;

struct SkyAccelerator {
  std::string_view ours;  ///< start of the SKU's id
  std::string_view theirs;
};
constexpr std::array sky_accelerators{
    SkyAccelerator{"h100-nvl", "H100-NVL"},
    SkyAccelerator{"h100-pcie", "H100"},
    SkyAccelerator{"h100-sxm", "H100"},
    SkyAccelerator{"h200-", "H200"},
    SkyAccelerator{"b200-", "B200"},
    SkyAccelerator{"b300-", "B300"},
    SkyAccelerator{"gb200", "GB200"},
    SkyAccelerator{"gh200-", "GH200"},
    SkyAccelerator{"a100-sxm-80gb", "A100-80GB"},
    SkyAccelerator{"a100-pcie-80gb", "A100-80GB"},
    SkyAccelerator{"a100-", "A100"},
    SkyAccelerator{"l40s", "L40S"},
    SkyAccelerator{"l40", "L40"},
    SkyAccelerator{"l4", "L4"},
    SkyAccelerator{"a10", "A10"},
    SkyAccelerator{"t4", "T4"},
    SkyAccelerator{"v100-sxm2-32gb", "V100-32GB"},
    SkyAccelerator{"v100-", "V100"},
    SkyAccelerator{"mi300x", "MI300X"},
    SkyAccelerator{"rtx-4090", "RTX4090"},
    SkyAccelerator{"rtx-5090", "RTX5090"},
};

/// {"accelerators": {H100: 8}, ...}; without a name of the SKU a note asks for it.
ConfigValue resources(
    const LaunchPlan& plan, std::int64_t gpus, bool spot, LaunchWriting& writing, std::vector<ConfigEntry> more) {
  std::vector<ConfigEntry> entries;
  const std::string sku = plan.word("hardware.gpu");
  const auto* const known = std::find_if(sky_accelerators.begin(), sky_accelerators.end(),
                                         [&](const SkyAccelerator& a) { return sku.starts_with(a.ours); });
  if (known == sky_accelerators.end()) {
    writing.note("hardware.gpu", value_text(word_value(sku)),
                 "its name in the catalog of SkyPilot is not known here: state resources.accelerators with " +
                     std::to_string(gpus) + " of it");
  } else {
    entries.push_back({"accelerators", table_value({{std::string{known->theirs}, count_value(gpus)}})});
  }
  writing.cover("hardware.gpu");
  if (spot) {
    entries.push_back({"use_spot", flag_value(true)});
  }
  entries.insert(entries.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return table_value(std::move(entries));
}

/// Words of a process as one command of a shell.
std::string shell_command(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool option = words[i].starts_with("--");
    text += (i == 0 ? "" : option ? " \\\n  " : " ") + shell_quoted(words[i]);
  }
  return text + "\n";
}

}  // namespace

LaunchText skypilot_server_text(const LaunchPlan& plan, bool spot) {
  const Replicas replicas = replicas_of(plan);
  if (replicas.hosts > 1) {
    throw ConfigError{
        "a replica of SkyServe that spans " + std::to_string(replicas.hosts) +
        " nodes starts its ranks by Ray or MPI, which no text here writes; use --to leaderworkerset, or a "
        "replica of one host"};
  }
  LaunchWriting writing{replicas.one};
  const std::string options = write_engine(writing);
  const std::string image = image_of_engine(writing);
  note_front(replicas, "SkyServe's load balancer sends a request to the replica with the fewest under way", writing);
  const ConfigValue wanted = resources(plan, replicas.host_gpus, spot, writing,
                                       {{"image_id", word_value("docker:" + image)}, {"ports", count_value(8000)}});
  note_serving_gaps("SkyPilot", writing);
  std::vector<std::string> command = engine_command(writing);
  command.insert(command.end(), {"--host", "0.0.0.0", "--port", "8000"});
  std::string run = shell_command(command);
  if (!options.empty()) {
    run = "cat > options.yaml << 'END'\n" + options + "END\n" + shell_command([&] {
            command.insert(command.end(), {"--extra_llm_api_options", "options.yaml"});
            return command;
          }());
  }
  const ConfigValue task = table_value(
      {{"name", word_value(workload_name(plan))},
       {"resources", wanted},
       {"service", table_value({{"readiness_probe", table_value({{"path", word_value("/health")},
                                                                 {"initial_delay_seconds", count_value(3600)}})},
                                {"replicas", count_value(replicas.count)},
                                {"ports", count_value(8000)}})},
       {"run", word_value(run)}});
  const std::vector<std::string> head{
      "'sky serve up FILE' starts " + replica_words(replicas) + "; 'sky serve status' tells their address",
      bench_comment(replicas, engine_bench(replicas.one), "http://ENDPOINT"),
      "to add: infra, region and disk; the token of gated checkpoints by '--secret HF_TOKEN'"};
  return {comment_head(replicas.one, head, writing.notes) + yaml_text(task), writing.notes};
}

LaunchText skypilot_training_text(const LaunchPlan& plan, bool spot) {
  const std::int64_t gpus = plan.count("hardware.gpus", 1);
  const std::int64_t per_node = std::min(gpus, std::max<std::int64_t>(1, plan.count("launch.gpus_per_node", 1)));
  const std::int64_t nodes = gpus / per_node;
  std::vector<std::string> words = torchrun_words(plan, "\"$MASTER_ADDR:29500\"");
  if (nodes > 1) {
    words.emplace_back("--rdzv-id \"$SKYPILOT_TASK_ID\"");
  }
  const TrainerCommand trainer = trainer_command(plan);
  words.insert(words.end(), trainer.words.begin(), trainer.words.end());
  LaunchWriting writing{plan};
  writing.notes = trainer.notes;
  std::erase_if(writing.notes, [](const LaunchNote& note) { return note.key == "hardware.gpu"; });  // said below
  const ConfigValue wanted = resources(plan, per_node, spot, writing, {});
  std::vector<ConfigEntry> task{
      {"name", word_value(workload_name(plan))}, {"num_nodes", count_value(nodes)}, {"resources", wanted}};
  task.push_back({"run", word_value("set -euo pipefail\nMASTER_ADDR=$(echo \"$SKYPILOT_NODE_IPS\" | head -n 1)\nexport "
                                    "MASTER_ADDR\n" +
                                    continued(words))});
  const std::vector<std::string> head{"'sky launch FILE' starts " + std::to_string(nodes) +
                                          (nodes == 1 ? " node of " : " nodes of ") + std::to_string(per_node) +
                                          " GPUs",
                                      "to add: setup, infra and region, data, tokenizer and learning rate"};
  return {comment_head(plan, head, writing.notes) + yaml_text(table_value(std::move(task))), writing.notes};
}

}  // namespace headroom::deploy
