// SPDX-License-Identifier: Apache-2.0
// Dense decoders. Defaults are those of the transformers configuration classes (version 4.56).
#include <headroom/model/workload/hf_families.hpp>

#include <algorithm>
#include <array>

namespace headroom {
namespace {

/// mlp_bias and attention_bias are told apart (Llama).
void llama(HfReader& reader, Architecture& arch) {
  if (reader.flag_or({"mlp_bias"}, false)) {
    const bool attention = arch.attention_biases.value_or(false);
    arch.biases = true;
    arch.attention_biases = attention;
    arch.output_bias = attention;
  }
}

void one_window(HfReader& reader, Architecture& arch) {
  read_windows(reader, arch, reader.size_or({"sliding_window"}, 0, hf_size_or_none), 0);
}

/// Qwen2 and Qwen3: layers from max_window_layers on slide, and only when use_sliding_window says so.
void qwen(HfReader& reader, Architecture& arch) {
  if (!reader.flag_or({"use_sliding_window"}, false)) {
    return;
  }
  const std::int64_t window = reader.size_or({"sliding_window"}, 4096, hf_size_or_none);
  const std::int64_t from = reader.size_or({"max_window_layers"}, 28, hf_size_or_none);
  if (reader.has({"layer_types"}) || from == 0) {
    read_windows(reader, arch, window, 0);
    return;
  }
  std::vector<Block> blocks = arch.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].window = static_cast<std::int64_t>(i) >= from ? window : 0;
  }
  set_blocks(arch, blocks);
}

void gemma2(HfReader& reader, Architecture& arch) {
  read_windows(reader, arch, reader.size_or({"sliding_window"}, 4096, hf_size_or_none), 2);
}

void gemma3(HfReader& reader, Architecture& arch) {
  read_windows(reader, arch, reader.size_or({"sliding_window"}, 4096, hf_size_or_none),
               reader.size_or({"sliding_window_pattern"}, 6, hf_size_or_none));
}

void gpt2(HfReader& reader, Architecture& arch) {
  arch.learned_positions = reader.size_or({"n_positions", "n_ctx"}, 1024);
}

void gpt_bigcode(HfReader& reader, Architecture& arch) {
  gpt2(reader, arch);
  if (reader.flag_or({"multi_query"}, true)) {
    arch.kv_heads = 1;
  }
}

/// GPT-J: one norm before attention and MLP, biases in the MLP and on the head only.
void gptj(HfReader& /*reader*/, Architecture& arch) {
  arch.output_bias = false;
  arch.head_bias = true;
}

void phi(HfReader& /*reader*/, Architecture& arch) {
  arch.head_bias = true;
}

void bloom(HfReader& /*reader*/, Architecture& arch) {
  arch.embedding_norm = true;
}

/// Positions start at 2, so the decoders has two more rows; OPT-350m projects a narrower decoders and norms after.
void opt(HfReader& reader, Architecture& arch) {
  arch.learned_positions = reader.size_or({"max_position_embeddings"}, 2048) + 2;
  const std::int64_t width = reader.size_or({"word_embed_proj_dim"}, arch.hidden);
  arch.embedding_width = width == arch.hidden ? 0 : width;
  arch.final_norm =
      reader.flag_or({"do_layer_norm_before"}, true) && !reader.flag_or({"_remove_final_layer_norm"}, false);
}

/// Almazrouei et al. 2023: multi-query, or grouped with new_decoder_architecture; the first has one norm a layer when
/// attention and MLP run in parallel.
void falcon(HfReader& reader, Architecture& arch) {
  const bool fresh = reader.flag_or({"new_decoder_architecture"}, false);
  const bool multi_query = reader.flag_or({"multi_query"}, true);
  arch.kv_heads = fresh ? reader.size_or({"num_kv_heads", "n_head_kv"}, arch.heads) : multi_query ? 1 : arch.heads;
  const bool parallel = reader.flag_or({"parallel_attn"}, true);
  const std::int64_t norms = reader.size_or({"num_ln_in_parallel_attn"}, fresh ? 2 : 1);
  arch.norms_per_layer = parallel ? norms : 2;
  arch.biases = reader.flag_or({"bias"}, false);
}

void mpt(HfReader& reader, Architecture& arch) {
  arch.ffn_hidden = reader.size_or({"expansion_ratio"}, 4, {1, 1 << 10}) * arch.hidden;
  const bool plain = reader.flag_or({"no_bias"}, false);
  arch.biases = !plain;
  arch.norm_biases = !plain;
  const bool alibi = reader.flag_or({"attn_config.alibi"}, false);
  if (!alibi && reader.flag_or({"learned_pos_emb"}, true)) {
    arch.learned_positions = reader.size_or({"max_seq_len"}, 2048);
  }
}

void starcoder2(HfReader& reader, Architecture& arch) {
  if (!reader.flag_or({"use_bias"}, true)) {
    arch.biases = false;
  }
  one_window(reader, arch);
}

void cohere(HfReader& reader, Architecture& arch) {
  arch.qk_norm = reader.flag_or({"use_qk_norm"}, false) ? QkNorm::full : QkNorm::none;
}

// A layernorm family with biases everywhere and a plain MLP.
constexpr HfFamily classic(std::string_view model_type, bool tied, void (*fill)(HfReader&, Architecture&)) {
  return {.model_type = model_type,
          .tied = tied,
          .gated = false,
          .norm = Norm::layernorm,
          .biases = true,
          .qkv_bias = true,
          .defaults = {.ffn = four_hidden},
          .fill = fill};
}

constexpr HfFamily gptj_family() {
  HfFamily family = classic("gptj", false, gptj);
  family.qkv_bias = false;
  family.norms = 1;
  return family;
}

constexpr HfFamily phi_family() {
  HfFamily family = classic("phi", false, phi);
  family.norms = 1;
  return family;
}

constexpr HfFamily falcon_family(std::string_view model_type) {
  return {.model_type = model_type,
          .gated = false,
          .norm = Norm::layernorm,
          .defaults = {.ffn = four_hidden, .vocab = 65024},
          .fill = falcon};
}

constexpr HfFamily gemma_family(std::string_view model_type,
                                std::int64_t norms,
                                QkNorm qk_norm,
                                HfDefaults defaults,
                                void (*fill)(HfReader&, Architecture&)) {
  return {.model_type = model_type, .qk_norm = qk_norm, .norms = norms, .defaults = defaults, .fill = fill};
}

constexpr HfDefaults gemma3_defaults{.heads = 8, .kv_heads = 4, .head_dim = 256, .ffn = 9216, .vocab = 262208};

constexpr auto decoders = std::to_array<HfFamily>({
    {.model_type = "llama", .tied = false, .fill = llama},
    {.model_type = "mistral", .tied = false, .fill = one_window},
    {.model_type = "ministral", .tied = false, .fill = one_window},
    {.model_type = "qwen2", .tied = false, .qkv_bias = true, .bias_covers_out = false, .fill = qwen},
    {.model_type = "qwen2_vl", .tied = false, .qkv_bias = true, .bias_covers_out = false, .fill = qwen},
    {.model_type = "qwen2_5_vl", .tied = false, .qkv_bias = true, .bias_covers_out = false, .fill = qwen},
    {.model_type = "qwen2_5_vl_text", .tied = false, .qkv_bias = true, .bias_covers_out = false, .fill = qwen},
    {.model_type = "qwen3", .tied = false, .qk_norm = QkNorm::head, .defaults = {.head_dim = 128}, .fill = qwen},
    {.model_type = "qwen3_vl_text",
     .tied = false,
     .qk_norm = QkNorm::head,
     .defaults = {.head_dim = 128},
     .fill = qwen},
    {.model_type = "phi3", .tied = false, .fill = one_window},
    {.model_type = "smollm3", .fill = llama},
    {.model_type = "granite", .tied = false, .fill = llama},
    {.model_type = "internlm2", .tied = false},
    {.model_type = "olmo2", .tied = false, .qk_norm = QkNorm::full},
    {.model_type = "olmo3", .tied = false, .qk_norm = QkNorm::full, .fill = one_window},
    {.model_type = "glm4", .tied = false, .bias_covers_out = false, .norms = 4},
    {.model_type = "cohere", .norm = Norm::layernorm, .norm_biases = false, .norms = 1, .fill = cohere},
    {.model_type = "nemotron", .tied = false, .gated = false, .norm = Norm::layernorm},
    gemma_family("gemma", 2, QkNorm::none, {.head_dim = 256, .vocab = 256000}, nullptr),
    gemma_family(
        "gemma2", 4, QkNorm::none, {.heads = 8, .kv_heads = 4, .head_dim = 256, .ffn = 9216, .vocab = 256000}, gemma2),
    gemma_family("gemma3", 4, QkNorm::head, gemma3_defaults, gemma3),
    gemma_family("gemma3_text", 4, QkNorm::head, gemma3_defaults, gemma3),
    classic("gpt2", true, gpt2),
    classic("gpt_bigcode", true, gpt_bigcode),
    classic("gpt_neox", false, nullptr),
    gptj_family(),
    phi_family(),
    classic("bloom", true, bloom),
    classic("opt", true, opt),
    classic("starcoder2", true, starcoder2),
    falcon_family("falcon"),
    falcon_family("RefinedWeb"),
    falcon_family("RefinedWebModel"),
    {.model_type = "mpt", .gated = false, .norm = Norm::layernorm, .defaults = {.ffn = four_hidden}, .fill = mpt},
});

}  // namespace

std::span<const HfFamily> hf_decoders() {
  return decoders;
}

}  // namespace headroom
