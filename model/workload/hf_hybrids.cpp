// SPDX-License-Identifier: Apache-2.0
// Recurrent networks, hybrids of recurrent and attention layers, and layer lists found by search (Nemotron-NAS).
#include <headroom/model/workload/hf_families.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom {
namespace {

constexpr Range<std::int64_t> expansion{1, 64};

/// "auto" is ceil(hidden / 16) (Gu and Dao 2023, section 3.6).
std::int64_t step_rank(HfReader& reader, HfKeys keys, std::int64_t hidden) {
  const ConfigValue* value = reader.find(keys);
  if (value == nullptr || (value->kind == ConfigValue::Kind::text && value->text == "auto")) {
    return (hidden + 15) / 16;
  }
  return reader.size(keys);
}

/// A pure recurrent stack has no MLP; its vocabulary may be padded (state-spaces checkpoints).
void recurrent_stack(HfReader& reader, Architecture& arch, Mixer mixer) {
  arch.mixer = mixer;
  arch.feed_forward = FeedForward::none;
  arch.norms_per_layer = 1;
  const std::int64_t multiple = reader.size_or({"pad_vocab_size_multiple"}, 1, {1, 1 << 20});
  const std::int64_t vocab = reader.size({"vocab_size"});
  arch.vocab = reader.has({"ssm_cfg"}) ? (vocab + multiple - 1) / multiple * multiple : vocab;
  arch.tied_embeddings = reader.flag_or({"tie_word_embeddings", "tie_embeddings"}, true);
}

void mamba(HfReader& reader, Architecture& arch) {
  recurrent_stack(reader, arch, Mixer::mamba);
  Recurrent r;
  r.heads = 1;
  r.head_dim = reader.size_or({"intermediate_size", "d_inner"},
                              reader.size_or({"expand", "ssm_cfg.expand"}, 2, expansion) * arch.hidden);
  r.state = reader.size_or({"state_size", "ssm_cfg.d_state"}, 16);
  r.conv_kernel = reader.size_or({"conv_kernel", "d_conv", "ssm_cfg.d_conv"}, 4);
  r.step_rank = step_rank(reader, {"time_step_rank", "ssm_cfg.dt_rank"}, arch.hidden);
  arch.recurrent = r;
}

/// Bytes of a state's element as a checkpoint asks engines to keep it; 16 bit where it does not.
std::int64_t state_bytes(HfReader& reader) {
  return reader.text_or({"mamba_ssm_cache_dtype", "mamba_ssm_dtype"}, "") == "float32" ? 4 : 2;
}

/// heads x head_dim must be the inner width.
void check_inner(HfReader& reader, HfKeys head_keys, const Recurrent& r, std::int64_t inner) {
  if (r.inner() != inner) {
    reader.problem(head_keys, std::to_string(r.heads) + " recurrent heads of " + std::to_string(r.head_dim) +
                                  " are not the inner width " + std::to_string(inner) + " (expand x hidden size)");
  }
}

void mamba2(HfReader& reader, Architecture& arch) {
  recurrent_stack(reader, arch, Mixer::mamba2);
  Recurrent r;
  const std::int64_t inner = reader.size_or({"expand", "ssm_cfg.expand"}, 2, expansion) * arch.hidden;
  r.head_dim = reader.size_or({"head_dim", "ssm_cfg.headdim"}, 64);
  r.heads = reader.size_or({"num_heads"}, std::max<std::int64_t>(1, inner / r.head_dim));
  r.groups = reader.size_or({"n_groups", "ssm_cfg.ngroups"}, reader.has({"ssm_cfg"}) ? 1 : 8);
  r.state = reader.size_or({"state_size", "ssm_cfg.d_state"}, 128);
  r.conv_kernel = reader.size_or({"conv_kernel", "ssm_cfg.d_conv"}, 4);
  r.chunk = reader.size_or({"chunk_size"}, 0, hf_size_or_none);
  check_inner(reader, {"num_heads", "head_dim"}, r, inner);
  arch.recurrent = r;
}

/// The Mamba-2 keys of Bamba and Granite 4.
void bamba_mixer(HfReader& reader, Architecture& arch) {
  Recurrent r;
  const std::int64_t inner = reader.size_or({"mamba_expand"}, 2, expansion) * arch.hidden;
  r.heads = reader.size_or({"mamba_n_heads"}, 128);
  const ConfigValue* width = reader.find({"mamba_d_head"});
  const bool derived = width == nullptr || (width->kind == ConfigValue::Kind::text && width->text == "auto");
  r.head_dim = derived ? std::max<std::int64_t>(1, inner / r.heads) : reader.size({"mamba_d_head"});
  r.groups = reader.size_or({"mamba_n_groups"}, 1);
  r.state = reader.size_or({"mamba_d_state"}, 256);
  r.conv_kernel = reader.size_or({"mamba_d_conv"}, 4);
  r.chunk = reader.size_or({"mamba_chunk_size"}, 0, hf_size_or_none);
  r.state_bytes = state_bytes(reader);
  check_inner(reader, {"mamba_n_heads", "mamba_d_head"}, r, inner);
  arch.recurrent = r;
}

void bamba(HfReader& reader, Architecture& arch) {
  bamba_mixer(reader, arch);
  const std::vector<std::int64_t> attention = reader.integers({"attn_layer_indices"});
  std::vector<Block> blocks = arch.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool attends = std::find(attention.begin(), attention.end(), static_cast<std::int64_t>(i)) != attention.end();
    blocks[i].mixer = attends ? Mixer::attention : Mixer::mamba2;
  }
  arch.mixer = Mixer::mamba2;
  set_blocks(arch, blocks);
}

void granite_hybrid(HfReader& reader, Architecture& arch) {
  bamba_mixer(reader, arch);
  const std::int64_t experts = reader.size_or({"num_local_experts"}, 0, hf_size_or_none);
  const std::int64_t shared = reader.size({"shared_intermediate_size"});
  if (experts > 0) {
    Moe moe;
    moe.experts = experts;
    moe.top_k = reader.size(top_k_keys);
    moe.expert_ffn_hidden = arch.ffn_hidden;
    moe.shared_ffn_hidden = shared;
    arch.moe = moe;
  } else {
    arch.ffn_hidden = shared;
  }
  const std::vector<std::string> types = reader.words_per_layer({"layer_types", "layers_block_type"}, arch.layers);
  std::vector<Block> blocks = arch.blocks();
  for (std::size_t i = 0; i < types.size(); ++i) {
    blocks[i].mixer = types[i] == "attention" ? Mixer::attention : Mixer::mamba2;
  }
  arch.mixer = Mixer::mamba2;
  set_blocks(arch, blocks);
}

/// Lieber et al. 2024: attention in one layer of a period, experts in every other.
void jamba(HfReader& reader, Architecture& arch) {
  Recurrent r;
  r.head_dim = reader.size_or({"mamba_expand"}, 2, expansion) * arch.hidden;
  r.state = reader.size_or({"mamba_d_state"}, 16);
  r.conv_kernel = reader.size_or({"mamba_d_conv"}, 4);
  r.step_rank = step_rank(reader, {"mamba_dt_rank"}, arch.hidden);
  r.inner_norms = true;
  arch.recurrent = r;
  Moe moe;
  moe.experts = reader.size_or({"num_experts"}, 16);
  moe.top_k = reader.size_or(top_k_keys, 2);
  moe.expert_ffn_hidden = arch.ffn_hidden;
  arch.moe = moe;
  const std::int64_t attention_every = reader.size_or({"attn_layer_period"}, 8);
  const std::int64_t attention_at = reader.size_or({"attn_layer_offset"}, 4, hf_size_or_none);
  const std::int64_t experts_every = reader.size_or({"expert_layer_period"}, 2);
  const std::int64_t experts_at = reader.size_or({"expert_layer_offset"}, 1, hf_size_or_none);
  if (attention_at >= attention_every) {
    reader.problem({"attn_layer_offset"}, "'attn_layer_offset' " + std::to_string(attention_at) +
                                              " is not below 'attn_layer_period' " + std::to_string(attention_every));
  }
  if (experts_at >= experts_every) {
    reader.problem({"expert_layer_offset"}, "'expert_layer_offset' " + std::to_string(experts_at) +
                                                " is not below 'expert_layer_period' " + std::to_string(experts_every));
  }
  std::vector<Block> blocks = arch.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    blocks[i].mixer = layer % attention_every == attention_at ? Mixer::attention : Mixer::mamba;
    const bool sparse = moe.experts > 1 && layer % experts_every == experts_at;
    blocks[i].feed_forward = sparse ? FeedForward::moe : FeedForward::dense;
  }
  arch.mixer = Mixer::mamba;
  set_blocks(arch, blocks);
}

/// One part a layer, as a letter: M Mamba-2, * attention, - MLP, E experts. Newer files list words.
std::string nemotron_pattern(HfReader& reader, HfKeys letters, HfKeys words) {
  std::string pattern = reader.text_or(letters, "");
  if (!pattern.empty()) {
    return pattern;
  }
  for (const std::string& word : reader.words(words)) {
    pattern += word == "mamba" ? 'M' : word == "attention" ? '*' : word == "mlp" ? '-' : word == "moe" ? 'E' : '?';
  }
  return pattern;
}

/// False for an unknown letter.
bool set_part(char letter, Block& block) {
  block.mixer = letter == 'M' ? Mixer::mamba2 : letter == '*' ? Mixer::attention : Mixer::none;
  block.feed_forward = letter == '-' ? FeedForward::dense : letter == 'E' ? FeedForward::moe : FeedForward::none;
  return std::string_view{"M*-E"}.find(letter) != std::string_view::npos;
}

/// The layers of a prediction module, a mixer and a feed-forward, are one block.
void nemotron_prediction(HfReader& reader, Architecture& arch) {
  arch.mtp_layers = reader.size_or({"num_nextn_predict_layers"}, 0, {0, 64});
  if (arch.mtp_layers == 0) {
    return;
  }
  const std::string pattern = nemotron_pattern(reader, {"mtp_hybrid_override_pattern"}, {"mtp_layers_block_type"});
  if (pattern != "*E" && pattern != "*-") {
    reader.problem(
        {"mtp_hybrid_override_pattern", "mtp_layers_block_type", "num_nextn_predict_layers"},
        "prediction modules are read of attention and one feed-forward ('*E', '*-'), not of " + quoted(pattern));
    return;
  }
  Block block;
  block.heads = arch.heads;
  block.kv_heads = arch.kv_heads;
  block.head_dim = arch.head_dim;
  block.ffn_hidden = arch.ffn_hidden;
  block.feed_forward = pattern.back() == 'E' ? FeedForward::moe : FeedForward::dense;
  arch.mtp_block = block;
}

void nemotron_h(HfReader& reader, Architecture& arch) {
  Recurrent r;
  r.heads = reader.size({"mamba_num_heads"});
  r.head_dim = reader.size({"mamba_head_dim"});
  r.groups = reader.size_or({"n_groups", "mamba_num_groups"}, 8);
  r.state = reader.size_or({"ssm_state_size", "mamba_state_dim"}, 128);
  r.conv_kernel = reader.size_or({"conv_kernel"}, 4);
  r.chunk = reader.size_or({"chunk_size"}, 0, hf_size_or_none);
  r.state_bytes = state_bytes(reader);
  arch.recurrent = r;
  const HfKeys pattern_keys{"hybrid_override_pattern", "layers_block_type"};
  const std::string pattern = nemotron_pattern(reader, {"hybrid_override_pattern"}, {"layers_block_type"});
  if (pattern.find('E') != std::string::npos) {
    Moe moe;
    moe.experts = reader.size({"n_routed_experts"});
    moe.top_k = reader.size(top_k_keys);
    moe.expert_ffn_hidden = reader.size({"moe_intermediate_size"});
    moe.shared_ffn_hidden = reader.size_or({"n_shared_experts"}, 1, {0, 1024}) *
                            reader.size_or({"moe_shared_expert_intermediate_size"}, 0, hf_size_or_none);
    moe.router_bias = false;  // the correction of the scores is a buffer outside the published count
    moe.latent = reader.size_or({"moe_latent_size"}, 0, hf_size_or_none);
    arch.moe = moe;
  }
  if (!reader.has({"num_hidden_layers"})) {
    arch.layers = std::max<std::int64_t>(1, static_cast<std::int64_t>(pattern.size()));
  }
  if (static_cast<std::int64_t>(pattern.size()) != arch.layers) {
    reader.problem(pattern_keys, "'hybrid_override_pattern' has " + std::to_string(pattern.size()) + " letters for " +
                                     std::to_string(arch.layers) + " layers");
    return;
  }
  arch.mixer = Mixer::mamba2;
  arch.feed_forward = FeedForward::none;
  std::vector<Block> blocks = arch.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const char letter = pattern[i];
    if (!set_part(letter, blocks[i])) {
      reader.problem(pattern_keys, "'hybrid_override_pattern' has " + quoted(std::string_view{&letter, 1}) +
                                       "; its letters are M, *, - and E");
      return;
    }
  }
  set_blocks(arch, blocks);
  nemotron_prediction(reader, arch);
}

/// Kimi Team 2025: Kimi delta attention, latent attention without positions in the listed layers, which count from 1.
void kimi_linear(HfReader& reader, Architecture& arch) {
  Mla mla;
  mla.q_rank = reader.size_or({"q_lora_rank"}, 0, hf_size_or_none);
  mla.kv_rank = reader.size({"kv_lora_rank"});
  mla.nope_dim = reader.size({"qk_nope_head_dim"});
  mla.rope_dim = reader.size_or({"qk_rope_head_dim"}, 0, hf_size_or_none);
  mla.value_dim = reader.size({"v_head_dim"});
  arch.mla = mla;
  arch.kv_heads = arch.heads;
  arch.head_dim = mla.nope_dim + mla.rope_dim;
  Recurrent r;
  r.heads = reader.size({"linear_attn_config.num_heads"});
  r.head_dim = reader.size({"linear_attn_config.head_dim"});
  r.groups = r.heads;
  r.state = r.head_dim;
  r.gate_rank = r.head_dim;
  r.conv_kernel = reader.size_or({"linear_attn_config.short_conv_kernel_size"}, 4);
  r.state_bytes = 4;  // vLLM's kda_state_dtype and SGLang's pool of states keep fp32
  arch.recurrent = r;
  if (reader.flag_or({"linear_attn_config.use_full_rank_gate"}, false) ||
      reader.size_or({"routed_expert_hidden_size"}, 0, hf_size_or_none) > 0 || reader.has({"attn_res_block_size"})) {
    reader.problem({"linear_attn_config.use_full_rank_gate", "routed_expert_hidden_size", "attn_res_block_size"},
                   "Kimi K3's full-rank gates, latent experts and attention residuals are not read");
    return;
  }
  Moe moe;
  moe.experts = reader.size_or({"num_experts"}, 0, hf_size_or_none);
  if (moe.experts > 0) {
    moe.top_k = reader.size(top_k_keys);
    moe.expert_ffn_hidden = reader.size({"moe_intermediate_size"});
    moe.shared_ffn_hidden = reader.size_or({"num_shared_experts"}, 0, {0, 1024}) * moe.expert_ffn_hidden;
    moe.dense_layers = reader.size_or({"first_k_dense_replace"}, 0, hf_size_or_none);
    moe.every = reader.size_or({"moe_layer_freq"}, 1);
    moe.router_bias = true;
    moe.normalized = reader.maybe_flag({"moe_renormalize"});
    arch.moe = moe;
  }
  arch.mtp_layers = reader.size_or({"num_nextn_predict_layers"}, 0, {0, 64});
  std::vector<Block> blocks = arch.blocks();
  for (Block& block : blocks) {
    block.mixer = Mixer::kda;
  }
  for (const std::int64_t layer : reader.integers({"linear_attn_config.full_attn_layers"})) {
    if (layer < 1 || layer > arch.layers) {
      reader.problem({"linear_attn_config.full_attn_layers"}, "layer " + std::to_string(layer) + " is none of the " +
                                                                  std::to_string(arch.layers) + ", counted from 1");
      return;
    }
    blocks[static_cast<std::size_t>(layer - 1)].mixer = Mixer::mla;
  }
  arch.mixer = Mixer::kda;
  set_blocks(arch, blocks);
}

/// Qwen3-Next and Qwen3.5: gated delta-net layers, every n-th layer gated attention.
void qwen_linear(HfReader& reader, Architecture& arch) {
  Recurrent r;
  r.heads = reader.size_or({"linear_num_value_heads"}, 32);
  r.head_dim = reader.size_or({"linear_value_head_dim"}, 128);
  r.groups = reader.size_or({"linear_num_key_heads"}, 16);
  r.state = reader.size_or({"linear_key_head_dim"}, 128);
  r.conv_kernel = reader.size_or({"linear_conv_kernel_dim"}, 4);
  r.state_bytes = state_bytes(reader);
  arch.recurrent = r;
  arch.output_gate = reader.flag_or({"attn_output_gate"}, true);
  if (reader.has({"num_experts"})) {
    Moe moe;
    moe.experts = reader.size({"num_experts"});
    moe.top_k = reader.size(top_k_keys);
    moe.expert_ffn_hidden = reader.size({"moe_intermediate_size"});
    moe.shared_ffn_hidden = reader.size_or({"shared_expert_intermediate_size"}, 0, hf_size_or_none);
    moe.shared_gate = moe.shared_ffn_hidden > 0;
    moe.every = reader.size_or({"decoder_sparse_step"}, 1);
    arch.moe = moe;
    arch.ffn_hidden = reader.size_or({"intermediate_size"}, moe.expert_ffn_hidden);
  } else {
    arch.ffn_hidden = reader.size({"intermediate_size"});
  }
  arch.mtp_layers = reader.size_or({"mtp_num_hidden_layers", "num_nextn_predict_layers"}, 0, {0, 64});
  const std::int64_t interval = reader.size_or({"full_attention_interval"}, 4);
  const std::vector<std::string> types = reader.words_per_layer({"layer_types"}, arch.layers);
  std::vector<Block> blocks = arch.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool full = types.empty() ? static_cast<std::int64_t>(i + 1) % interval == 0 : types[i] == "full_attention";
    blocks[i].mixer = full ? Mixer::attention : Mixer::delta_net;
  }
  arch.mixer = Mixer::delta_net;
  set_blocks(arch, blocks);
}

bool flag_in(const ConfigValue* hybrids, std::string_view key) {
  const ConfigValue* value = hybrids == nullptr ? nullptr : hybrids->find(key);
  return value != nullptr && value->kind == ConfigValue::Kind::boolean && value->boolean;
}

/// One block of Nemotron-NAS (Bercovich et al. 2024): attention or MLP may be absent; widths differ by layer. The MLP
/// is 2 x ffn_mult x hidden / 3 rounded up to a multiple of 256.
void nas_block(HfReader& reader, HfReader& item, const Architecture& arch, Block& block) {
  const ConfigValue* attention = item.find({"attention"});
  const ConfigValue* ffn = item.find({"ffn"});
  if (flag_in(attention, "replace_with_linear") || flag_in(ffn, "replace_with_linear")) {
    reader.problem({"block_configs"}, "a block of 'block_configs' is replaced by a linear layer, which is not read");
    return;
  }
  if (flag_in(attention, "no_op")) {
    block.mixer = Mixer::none;
  } else {
    const std::int64_t group = item.size_or({"attention.n_heads_in_group"}, 1);
    if (arch.heads % group != 0) {
      reader.problem({"block_configs"}, std::to_string(arch.heads) + " heads do not divide by 'n_heads_in_group' " +
                                            std::to_string(group));
      return;
    }
    block.kv_heads = arch.heads / group;
    block.window = item.size_or({"attention.window_length"}, 0, hf_size_or_none);
  }
  if (flag_in(ffn, "no_op")) {
    block.feed_forward = FeedForward::none;
    return;
  }
  if (const auto width = item.maybe({"ffn.intermediate_size"})) {
    block.ffn_hidden = *width;
    return;
  }
  const ConfigValue* mult = item.find({"ffn.ffn_mult"});
  const bool number =
      mult != nullptr && (mult->kind == ConfigValue::Kind::number || mult->kind == ConfigValue::Kind::integer);
  const double factor = !number                                    ? 0.0
                        : mult->kind == ConfigValue::Kind::integer ? static_cast<double>(mult->integer)
                                                                   : mult->number;
  const bool sound = factor > 0.0 && factor < 1024.0;
  if (!sound) {
    reader.problem({"block_configs"}, "a block of 'block_configs' has no 'ffn_mult' between 0 and 1024");
    return;
  }
  const auto width = static_cast<std::int64_t>(2.0 * factor * static_cast<double>(arch.hidden) / 3.0);
  block.ffn_hidden = std::max<std::int64_t>(256, (width + 255) / 256 * 256);
}

void nemotron_nas(HfReader& reader, Architecture& arch) {
  const ConfigValue* list = reader.find({"block_configs"});
  if (list == nullptr || list->kind != ConfigValue::Kind::array ||
      static_cast<std::int64_t>(list->items.size()) != arch.layers) {
    reader.problem({"block_configs"}, "'block_configs' must be an array with one object a layer, " +
                                          std::to_string(arch.layers) + " in all");
    return;
  }
  std::vector<Block> blocks = arch.blocks();
  for (std::size_t i = 0; i < blocks.size() && reader.diagnostics().empty(); ++i) {
    HfReader item{list->items[i], reader.file(), reader.diagnostics(), reader.remarks()};
    nas_block(reader, item, arch, blocks[i]);
  }
  if (!reader.diagnostics().empty()) {
    return;
  }
  const auto usual = std::find_if(blocks.begin(), blocks.end(), [](const Block& b) {
    return b.mixer == Mixer::attention && b.feed_forward == FeedForward::dense && b.window == 0;
  });
  if (usual != blocks.end()) {
    arch.kv_heads = usual->kv_heads;
    arch.ffn_hidden = usual->ffn_hidden;
  }
  set_blocks(arch, blocks);
}

/// Sizes are read by the fill.
constexpr HfDefaults own_sizes{.heads = -1};

constexpr HfFamily linear_family(std::string_view model_type) {
  // The MLP's width is required of dense members only.
  return {.model_type = model_type,
          .tied = false,
          .qk_norm = QkNorm::head,
          .defaults = {.head_dim = 256, .ffn = 1},
          .fill = qwen_linear};
}

constexpr auto hybrids = std::to_array<HfFamily>({
    {.model_type = "mamba", .norms = 1, .defaults = own_sizes, .fill = mamba},
    {.model_type = "falcon_mamba", .norms = 1, .defaults = own_sizes, .fill = mamba},
    {.model_type = "mamba2", .norms = 1, .defaults = own_sizes, .fill = mamba2},
    {.model_type = "bamba", .tied = false, .fill = bamba},
    {.model_type = "granitemoehybrid", .tied = false, .fill = granite_hybrid},
    {.model_type = "jamba", .tied = false, .fill = jamba},
    {.model_type = "nemotron_h", .tied = false, .gated = false, .norms = 1, .layers_of_list = true, .fill = nemotron_h},
    {.model_type = "kimi_linear", .tied = false, .fill = kimi_linear},
    linear_family("qwen3_next"),
    linear_family("qwen3_5"),
    linear_family("qwen3_5_text"),
    linear_family("qwen3_5_moe"),
    linear_family("qwen3_5_moe_text"),
    {.model_type = "nemotron-nas", .tied = false, .defaults = {.ffn = 1}, .fill = nemotron_nas},
    {.model_type = "deci", .tied = false, .defaults = {.ffn = 1}, .fill = nemotron_nas},
});

}  // namespace

std::span<const HfFamily> hf_hybrids() {
  return hybrids;
}

}  // namespace headroom
