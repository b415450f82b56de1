// SPDX-License-Identifier: Apache-2.0
// Writes a Serve configuration of Ray Serve LLM, whose engine is vLLM: `serve deploy FILE`, or serveConfigV2 of a
// RayService. Fields: docs.ray.io, serve/llm/user-guides/configuration; ray-project/ray @ 1190ecb,
// python/ray/llm/_internal/serve/core/configs/llm_config.py; accelerators: @ 00501e2,
// python/ray/util/accelerators/accelerators.py.
#include <headroom/core/json_reader.hpp>
#include <headroom/scenarios/launch/argument_tables.hpp>
#include <headroom/scenarios/launch/serve_forms.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace headroom::launch {
namespace {

struct Accelerator {
  std::string_view ours;  ///< start of the SKU's id
  std::string_view theirs;
};
constexpr std::array accelerators{
    Accelerator{"h100-", "H100"},
    Accelerator{"h200-", "H200"},
    Accelerator{"h20-", "H20"},
    Accelerator{"b200-", "B200"},
    Accelerator{"a100-", "A100"},
    Accelerator{"l40s", "L40S"},
    Accelerator{"l4", "L4"},
    Accelerator{"t4", "T4"},
    Accelerator{"v100", "V100"},
    Accelerator{"mi300x", "AMD-Instinct-MI300X-OAM"},
    Accelerator{"mi325x", "AMD-Instinct-MI325X-OAM"},
    Accelerator{"mi350x", "AMD-Instinct-MI350X-OAM"},
    Accelerator{"mi355x", "AMD-Instinct-MI355X-OAM"},
    Accelerator{"mi250x", "AMD-Instinct-MI250X"},
    Accelerator{"mi210", "AMD-Instinct-MI210"},
};

/// An option as a keyword argument of the engine: "--max-num-seqs" as max_num_seqs, "--no-X" as x: false, JSON as a
/// table.
ConfigEntry keyword(const LaunchItem& item) {
  constexpr std::string_view no = "--no-";
  const bool negated = item.name.starts_with(no);
  std::string key = item.name.substr(negated ? no.size() : 2);
  std::replace(key.begin(), key.end(), '-', '_');
  if (key == "speculative_config") {
    return {key, parse_json(item.value.text, "draft")};
  }
  return {key, negated ? flag_value(!item.value.boolean) : item.value};
}

ConfigValue placement(const Replicas& replicas) {
  const ConfigValue gpu = table_value({{"GPU", count_value(1)}});
  std::vector<ConfigValue> bundles(static_cast<std::size_t>(replicas.gpus), gpu);
  return table_value({{"bundles", list_value(std::move(bundles))},
                      {"strategy", word_value(replicas.hosts > 1 ? "PACK" : "STRICT_PACK")}});
}

}  // namespace

LaunchText ray_serve_text(const LaunchPlan& plan) {
  const Replicas replicas = replicas_of(plan);
  if (plan.count("launch.groups", 1) > 1) {
    throw ConfigError{
        "Ray Serve LLM places data ranks as deployments of their own, which no text here writes; use --to "
        "leaderworkerset, or ep no above tp"};
  }
  LaunchWriting writing{replicas.one};
  if (replicas.count > 1) {
    writing.miss("fleet.routing", "Ray Serve sends a request to the shorter queue of two replicas");
  }
  write_vllm(writing, HostsBy::form);
  if (replicas.hosts > 1) {
    writing.put_word("--distributed-executor-backend", "ray");
  }
  note_arguments("vllm", "server", writing);
  std::vector<ConfigEntry> engine;
  for (const LaunchItem& item : writing.items.all()) {
    engine.push_back(keyword(item));
  }
  const std::string name = cluster_name(plan.word("launch.model"));
  std::vector<ConfigEntry> config{
      {"model_loading_config",
       table_value({{"model_id", word_value(name)}, {"model_source", word_value(checkpoint_of(plan))}})},
  };
  const std::string sku = plan.word("hardware.gpu");
  const auto* accelerator = std::find_if(accelerators.begin(), accelerators.end(),
                                         [&](const Accelerator& a) { return sku.starts_with(a.ours); });
  if (accelerator == accelerators.end()) {
    writing.note("hardware.gpu", value_text(word_value(sku)), "Ray has no accelerator_type for it");
    writing.cover("hardware.gpu");
  } else {
    config.push_back({"accelerator_type", word_value(accelerator->theirs)});
  }
  config.push_back({"engine_kwargs", table_value(std::move(engine))});
  config.push_back({"placement_group_config", placement(replicas)});
  config.push_back({"deployment_config", table_value({{"num_replicas", count_value(replicas.count)}})});
  note_serving_gaps("Ray Serve", writing);
  const ConfigValue application =
      table_value({{"name", word_value(name)},
                   {"route_prefix", word_value("/")},
                   {"import_path", word_value("ray.serve.llm:build_openai_app")},
                   {"args", table_value({{"llm_configs", list_value({table_value(std::move(config))})}})}});
  const std::vector<std::string> head{
      "'serve deploy FILE' starts " + replica_words(replicas) + "; they answer at http://HEAD:8000",
      bench_comment(replicas, vllm_bench(bench_load(replicas.one, true)), "http://HEAD:8000") +
          " --served-model-name " + name,
      "to add: the token of gated checkpoints, as HF_TOKEN in runtime_env"};
  return {comment_head(replicas.one, head, writing.notes) +
              yaml_text(table_value({{"applications", list_value({application})}})),
          writing.notes};
}

}  // namespace headroom::launch
