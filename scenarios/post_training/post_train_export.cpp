// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/post_training/post_train_export.hpp>
#include <headroom/scenarios/post_training/post_train_plan.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {
namespace {

/// The taken way, or why none can be launched.
const PostTrainWay& launched(const PostTrainPlan& plan) {
  if (!plan.taken) {
    throw ConfigError{plan.balance ? "stages that balance have no launch; ask about a step of post-training"
                                   : "no way to lay the step out fits, so that there is nothing to launch"};
  }
  if (!form_of(plan.question.algorithm).samples) {
    throw ConfigError{"nothing is sampled: export a question of kind train, such as --to torchtitan or megatron"};
  }
  return plan.ways[*plan.taken];
}

std::int64_t hosts(const PostTrainQuestion& q, std::int64_t gpus) {
  const std::int64_t per_host = std::max<std::int64_t>(1, std::min(q.per_node, gpus));
  return (gpus + per_host - 1) / per_host;
}

std::string digits(double tokens) {
  return std::to_string(std::llround(tokens));
}

double engine_share(const PostTrainPlan& plan, const PostTrainWay& way) {
  const PostTrainQuestion& q = plan.question;
  return q.memory_fraction.value_or(way.flow.placement == PostTrainPlacement::colocated ? q.software.colocated_fraction
                                                                                        : q.software.split_fraction);
}

bool by_megatron(const PostTrainWay& way) {
  return way.trainer.strategy.zero < 3;
}

}  // namespace

std::string verl_launch(const PostTrainPlan& plan) {
  const PostTrainWay& way = launched(plan);
  const PostTrainQuestion& q = plan.question;
  const Strategy& s = way.trainer.strategy;
  const std::int64_t per_host = std::min<std::int64_t>(q.per_node, q.gpus);
  const std::string actor = "actor_rollout_ref.actor.", rollout = "actor_rollout_ref.rollout.";
  std::vector<std::string> lines;
  const auto set = [&](const std::string& key, const std::string& value) { lines.push_back(key + "=" + value); };
  const bool ppo = q.algorithm == PostTrainAlgorithm::ppo;
  set("algorithm.adv_estimator", ppo ? "gae" : q.algorithm == PostTrainAlgorithm::rloo ? "rloo" : "grpo");
  set("data.train_batch_size", std::to_string(q.prompts));
  set("data.max_prompt_length", digits(std::max(1024.0, 2.0 * q.prompt_tokens)));
  set("data.max_response_length", digits(q.lengths.most));
  set("actor_rollout_ref.model.path", q.model);
  set(actor + "strategy", by_megatron(way) ? "megatron" : "fsdp2");
  set(actor + "ppo_mini_batch_size",
      std::to_string(q.mini_batch > 0 ? std::max<std::int64_t>(1, q.mini_batch / q.samples) : q.prompts));
  set(actor + "use_dynamic_bsz", "True");
  set(actor + "ppo_max_token_len_per_gpu", digits(s.micro_batch * (q.prompt_tokens + q.lengths.most)));
  set(actor + "use_kl_loss", q.reference ? "True" : "False");
  if (by_megatron(way)) {
    for (const std::string side : {"actor", "ref"}) {
      const std::string key = "actor_rollout_ref." + side + ".megatron.";
      set(key + "tensor_model_parallel_size", std::to_string(s.tp));
      set(key + "pipeline_model_parallel_size", std::to_string(s.pp));
      set(key + "context_parallel_size", std::to_string(s.cp));
      set(key + "expert_model_parallel_size", std::to_string(s.ep));
    }
  } else {
    set("actor_rollout_ref.ref.fsdp_config.param_offload", q.software.reference_on_host ? "True" : "False");
  }
  set(rollout + "name", q.engine.empty() ? q.software.engine : q.engine);
  set(rollout + "n", std::to_string(q.samples));
  set(rollout + "tensor_model_parallel_size", std::to_string(way.engine_tp));
  set(rollout + "gpu_memory_utilization", shortest_text(engine_share(plan, way)));
  set(rollout + "max_num_seqs", std::to_string(q.most_sequences));
  std::string entry = "verl.trainer.main_ppo";
  set("trainer.n_gpus_per_node", std::to_string(per_host));
  set("trainer.nnodes", std::to_string(hosts(q, way.train_gpus)));
  if (way.flow.placement != PostTrainPlacement::colocated) {
    const bool streams = way.flow.order == PostTrainOrder::asynchronous;
    entry = streams ? "recipe.fully_async_policy.fully_async_main" : "recipe.one_step_off_policy.main_ppo";
    set("actor_rollout_ref.hybrid_engine", "False");
    set("rollout.n_gpus_per_node", std::to_string(per_host));
    set("rollout.nnodes", std::to_string(hosts(q, way.rollout_gpus)));
    if (streams) {
      set("async_training.staleness_threshold", shortest_text(way.flow.staleness));
      set("async_training.trigger_parameter_sync_step", digits(way.flow.parts));
      set("async_training.partial_rollout", way.flow.partial ? "True" : "False");
    }
  }
  if (q.steps > 0.0) {
    set("trainer.total_training_steps", digits(q.steps));
  }
  std::string text =
      "#!/bin/sh\n# Data and rewards are yours: data.train_files, custom_reward_function.path.\npython3 -m " + entry;
  for (const std::string& line : lines) {
    text += " \\\n  " + line;
  }
  return text + " \"$@\"\n";
}

std::string nemo_rl_recipe(const PostTrainPlan& plan) {
  const PostTrainWay& way = launched(plan);
  const PostTrainQuestion& q = plan.question;
  const Strategy& s = way.trainer.strategy;
  const bool together = way.flow.placement == PostTrainPlacement::colocated;
  const bool ahead = !together && way.flow.order != PostTrainOrder::synchronous;
  const bool full = s.recompute == Recompute::full;
  const std::int64_t per_host = std::min<std::int64_t>(q.per_node, q.gpus);
  const std::string length = digits(q.prompt_tokens + q.lengths.most);
  std::string text =
      "# Data and environment are yours. Run: uv run examples/run_grpo_math.py --config FILE\ndefaults: "
      "grpo_math_1B.yaml\ngrpo:\n  num_prompts_per_step: " +
      std::to_string(q.prompts) + "\n  num_generations_per_prompt: " + std::to_string(q.samples) + "\n";
  text += q.steps > 0.0 ? "  max_num_steps: " + digits(q.steps) + "\n" : "";
  text += std::string{"  async_grpo:\n    enabled: "} + (ahead ? "true" : "false") +
          "\n    max_trajectory_age_steps: " + digits(std::max(1.0, std::ceil(way.flow.staleness))) + "\n";
  text += std::string{"loss_fn:\n  reference_policy_kl_penalty: "} + (q.reference ? "0.01" : "0.0") + "\n";
  text += "policy:\n  model_name: " + q.model +
          "\n  train_global_batch_size: " + std::to_string(q.mini_batch > 0 ? q.mini_batch : q.answers()) +
          "\n  train_micro_batch_size: " + std::to_string(s.micro_batch) + "\n  max_total_sequence_length: " + length +
          "\n  precision: bfloat16\n  sequence_packing:\n    enabled: true\n";
  if (by_megatron(way)) {
    text += "  dtensor_cfg:\n    enabled: false\n  megatron_cfg:\n    enabled: true\n    tensor_model_parallel_size: " +
            std::to_string(s.tp) + "\n    pipeline_model_parallel_size: " + std::to_string(s.pp) +
            "\n    context_parallel_size: " + std::to_string(s.cp) +
            "\n    expert_model_parallel_size: " + std::to_string(s.ep) +
            "\n    activation_checkpointing: " + (full ? "true" : "false") + "\n";
  } else {
    text += "  dtensor_cfg:\n    enabled: true\n    tensor_parallel_size: " + std::to_string(s.tp) +
            "\n    context_parallel_size: " + std::to_string(s.cp) +
            "\n    activation_checkpointing: " + (full ? "true" : "false") + "\n";
  }
  text += "  generation:\n    backend: vllm\n    max_new_tokens: " + digits(q.lengths.most) +
          "\n    vllm_cfg:\n      tensor_parallel_size: " + std::to_string(way.engine_tp) +
          "\n      gpu_memory_utilization: " + shortest_text(engine_share(plan, way)) +
          "\n      max_model_len: " + length +
          "\n      precision: " + (q.rollout_precision == "fp8" ? "fp8" : "bfloat16") +
          "\n    colocated:\n      enabled: " + (together ? "true" : "false") + "\n";
  if (!together) {
    text += "      resources:\n        gpus_per_node: " + std::to_string(per_host) +
            "\n        num_nodes: " + std::to_string(hosts(q, way.rollout_gpus)) + "\n";
  }
  return text + "cluster:\n  gpus_per_node: " + std::to_string(per_host) +
         "\n  num_nodes: " + std::to_string(hosts(q, way.gpus)) + "\n";
}

}  // namespace headroom
