// SPDX-License-Identifier: Apache-2.0
// Decoders with experts. Defaults are those of the transformers configuration classes (version 4.56) or of the class
// beside the checkpoint.
#include <headroom/model/workload/hf_families.hpp>

#include <algorithm>
#include <array>

namespace headroom {
namespace {

/// Experts as wide as intermediate_size.
Moe plain_moe(HfReader& reader, const Architecture& arch, std::int64_t experts, std::int64_t top_k) {
  Moe moe;
  moe.experts = reader.size_or({"num_local_experts", "num_experts"}, experts);
  moe.top_k = reader.size_or({"num_experts_per_tok", "experts_per_token", "num_selected_experts"}, top_k);
  moe.expert_ffn_hidden = arch.ffn_hidden;
  return moe;
}

void mixtral(HfReader& reader, Architecture& arch) {
  arch.moe = plain_moe(reader, arch, 8, 2);
  read_windows(reader, arch, reader.size_or({"sliding_window"}, 0, hf_size_or_none), 0);
}

void olmoe(HfReader& reader, Architecture& arch) {
  arch.moe = plain_moe(reader, arch, 64, 8);
}

void granite_moe(HfReader& reader, Architecture& arch) {
  arch.moe = plain_moe(reader, arch, 8, 2);
}

/// dense_layers, a period or a list of layers.
void only_moe_where(Architecture& arch, const std::vector<bool>& sparse) {
  std::vector<Block> blocks = arch.blocks();
  for (std::size_t i = 0; i < blocks.size() && i < sparse.size(); ++i) {
    blocks[i].feed_forward = sparse[i] ? FeedForward::moe : FeedForward::dense;
  }
  set_blocks(arch, blocks);
}

void qwen_moe(HfReader& reader, Architecture& arch) {
  Moe moe;
  moe.experts = reader.size({"num_experts"});
  moe.top_k = reader.size(top_k_keys);
  moe.expert_ffn_hidden = reader.size({"moe_intermediate_size"});
  moe.shared_ffn_hidden = reader.size_or({"shared_expert_intermediate_size"}, 0, hf_size_or_none);
  moe.shared_gate = moe.shared_ffn_hidden > 0;
  moe.every = reader.size_or({"decoder_sparse_step"}, 1);
  arch.moe = moe;
  const std::vector<std::int64_t> dense = reader.integers({"mlp_only_layers"});
  if (dense.empty()) {
    return;
  }
  std::vector<bool> sparse;
  sparse.reserve(static_cast<std::size_t>(arch.layers));
  for (std::int64_t i = 0; i < arch.layers; ++i) {
    sparse.push_back((i + 1) % moe.every == 0 && std::find(dense.begin(), dense.end(), i) == dense.end());
  }
  only_moe_where(arch, sparse);
}

/// Routed and shared experts of one width behind first dense layers (DeepSeek-AI 2024, DeepSeekMoE).
void deepseek_moe(HfReader& reader, Architecture& arch, bool bias) {
  if (!reader.has({"n_routed_experts"})) {
    return;  // a dense member of the family
  }
  Moe moe;
  moe.experts = reader.size({"n_routed_experts"});
  moe.top_k = reader.size(top_k_keys);
  moe.expert_ffn_hidden = reader.size({"moe_intermediate_size"});
  const std::int64_t shared = reader.size_or({"n_shared_experts"}, 0, {0, 1024});
  moe.shared_ffn_hidden = shared * moe.expert_ffn_hidden;
  moe.dense_layers = reader.size_or({"first_k_dense_replace"}, 0, hf_size_or_none);
  moe.router_bias = reader.text_or({"topk_method"}, bias ? "noaux_tc" : "greedy") == "noaux_tc";
  arch.moe = moe;
  const ConfigValue* frequency = reader.find({"moe_layer_freq"});
  const bool list = frequency != nullptr && frequency->kind == ConfigValue::Kind::array;  // read by the family itself
  const std::int64_t period = list ? 1 : reader.size_or({"moe_layer_freq"}, 1);
  if (period > 1) {
    std::vector<bool> sparse;
    sparse.reserve(static_cast<std::size_t>(arch.layers));
    for (std::int64_t i = 0; i < arch.layers; ++i) {
      sparse.push_back(i >= moe.dense_layers && i % period == 0);
    }
    only_moe_where(arch, sparse);
  }
}

void latent(HfReader& reader, Architecture& arch) {
  Mla mla;
  mla.q_rank = reader.size_or({"q_lora_rank"}, 0, hf_size_or_none);
  mla.kv_rank = reader.size({"kv_lora_rank"});
  mla.nope_dim = reader.size({"qk_nope_head_dim"});
  mla.rope_dim = reader.size({"qk_rope_head_dim"});
  mla.value_dim = reader.size({"v_head_dim"});
  arch.mla = mla;
  arch.kv_heads = arch.heads;  // num_key_value_heads is printed and means nothing
  arch.head_dim = mla.nope_dim + mla.rope_dim;
  arch.attention_biases.reset();
  arch.output_bias.reset();
  arch.mtp_layers = reader.size_or({"num_nextn_predict_layers"}, 0, {0, 64});
}

void deepseek(HfReader& reader, Architecture& arch) {
  deepseek_moe(reader, arch, false);
}

void deepseek_v2(HfReader& reader, Architecture& arch) {
  latent(reader, arch);
  deepseek_moe(reader, arch, false);
}

void deepseek_v3(HfReader& reader, Architecture& arch) {
  latent(reader, arch);
  deepseek_moe(reader, arch, true);
}

/// DeepSeek-V3.2 and GLM-5: a sparse indexer beside the latent attention.
void sparse_attention(HfReader& reader, Architecture& arch) {
  deepseek_v3(reader, arch);
  if (arch.mla) {
    arch.mla->index_heads = reader.size_or({"index_n_heads"}, 64);
    arch.mla->index_dim = reader.size_or({"index_head_dim"}, 128);
  }
  const std::vector<std::string> types = reader.words({"indexer_types"});
  if (std::find(types.begin(), types.end(), "shared") != types.end()) {
    arch.notes = "indexers that layers share are counted in every layer";
  }
}

void glm4_moe(HfReader& reader, Architecture& arch) {
  deepseek_moe(reader, arch, true);
  arch.qk_norm = reader.flag_or({"use_qk_norm"}, false) ? QkNorm::head : QkNorm::none;
  arch.mtp_layers = reader.size_or({"num_nextn_predict_layers"}, 0, {0, 64});
}

/// OpenAI 2025: biases on every projection, one sink a head, every second layer looks at everything.
void gpt_oss(HfReader& reader, Architecture& arch) {
  Moe moe = plain_moe(reader, arch, 128, 4);
  moe.router_bias = true;
  moe.expert_biases = true;
  arch.moe = moe;
  arch.sinks = true;
  read_windows(reader, arch, reader.size_or({"sliding_window"}, 128, hf_size_or_none), 2);
}

/// Experts beside one shared expert of the same width; chunked attention but in layers without rotary positions.
void llama4(HfReader& reader, Architecture& arch) {
  Moe moe = plain_moe(reader, arch, 16, 1);
  moe.shared_ffn_hidden = arch.ffn_hidden;
  moe.every = reader.size_or({"interleave_moe_layer_step"}, 1);
  arch.moe = moe;
  arch.ffn_hidden = reader.size_or({"intermediate_size_mlp"}, 16384);
  const std::int64_t chunk = reader.size_or({"attention_chunk_size"}, 0, hf_size_or_none);
  const std::vector<std::int64_t> rotary = reader.integers_per_layer({"no_rope_layers"}, arch.layers);
  read_windows(reader, arch, chunk, reader.size_or({"no_rope_layer_interval"}, 4));
  if (chunk > 0 && !rotary.empty() && !reader.has({"layer_types"})) {
    std::vector<Block> blocks = arch.blocks();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      blocks[i].window = rotary[i] != 0 ? chunk : 0;
    }
    set_blocks(arch, blocks);
  }
  const std::vector<std::int64_t> sparse_layers = reader.integers({"moe_layers"});
  if (!sparse_layers.empty()) {
    std::vector<bool> sparse(static_cast<std::size_t>(arch.layers), false);
    for (const std::int64_t layer : sparse_layers) {
      if (layer >= arch.layers) {
        reader.problem({"moe_layers"}, "layer " + std::to_string(layer) + " of 'moe_layers' is none of the " +
                                           std::to_string(arch.layers) + ", counted from 0");
        return;
      }
      sparse[static_cast<std::size_t>(layer)] = true;
    }
    arch.moe->every = 1;
    only_moe_where(arch, sparse);
  }
}

/// Global layers have heads of their own width and may make values from the keys' projection; with experts a dense MLP
/// runs beside them, held as the shared expert, with three more norms.
void gemma4(HfReader& reader, Architecture& arch) {
  for (const std::string_view key : {"hidden_size_per_layer_input", "num_kv_shared_layers"}) {
    if (reader.size_or({key}, 0, hf_size_or_none) > 0) {
      reader.problem({key}, "'" + std::string{key} + "' above 0 is not read: embeddings and caches by layer");
      return;
    }
  }
  if (reader.flag_or({"enable_moe_block"}, false)) {
    Moe moe;
    moe.experts = reader.size({"num_experts"});
    moe.top_k = reader.size({"top_k_experts"});
    moe.expert_ffn_hidden = reader.size({"moe_intermediate_size", "expert_intermediate_size"});
    moe.shared_ffn_hidden = arch.ffn_hidden;
    moe.router_bias = true;  // one scale an expert
    arch.moe = moe;
    arch.norms_per_layer = 7;
  }
  read_windows(reader, arch, reader.size_or({"sliding_window"}, 512, hf_size_or_none),
               reader.size_or({"sliding_window_pattern"}, 6, hf_size_or_none));
  const bool shared = reader.flag_or({"attention_k_eq_v"}, false);
  std::vector<Block> blocks = arch.blocks();
  for (Block& block : blocks) {
    if (block.window == 0) {
      block.head_dim = reader.size_or({"global_head_dim"}, 512);
      block.kv_heads = shared ? reader.size_or({"num_global_key_value_heads"}, arch.kv_heads) : arch.kv_heads;
      block.shared_kv = shared;
    }
  }
  set_blocks(arch, blocks);
}

void minimax_m2(HfReader& reader, Architecture& arch) {
  Moe moe = plain_moe(reader, arch, 256, 8);
  moe.shared_ffn_hidden = reader.size_or({"shared_intermediate_size"}, 0, hf_size_or_none);
  moe.router_bias = reader.flag_or({"use_routing_bias"}, true);
  arch.moe = moe;
  arch.qk_norm = reader.flag_or({"use_qk_norm"}, true) ? QkNorm::full : QkNorm::none;
  arch.mtp_layers =
      reader.size_or({"num_mtp_modules"}, 0, {0, 64}) * reader.size_or({"mtp_transformer_layers"}, 1, {0, 64});
}

/// MiMo-V2-Flash: hybrid_layer_pattern is 0 for full and 1 for sliding layers, whose heads differ; moe_layer_freq is 1
/// where a layer has experts.
void mimo_v2(HfReader& reader, Architecture& arch) {
  deepseek_moe(reader, arch, true);
  arch.value_dim = reader.size_or({"v_head_dim"}, arch.head_dim);
  std::vector<Block> blocks = arch.blocks();
  const std::vector<std::int64_t> sliding = reader.integers_per_layer({"hybrid_layer_pattern"}, arch.layers);
  const std::vector<std::int64_t> sparse = reader.integers_per_layer({"moe_layer_freq"}, arch.layers);
  const std::int64_t window = reader.size_or({"sliding_window", "sliding_window_size"}, 128);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Block& block = blocks[i];
    if (!sliding.empty() && sliding[i] != 0) {
      block.window = window;
      block.heads = reader.size_or({"swa_num_attention_heads"}, arch.heads);
      block.kv_heads = reader.size_or({"swa_num_key_value_heads"}, arch.kv_heads);
      block.head_dim = reader.size_or({"swa_head_dim"}, arch.head_dim);
      block.value_dim = reader.size_or({"swa_v_head_dim"}, block.head_dim);
    }
    if (!sparse.empty()) {
      block.feed_forward = sparse[i] != 0 && arch.moe ? FeedForward::moe : FeedForward::dense;
    }
  }
  set_blocks(arch, blocks);
}

void step3(HfReader& reader, Architecture& arch) {
  Moe moe;
  moe.experts = reader.size({"num_experts", "moe_num_experts"});
  moe.top_k = reader.size(top_k_keys);
  moe.expert_ffn_hidden = reader.size({"moe_intermediate_size"});
  moe.shared_ffn_hidden = reader.size_or({"share_expert_dim"}, 0, hf_size_or_none);
  moe.dense_layers = reader.size_or({"first_k_dense_replace"}, 0, hf_size_or_none);
  moe.router_bias = true;
  arch.moe = moe;
  arch.mtp_layers = reader.size_or({"num_nextn_predict_layers"}, 0, {0, 64});
  read_windows(reader, arch, reader.size_or({"sliding_window"}, 0, hf_size_or_none), 0);
}

void dbrx(HfReader& reader, Architecture& arch) {
  Moe moe;
  moe.experts = reader.size_or({"ffn_config.moe_num_experts"}, 4);
  moe.top_k = reader.size_or({"ffn_config.moe_top_k"}, 1);
  moe.expert_ffn_hidden = arch.ffn_hidden;
  arch.moe = moe;
}

void grok(HfReader& reader, Architecture& arch) {
  arch.moe = plain_moe(reader, arch, 8, 2);
}

constexpr HfFamily latent_family(std::string_view model_type, void (*fill)(HfReader&, Architecture&)) {
  return {.model_type = model_type, .tied = false, .fill = fill};
}

constexpr HfFamily head_norms(std::string_view model_type, void (*fill)(HfReader&, Architecture&)) {
  return {.model_type = model_type, .tied = false, .qk_norm = QkNorm::head, .fill = fill};
}

constexpr auto table = std::to_array<HfFamily>({
    {.model_type = "mixtral", .tied = false, .fill = mixtral},
    {.model_type = "olmoe", .tied = false, .qk_norm = QkNorm::full, .fill = olmoe},
    {.model_type = "granitemoe", .tied = false, .fill = granite_moe},
    {.model_type = "qwen2_moe", .tied = false, .qkv_bias = true, .bias_covers_out = false, .fill = qwen_moe},
    head_norms("qwen3_moe", qwen_moe),
    head_norms("qwen3_vl_moe_text", qwen_moe),
    {.model_type = "deepseek", .tied = false, .fill = deepseek},
    latent_family("deepseek_v2", deepseek_v2),
    latent_family("deepseek_v3", deepseek_v3),
    latent_family("kimi_k2", deepseek_v3),
    latent_family("kimi_k25", deepseek_v3),
    latent_family("glm4_moe_lite", deepseek_v3),
    latent_family("deepseek_v32", sparse_attention),
    latent_family("glm_moe_dsa", sparse_attention),
    {.model_type = "glm4_moe", .tied = false, .bias_covers_out = false, .fill = glm4_moe},
    {.model_type = "gpt_oss", .tied = false, .qkv_bias = true, .defaults = {.head_dim = 64}, .fill = gpt_oss},
    {.model_type = "llama4_text", .tied = false, .defaults = {.head_dim = 128}, .fill = llama4},
    {.model_type = "llama4", .tied = false, .defaults = {.head_dim = 128}, .fill = llama4},
    {.model_type = "gemma4_text", .qk_norm = QkNorm::head, .norms = 4, .defaults = {.head_dim = 256}, .fill = gemma4},
    {.model_type = "gemma4", .qk_norm = QkNorm::head, .norms = 4, .defaults = {.head_dim = 256}, .fill = gemma4},
    {.model_type = "minimax_m2", .tied = false, .fill = minimax_m2},
    {.model_type = "mimo_v2_flash", .tied = false, .fill = mimo_v2},
    head_norms("step3p5", step3),
    head_norms("step3p7", step3),
    {.model_type = "dbrx", .tied = false, .norm = Norm::layernorm, .norm_biases = false, .fill = dbrx},
    {.model_type = "grok-1", .norms = 4, .fill = grok},
});

}  // namespace

std::span<const HfFamily> hf_mixtures() {
  return table;
}

}  // namespace headroom
