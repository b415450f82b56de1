// SPDX-License-Identifier: Apache-2.0
// NeMo: overrides of a Megatron-Bridge recipe, `key=value` a line. Names: NVIDIA-NeMo/Megatron-Bridge @ 167ba2a,
// docs/megatron-lm-to-megatron-bridge.md and @ 158aa4e, scripts/translate_mlm_to_bridge.py; recipes of precision @
// 0509780, src/megatron/bridge/training/mixed_precision.py; NeMo 2 names: @ 10648a5, docs/nemo2-migration-guide.md.
#include <headroom/scenarios/launch/launch_forms.hpp>
#include <headroom/scenarios/launch/megatron_core.hpp>

#include <algorithm>
#include <array>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;

/// Megatron-LM's argument and Megatron-Bridge's key. `inverted`: the key is true when the argument is absent.
struct BridgeName {
  std::string_view flag, key;
  bool inverted = false;
};

// clang-format off
constexpr std::array names{
    BridgeName{"--num-layers", "model.num_layers"},
    BridgeName{"--hidden-size", "model.hidden_size"},
    BridgeName{"--ffn-hidden-size", "model.ffn_hidden_size"},
    BridgeName{"--num-attention-heads", "model.num_attention_heads"},
    BridgeName{"--num-query-groups", "model.num_query_groups"},
    BridgeName{"--kv-channels", "model.kv_channels"},
    BridgeName{"--swiglu", "model.gated_linear_unit"},
    BridgeName{"--untie-embeddings-and-output-weights", "model.share_embeddings_and_output_weights", true},
    BridgeName{"--activation-func", "model.activation_func"},
    BridgeName{"--normalization", "model.normalization"},
    BridgeName{"--norm-epsilon", "model.layernorm_epsilon"},
    BridgeName{"--disable-bias-linear", "model.add_bias_linear", true},
    BridgeName{"--add-qkv-bias", "model.add_qkv_bias"},
    BridgeName{"--qk-layernorm", "model.qk_layernorm"},
    BridgeName{"--softmax-type", "model.softmax_type"},
    BridgeName{"--position-embedding-type", "model.position_embedding_type"},
    BridgeName{"--max-position-embeddings", "model.max_position_embeddings"},
    BridgeName{"--rotary-base", "model.rotary_base"},
    BridgeName{"--rotary-percent", "model.rotary_percent"},
    BridgeName{"--rotary-seq-len-interpolation-factor", "model.seq_len_interpolation_factor"},
    BridgeName{"--use-rope-scaling", "model.rope_scaling"},
    BridgeName{"--rope-scaling-factor", "model.rope_scaling_factor"},
    BridgeName{"--rope-type", "model.rope_type"},
    BridgeName{"--rotary-scaling-factor", "model.rotary_scaling_factor"},
    BridgeName{"--mscale", "model.mscale"},
    BridgeName{"--mscale-all-dim", "model.mscale_all_dim"},
    BridgeName{"--attention-output-gate", "model.attention_output_gate"},
    BridgeName{"--vocab-size", "tokenizer.vocab_size"},
    BridgeName{"--make-vocab-size-divisible-by", "model.make_vocab_size_divisible_by"},
    BridgeName{"--mtp-num-layers", "model.mtp_num_layers"},
    BridgeName{"--window-size", "model.window_size"},
    BridgeName{"--window-attn-skip-freq", "model.window_attn_skip_freq"},
    BridgeName{"--num-experts", "model.num_moe_experts"},
    BridgeName{"--moe-router-topk", "model.moe_router_topk"},
    BridgeName{"--moe-ffn-hidden-size", "model.moe_ffn_hidden_size"},
    BridgeName{"--moe-shared-expert-intermediate-size", "model.moe_shared_expert_intermediate_size"},
    BridgeName{"--moe-layer-freq", "model.moe_layer_freq"},
    BridgeName{"--moe-router-enable-expert-bias", "model.moe_router_enable_expert_bias"},
    BridgeName{"--moe-shared-expert-gate", "model.moe_shared_expert_gate"},
    BridgeName{"--moe-router-score-function", "model.moe_router_score_function"},
    BridgeName{"--moe-router-pre-softmax", "model.moe_router_pre_softmax"},
    BridgeName{"--moe-router-topk-scaling-factor", "model.moe_router_topk_scaling_factor"},
    BridgeName{"--moe-router-num-groups", "model.moe_router_num_groups"},
    BridgeName{"--moe-router-group-topk", "model.moe_router_group_topk"},
    BridgeName{"--moe-grouped-gemm", "model.moe_grouped_gemm"},
    BridgeName{"--moe-token-dispatcher-type", "model.moe_token_dispatcher_type"},
    BridgeName{"--moe-flex-dispatcher-backend", "model.moe_flex_dispatcher_backend"},
    BridgeName{"--multi-latent-attention", "model.multi_latent_attention"},
    BridgeName{"--q-lora-rank", "model.q_lora_rank"},
    BridgeName{"--kv-lora-rank", "model.kv_lora_rank"},
    BridgeName{"--qk-head-dim", "model.qk_head_dim"},
    BridgeName{"--qk-pos-emb-head-dim", "model.qk_pos_emb_head_dim"},
    BridgeName{"--v-head-dim", "model.v_head_dim"},
    BridgeName{"--tensor-model-parallel-size", "model.tensor_model_parallel_size"},
    BridgeName{"--pipeline-model-parallel-size", "model.pipeline_model_parallel_size"},
    BridgeName{"--num-virtual-stages-per-pipeline-rank", "model.virtual_pipeline_model_parallel_size"},
    BridgeName{"--decoder-first-pipeline-num-layers", "model.num_layers_in_first_pipeline_stage"},
    BridgeName{"--decoder-last-pipeline-num-layers", "model.num_layers_in_last_pipeline_stage"},
    BridgeName{"--context-parallel-size", "model.context_parallel_size"},
    BridgeName{"--cp-comm-type", "model.cp_comm_type"},
    BridgeName{"--expert-model-parallel-size", "model.expert_model_parallel_size"},
    BridgeName{"--expert-tensor-parallel-size", "model.expert_tensor_parallel_size"},
    BridgeName{"--sequence-parallel", "model.sequence_parallel"},
    BridgeName{"--overlap-moe-expert-parallel-comm", "model.overlap_moe_expert_parallel_comm"},
    BridgeName{"--cuda-graph-impl", "model.cuda_graph_impl"},
    BridgeName{"--recompute-granularity", "model.recompute_granularity"},
    BridgeName{"--recompute-method", "model.recompute_method"},
    BridgeName{"--recompute-num-layers", "model.recompute_num_layers"},
    BridgeName{"--recompute-modules", "model.recompute_modules"},
    BridgeName{"--use-distributed-optimizer", "ddp.use_distributed_optimizer"},
    BridgeName{"--use-megatron-fsdp", "ddp.use_megatron_fsdp"},
    BridgeName{"--data-parallel-sharding-strategy", "ddp.data_parallel_sharding_strategy"},
    BridgeName{"--num-distributed-optimizer-instances", "ddp.num_distributed_optimizer_instances"},
    BridgeName{"--overlap-grad-reduce", "ddp.overlap_grad_reduce"},
    BridgeName{"--overlap-param-gather", "ddp.overlap_param_gather"},
    BridgeName{"--tp-comm-overlap", "comm_overlap.tp_comm_overlap"},
    BridgeName{"--use-tp-pp-dp-mapping", "dist.use_tp_pp_dp_mapping"},
    BridgeName{"--accumulate-allreduce-grads-in-fp32", "ddp.grad_reduce_in_fp32"},
    BridgeName{"--seq-length", "model.seq_length"},
    BridgeName{"--seq-length", "dataset.seq_length"},
    BridgeName{"--micro-batch-size", "train.micro_batch_size"},
    BridgeName{"--global-batch-size", "train.global_batch_size"},
    BridgeName{"--train-iters", "train.train_iters"},
    BridgeName{"--train-samples", "train.train_samples"},
    BridgeName{"--optimizer", "optimizer.optimizer"},
    BridgeName{"--sgd-momentum", "optimizer.sgd_momentum"},
    BridgeName{"--use-precision-aware-optimizer", "optimizer.use_precision_aware_optimizer"},
    BridgeName{"--exp-avg-dtype", "optimizer.exp_avg_dtype"},
    BridgeName{"--exp-avg-sq-dtype", "optimizer.exp_avg_sq_dtype"},
    BridgeName{"--optimizer-cpu-offload", "optimizer.optimizer_cpu_offload"},
    BridgeName{"--attention-backend", "model.attention_backend"},
    BridgeName{"--attention-dropout", "model.attention_dropout"},
    BridgeName{"--hidden-dropout", "model.hidden_dropout"},
    BridgeName{"--cross-entropy-loss-fusion", "model.cross_entropy_loss_fusion"},
    BridgeName{"--transformer-impl", "model.transformer_impl"},
    BridgeName{"--ckpt-format", "checkpoint.ckpt_format"},
};

/// Spellings of NeMo 2 and older, which are read but not written: a key, or a prefix that ends in '.'.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> older{{
    {"trainer.strategy.ddp.", "ddp."},
    {"trainer.strategy.", "model."},
    {"model.config.", "model."},
    {"trainer.max_steps", "train.train_iters"},
    {"data.micro_batch_size", "train.micro_batch_size"},
    {"data.global_batch_size", "train.global_batch_size"},
    {"data.seq_length", "model.seq_length"},
    {"dataset.sequence_length", "model.seq_length"},
}};

constexpr std::array<std::string_view, 17> nemo_passed{
    "optimizer.*", "scheduler.*", "dataset.*", "data.*", "tokenizer.*", "checkpoint.*", "logger.*", "log.*",
    "validation.*", "rng.*", "profiling.*", "dist.*", "comm_overlap.*", "inprocess_restart.*", "resume.*", "optim.*",
    "model.init_method_std"};

struct Recipe {
  std::string_view precision, name;
};
/// Recipes of precision; the first name is written, and hyphens are read as underscores.
constexpr std::array recipes{
    Recipe{"bf16", "bf16_mixed"},
    Recipe{"fp16", "fp16_mixed"},
    Recipe{"fp8", "bf16_with_fp8_delayed_scaling_mixed"},
    Recipe{"fp8", "bf16_with_fp8_current_scaling_mixed"},
    Recipe{"fp8", "bf16_with_fp8_subchannel_scaling_mixed"},
    Recipe{"mxfp8", "bf16_with_mxfp8_mixed"},
    Recipe{"nvfp4", "bf16_with_nvfp4_mixed"},
    Recipe{"fp16", "16_mixed"},
};
// clang-format on

std::string line(std::string_view key, const ConfigValue& value) {
  const std::string text = value.kind == Kind::text ? value.text : value_text(value);
  return shell_quoted(std::string{key} + "=" + text) + "\n";
}

void write_item(const LaunchItem& item, std::string& text) {
  if (item.name == "--num-virtual-stages-per-pipeline-rank" && item.value.integer == 1) {
    text += "model.virtual_pipeline_model_parallel_size=null\n";  // 1 would select the interleaved schedule
    return;
  }
  for (const BridgeName& name : names) {
    if (name.flag == item.name) {
      const bool flip = name.inverted && item.value.kind == Kind::boolean;
      text += line(name.key, flip ? flag_value(!item.value.boolean) : item.value);
    }
  }
}

/// Key of an item in Megatron-Bridge's spelling.
std::string bridge_key(std::string key) {
  key.erase(0, key.find_first_not_of("+"));
  for (const auto& [from, to] : older) {
    if (from.ends_with('.') ? key.starts_with(from) : key == from) {
      return std::string{to} + key.substr(from.size());
    }
  }
  return key;
}

ConfigValue typed(ConfigValue value) {
  if (value.kind == Kind::text &&
      (value.text == "true" || value.text == "True" || value.text == "false" || value.text == "False")) {
    ConfigValue flag = flag_value(value.text == "true" || value.text == "True");
    flag.file = value.file;
    flag.at = flag.key_at = value.at;
    return flag;
  }
  if (value.kind == Kind::text && (value.text == "null" || value.text == "None" || value.text == "none")) {
    value.kind = Kind::null;
  }
  return value;
}

/// Reads `mixed_precision=NAME`.
void read_recipe(const ConfigValue& value, LaunchReading& reading) {
  std::string word = value.text;
  std::replace(word.begin(), word.end(), '-', '_');
  std::vector<std::string_view> known;
  for (const Recipe& recipe : recipes) {
    known.push_back(recipe.name);
    if (recipe.name == word) {
      return reading.state("training.precision", word_value(recipe.precision), value);
    }
  }
  reading.failed.emplace("training.precision");
  reading.failed.emplace("training.precision");
  reading.problem(value,
                  "'mixed_precision' is " + quoted(value.text) + ", no recipe known here" + suggestion(word, known));
}

/// Reads the hosts of NeMo 2; Megatron-Bridge leaves them to the launcher.
bool read_hosts(const std::string& key, const ConfigValue& value, LaunchReading& reading) {
  const std::string_view ours = key == "trainer.num_nodes" ? "launch.nodes"
                                : key == "trainer.devices" ? "launch.gpus_per_node"
                                                           : "";
  if (!ours.empty()) {
    if (const auto count = reading.count_of(key, value, machine_count)) {
      reading.state(ours, count_value(*count), value);
    }
  }
  return !ours.empty();
}

}  // namespace

LaunchText nemo_text(const LaunchPlan& plan) {
  LaunchWriting writing = write_megatron(plan, true);
  std::string body;
  for (const LaunchItem& item : writing.items.all()) {
    write_item(item, body);
  }
  const std::string precision = plan.word("training.precision");
  const auto recipe =
      std::find_if(recipes.begin(), recipes.end(), [&](const auto& r) { return r.precision == precision; });
  if (recipe != recipes.end()) {
    body += "mixed_precision=" + std::string{recipe->name} + "\n";
  } else if (writing.covered.count("training.precision") > 0) {
    writing.note("training.precision", "\"" + precision + "\"", "Megatron-Bridge has no recipe of it");
  }
  std::vector<std::string> head{"overrides of a Megatron-Bridge recipe, key=value:",
                                "run_recipe.py --recipe NAME $(grep -v '^#' THIS_FILE | xargs)"};
  return {comment_head(plan, head, writing.notes) + body, writing.notes};
}

void read_nemo(const LaunchItems& items, LaunchReading& reading) {
  LaunchItems canonical;
  LaunchItems rest;
  for (const LaunchItem& item : items.all()) {
    const std::string key = bridge_key(item.name);
    const ConfigValue value = typed(item.value);
    const auto name = std::find_if(names.begin(), names.end(), [&](const BridgeName& n) { return n.key == key; });
    if (read_hosts(item.name, value, reading)) {
      continue;
    }
    if (key == "mixed_precision") {
      read_recipe(value, reading);
    } else if (name != names.end() && name->inverted) {
      reading.spelled[std::string{name->flag}] = item.name;
      if (const auto flag = reading.flag_of(key, value)) {
        ConfigValue flipped = flag_value(!*flag);
        flipped.file = value.file;
        flipped.at = flipped.key_at = value.at;
        canonical.put(name->flag, flipped);
      }
    } else if (name != names.end()) {
      reading.spelled[std::string{name->flag}] = item.name;
      const bool two = name->flag == "--seq-length" && canonical.has(name->flag);
      if (two) {
        if (const auto length = reading.count_of(key, value, any_count)) {
          reading.state("training.seq_len", count_value(*length), value);
        }
      } else if (value.kind != Kind::null || name->flag == "--recompute-granularity") {
        canonical.put(name->flag, value);
      }
    } else {
      rest.put(key, item.value);
    }
  }
  std::vector<LaunchRow> rows;
  for (const BridgeName& name : names) {
    rows.push_back({name.key, "", RowKind::special, {}, {}});
  }
  rows.push_back({"mixed_precision", "", RowKind::special, {}, {}});
  read_rows(rows, nemo_passed, rest, reading);
  read_megatron(canonical, Absent::is_unsaid, reading);
  // bf16 recipes reduce gradients in fp32 unless `ddp` sets otherwise.
  if (const ConfigValue* wide = canonical.find("--accumulate-allreduce-grads-in-fp32");
      wide != nullptr && wide->kind == Kind::boolean && !wide->boolean) {
    reading.state("training.gradients", word_value("bf16"), *wide);
  }
  reading.assume("training.software", word_value("megatron-bridge"));
}

void read_nemo_text(const ConfigSource& source, LaunchReading& reading) {
  const ShellScript script = script_of(source, Assignments::words, {});
  const auto file = std::make_shared<const std::string>(source.file);
  LaunchItems items;
  for (const ShellCommand& command : script.commands) {
    for (const ShellWord& word : command.words) {
      const std::size_t equals = word.text.find('=');
      if (equals == std::string::npos || equals == 0) {
        reading.problem(word.at, quoted(word.text) + " is no override of the form key=value");
        continue;
      }
      ConfigValue value = word_value(word.text.substr(equals + 1));
      value.at = value.key_at = word.at;
      value.file = file;
      items.put(word.text.substr(0, equals), value);
    }
  }
  read_nemo(items, reading);
}

}  // namespace headroom::launch
