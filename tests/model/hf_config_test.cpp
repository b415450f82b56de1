// SPDX-License-Identifier: Apache-2.0
// config.json of every family against the published parameter counts. The texts hold the keys of the published files
// that decide sizes. "HF": safetensors.total of the Hugging Face API.
#include <headroom/core/json_reader.hpp>
#include <headroom/model/workload/architecture_text.hpp>
#include <headroom/model/workload/hf_config.hpp>
#include <headroom/model/workload/parameters.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace headroom;

namespace {

/// "[a, a, a, b, ...]": n layer types of which every period-th is `nth`.
std::string types(int n, int period, const std::string& usual, const std::string& nth) {
  std::string text = "[";
  for (int i = 1; i <= n; ++i) {
    text += (i == 1 ? "\"" : ", \"") + (i % period == 0 ? nth : usual) + "\"";
  }
  return text + "]";
}

Architecture import_text(const std::string& text) {
  Diagnostics diagnostics;
  Diagnostics remarks;
  const Architecture arch = import_hf_config(parse_json(text, "config.json"), "config.json", diagnostics, remarks);
  diagnostics.throw_if_any();
  return arch;
}

std::string problem_of(const std::string& text) {
  try {
    static_cast<void>(import_text(text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

struct Case {
  const char* name;
  std::string text;
  double total;           ///< published
  bool exact = true;      ///< to the unit; else within 0.5 %
  bool with_mtp = false;  ///< the published count holds the prediction modules
  double copies = 0.0;    ///< tables that the published count holds twice
  const char* source = "";
};

const std::string windows_of_gpt_oss = types(24, 2, "sliding_attention", "full_attention");

const std::vector<Case> cases{
    {"llama", R"({"model_type": "llama", "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 28,
      "num_attention_heads": 24, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 128256,
      "tie_word_embeddings": true})",
     3212749824, true, false, 0, "HF, meta-llama/Llama-3.2-3B"},
    {"llama without kv heads", R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
      "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000})",
     6738415616, true, false, 0, "index of huggyllama/llama-7b"},
    {"mistral inside a vision model", R"({"model_type": "mistral3", "vision_config": {"hidden_size": 1024},
      "text_config": {"model_type": "mistral", "hidden_size": 5120, "intermediate_size": 32768,
      "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
      "vocab_size": 131072}})",
     23572403200, true, false, 0, "HF, sarvamai/sarvam-m, the text model of Mistral-Small-3.1-24B"},
    {"mixtral", R"({"model_type": "mixtral", "hidden_size": 6144, "intermediate_size": 16384, "num_hidden_layers": 56,
      "num_attention_heads": 48, "num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2,
      "vocab_size": 32000, "sliding_window": null})",
     140620634112, true, false, 0, "HF, mistral-community/Mixtral-8x22B-v0.1"},
    {"qwen2", R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
      "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064, "use_sliding_window": false,
      "sliding_window": 131072})",
     7615616512, true, false, 0, "HF, Qwen/Qwen2.5-7B-Instruct"},
    {"qwen3", R"({"model_type": "qwen3", "hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36,
      "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
      "tie_word_embeddings": true})",
     4022468096, true, false, 0, "HF, Qwen/Qwen3-4B"},
    {"qwen2_moe", R"({"model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632,
      "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16, "vocab_size": 151936,
      "num_experts": 60, "num_experts_per_tok": 4, "moe_intermediate_size": 1408, "decoder_sparse_step": 1,
      "shared_expert_intermediate_size": 5632})",
     14315784192, true, false, 0, "HF, Qwen/Qwen1.5-MoE-A2.7B"},
    {"qwen3_moe", R"({"model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144,
      "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
      "vocab_size": 151936, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768,
      "mlp_only_layers": []})",
     30532122624, true, false, 0, "HF, Qwen/Qwen3-30B-A3B"},
    {"qwen3_next", R"({"model_type": "qwen3_next", "hidden_size": 2048, "intermediate_size": 5120,
      "num_hidden_layers": 48, "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256,
      "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
      "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_value_head_dim": 128, "num_experts": 512,
      "num_experts_per_tok": 10, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
      "vocab_size": 151936})",
     79674391296, true, false, 0, "HF, Qwen/Qwen3-Coder-Next"},
    {"qwen3_5_moe",
     R"({"model_type": "qwen3_5_moe", "tie_word_embeddings": false, "vision_config": {"depth": 27},
      "text_config": {"model_type": "qwen3_5_moe_text", "attn_output_gate": true, "head_dim": 256,
      "hidden_size": 4096, "layer_types": )" +
         types(60, 4, "linear_attention", "full_attention") +
         R"(, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
      "linear_num_value_heads": 64, "linear_value_head_dim": 128, "moe_intermediate_size": 1024,
      "num_attention_heads": 32, "num_experts": 512, "num_experts_per_tok": 10, "num_hidden_layers": 60,
      "num_key_value_heads": 2, "shared_expert_intermediate_size": 1024, "vocab_size": 248320}})",
     397e9, false, false, 0, "the name Qwen3.5-397B-A17B, vision tower included"},
    {"deepseek", R"({"model_type": "deepseek", "hidden_size": 2048, "intermediate_size": 10944,
      "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16, "vocab_size": 102400,
      "moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6,
      "first_k_dense_replace": 1, "moe_layer_freq": 1})",
     16375728128, true, false, 0, "HF, deepseek-ai/deepseek-moe-16b-base"},
    {"deepseek_v2", R"({"model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944,
      "num_hidden_layers": 27, "num_attention_heads": 16, "num_key_value_heads": 16, "q_lora_rank": null,
      "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 102400,
      "moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6,
      "first_k_dense_replace": 1, "topk_method": "greedy"})",
     15706484224, true, false, 0, "HF, deepseek-ai/DeepSeek-V2-Lite"},
    {"deepseek_v3", R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432,
      "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "q_lora_rank": 1536,
      "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280,
      "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
      "first_k_dense_replace": 3, "num_nextn_predict_layers": 1, "topk_method": "noaux_tc",
      "quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}})",
     671026419200, true, false, 0, "HF, microsoft/MAI-DS-R1, without the prediction module"},
    {"deepseek_v32", R"({"model_type": "deepseek_v32", "hidden_size": 7168, "intermediate_size": 18432,
      "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "q_lora_rank": 1536,
      "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280,
      "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
      "first_k_dense_replace": 3, "num_nextn_predict_layers": 1, "index_head_dim": 128, "index_n_heads": 64})",
     685355329792, true, true, 2.0 * 129280 * 7168, "HF, deepseek-ai/DeepSeek-V3.2, the module's own tables included"},
    {"kimi inside text_config", R"({"model_type": "kimi_k25", "text_config": {"model_type": "kimi_k2",
      "hidden_size": 7168, "intermediate_size": 18432, "num_hidden_layers": 61, "num_attention_heads": 64,
      "num_key_value_heads": 64, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
      "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 163840, "moe_intermediate_size": 2048,
      "n_routed_experts": 384, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1}})",
     1026408235864, false, false, 0, "HF, moonshotai/Kimi-K2-Instruct"},
    {"glm_moe_dsa", R"({"model_type": "glm_moe_dsa", "hidden_size": 6144, "intermediate_size": 12288,
      "num_hidden_layers": 78, "num_attention_heads": 64, "num_key_value_heads": 64, "q_lora_rank": 2048,
      "kv_lora_rank": 512, "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256, "vocab_size": 154880,
      "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
      "first_k_dense_replace": 3, "num_nextn_predict_layers": 1, "index_head_dim": 128, "index_n_heads": 32})",
     753864139008, true, true, 0, "HF, zai-org/GLM-5"},
    {"glm4_moe", R"({"model_type": "glm4_moe", "hidden_size": 5120, "intermediate_size": 12288,
      "num_hidden_layers": 92, "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128,
      "attention_bias": true, "use_qk_norm": true, "vocab_size": 151552, "moe_intermediate_size": 1536,
      "n_routed_experts": 160, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
      "num_nextn_predict_layers": 1})",
     356785898816, true, true, 0, "HF, zai-org/GLM-4.6"},
    {"gpt_oss",
     R"({"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": 24,
      "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 201088,
      "num_local_experts": 32, "experts_per_token": 4, "num_experts_per_tok": 4, "sliding_window": 128,
      "layer_types": )" +
         windows_of_gpt_oss +
         R"(, "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert":
      ["model.layers.*.self_attn", "lm_head"]}})",
     20914757184, true, false, 0, "HF, openai/gpt-oss-20b"},
    {"llama4", R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text", "hidden_size": 5120,
      "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_hidden_layers": 48, "num_attention_heads": 40,
      "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 202048, "num_local_experts": 128,
      "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "attention_chunk_size": 8192}})",
     400.71e9, false, false, 0, "llama.cpp prints 400.71 B for Llama-4-Maverick"},
    {"gemma2", R"({"model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "num_hidden_layers": 42,
      "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256, "vocab_size": 256000,
      "sliding_window": 4096})",
     9241705984, true, false, 0, "HF, google/gemma-2-9b-it"},
    {"gemma3 with class defaults", R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152},
      "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
      "num_hidden_layers": 34, "sliding_window": 1024}})",
     675e6 + 3209e6, false, false, 0, "Gemma Team 2025, table 1, 4B"},
    {"gemma4",
     R"({"model_type": "gemma4", "vision_config": {}, "text_config": {"model_type": "gemma4_text",
      "hidden_size": 5376, "intermediate_size": 21504, "num_hidden_layers": 60, "num_attention_heads": 32,
      "num_key_value_heads": 16, "head_dim": 256, "num_global_key_value_heads": 4, "global_head_dim": 512,
      "attention_k_eq_v": true, "num_kv_shared_layers": 0, "hidden_size_per_layer_input": 0, "sliding_window": 1024,
      "vocab_size": 262144, "layer_types": )" +
         types(60, 6, "sliding_attention", "full_attention") + "}}",
     30.7e9, false, false, 0, "model card of google/gemma-4-31B-it: 30.7B"},
    {"gemma4 with experts",
     R"({"model_type": "gemma4", "text_config": {"model_type": "gemma4_text",
      "hidden_size": 2816, "intermediate_size": 2112, "num_hidden_layers": 30, "num_attention_heads": 16,
      "num_key_value_heads": 8, "head_dim": 256, "num_global_key_value_heads": 2, "global_head_dim": 512,
      "attention_k_eq_v": true, "num_kv_shared_layers": 0, "hidden_size_per_layer_input": 0, "sliding_window": 1024,
      "enable_moe_block": true, "num_experts": 128, "top_k_experts": 8, "moe_intermediate_size": 704,
      "vocab_size": 262144, "layer_types": )" +
         types(30, 6, "sliding_attention", "full_attention") + "}}",
     25.2e9, false, false, 0, "model card of google/gemma-4-26B-A4B-it: 25.2B"},
    {"phi3", R"({"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32,
      "num_attention_heads": 24, "num_key_value_heads": 8, "vocab_size": 200064, "tie_word_embeddings": true,
      "sliding_window": 262144, "max_position_embeddings": 131072})",
     3836021760, true, false, 0, "HF, microsoft/Phi-4-mini-instruct"},
    {"mimo_v2_flash", R"({"model_type": "mimo_v2_flash", "hidden_size": 4096, "intermediate_size": 16384,
      "num_hidden_layers": 48, "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 192,
      "v_head_dim": 128, "swa_num_attention_heads": 64, "swa_num_key_value_heads": 8, "swa_head_dim": 192,
      "swa_v_head_dim": 128, "sliding_window": 128, "moe_intermediate_size": 2048, "n_routed_experts": 256,
      "num_experts_per_tok": 8, "n_shared_experts": null, "vocab_size": 152576,
      "hybrid_layer_pattern": [0, 1,1,1,1, 0, 1,1,1,1,1, 0, 1,1,1,1,1, 0, 1,1,1,1,1, 0, 1,1,1,1,1, 0, 1,1,1,1,1,
      0, 1,1,1,1,1, 0, 1,1,1,1,1, 0],
      "moe_layer_freq": [0, 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,
      1,1,1]})",
     309e9, false, false, 0, "model card of XiaomiMiMo/MiMo-V2-Flash: 309B"},
    {"minimax_m2", R"({"model_type": "minimax_m2", "hidden_size": 3072, "intermediate_size": 1536,
      "num_hidden_layers": 62, "num_attention_heads": 48, "num_key_value_heads": 8, "head_dim": 128,
      "vocab_size": 200064, "num_local_experts": 256, "num_experts_per_tok": 8, "use_qk_norm": true,
      "use_routing_bias": true, "shared_intermediate_size": 0})",
     228689764864, true, false, 0, "HF, MiniMaxAI/MiniMax-M2"},
    {"step3p7", R"({"model_type": "step3p7", "hidden_size": 4096, "intermediate_size": 11264,
      "num_hidden_layers": 45, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
      "vocab_size": 128896, "first_k_dense_replace": 3, "num_experts": 288, "num_experts_per_tok": 8,
      "moe_intermediate_size": 1280, "share_expert_dim": 1280})",
     196e9, false, false, 0, "model card of stepfun-ai/Step-3.5-Flash, same sizes: 196B"},
    {"dbrx", R"({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "max_seq_len": 32768,
      "vocab_size": 100352, "attn_config": {"kv_n_heads": 8, "clip_qkv": 8, "rope_theta": 500000},
      "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})",
     132e9, false, false, 0, "model card of databricks/dbrx-base: 132B"},
    {"olmo2", R"({"model_type": "olmo2", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 100352})",
     7298617344, true, false, 0, "HF, allenai/OLMo-2-1124-7B"},
    {"smollm3", R"({"model_type": "smollm3", "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36,
      "num_attention_heads": 16, "num_key_value_heads": 4, "vocab_size": 128256})",
     3075098624, true, false, 0, "HF, HuggingFaceTB/SmolLM3-3B-Base"},
    {"nemotron_h", R"({"model_type": "nemotron_h", "hidden_size": 4480, "intermediate_size": 15680,
      "num_hidden_layers": 56, "hybrid_override_pattern": "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-",
      "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "mamba_num_heads": 128,
      "mamba_head_dim": 80, "n_groups": 8, "ssm_state_size": 128, "conv_kernel": 4, "vocab_size": 131072})",
     8888227328, true, false, 0, "HF, nvidia/NVIDIA-Nemotron-Nano-9B-v2"},
    {"nemotron_h with experts", R"({"model_type": "nemotron_h", "hidden_size": 2688, "intermediate_size": 1856,
      "num_hidden_layers": 52, "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
      "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128, "mamba_num_heads": 64,
      "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128, "conv_kernel": 4, "vocab_size": 131072,
      "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712, "n_routed_experts": 128,
      "n_shared_experts": 1, "num_experts_per_tok": 6})",
     31577937344, true, false, 0, "HF, nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"},
    {"granitemoehybrid",
     R"({"model_type": "granitemoehybrid", "hidden_size": 4096, "intermediate_size": 768,
      "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 100352,
      "mamba_d_conv": 4, "mamba_d_head": 64, "mamba_d_state": 128, "mamba_expand": 2, "mamba_n_groups": 1,
      "mamba_n_heads": 128, "num_local_experts": 72, "num_experts_per_tok": 10, "shared_intermediate_size": 1536,
      "tie_word_embeddings": true, "layer_types": )" +
         types(40, 10, "mamba", "attention") + "}",
     32207337984, true, false, 0, "HF, ibm-granite/granite-4.0-h-small, four attention layers of 40"},
    {"jamba", R"({"model_type": "jamba", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 65536, "attn_layer_period": 8,
      "attn_layer_offset": 4, "expert_layer_period": 2, "expert_layer_offset": 1, "num_experts": 16,
      "num_experts_per_tok": 2, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_dt_rank": 256})",
     52e9, false, false, 0, "Lieber et al. 2024: 52B total; the count prints as 51.6B"},
    {"mamba", R"({"model_type": "mamba", "hidden_size": 768, "num_hidden_layers": 24, "state_size": 16,
      "conv_kernel": 4, "expand": 2, "time_step_rank": 48, "vocab_size": 50280})",
     129135360, true, false, 0, "mamba-130m-hf as printed by transformers"},
    {"mamba of state-spaces", R"({"d_model": 2048, "n_layer": 48, "vocab_size": 50277, "ssm_cfg": {},
      "pad_vocab_size_multiple": 8})",
     1372178432, true, false, 0, "mamba-1.4b as printed by transformers"},
    {"falcon", R"({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128,
      "num_kv_heads": 8, "new_decoder_architecture": true, "parallel_attn": true, "bias": false,
      "vocab_size": 65024})",
     83671941120 / 2.0, true, false, 65024.0 * 8192, "index of tiiuae/falcon-40b, which holds the tied table twice"},
    {"mpt", R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "expansion_ratio": 4,
      "max_seq_len": 2048, "no_bias": true, "learned_pos_emb": true, "vocab_size": 50432,
      "attn_config": {"alibi": true, "attn_type": "multihead_attention"}})",
     13298573312 / 2.0, true, false, 0, "index of mosaicml/mpt-7b"},
    {"gpt2", R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_inner": null,
      "n_positions": 1024, "vocab_size": 50257})",
     124439808, true, false, 0, "GPT2LMHeadModel as printed by transformers"},
    {"gpt_neox", R"({"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576,
      "num_hidden_layers": 44, "num_attention_heads": 64, "vocab_size": 50432})",
     20554567680, true, false, 0, "card of EleutherAI/gpt-neox-20b"},
    {"gptj", R"({"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_inner": null,
      "n_positions": 2048, "rotary_dim": 64, "vocab_size": 50400})",
     6050882784, true, false, 0, "GPT-J-6B as printed by its users"},
    {"bloom", R"({"model_type": "bloom", "n_embed": 4096, "n_layer": 30, "num_attention_heads": 32,
      "vocab_size": 250880})",
     7069016064, true, false, 0, "card of bigscience/bloom-7b1"},
    {"opt", R"({"model_type": "opt", "hidden_size": 1024, "ffn_dim": 4096, "num_hidden_layers": 24,
      "num_attention_heads": 16, "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 512,
      "do_layer_norm_before": false})",
     331196416, true, false, 0, "OPT-350m as printed by transformers"},
    {"bert", R"({"architectures": ["BertForMaskedLM"], "model_type": "bert", "hidden_size": 768,
      "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "vocab_size": 30522,
      "max_position_embeddings": 512, "type_vocab_size": 2})",
     109514298, true, false, 0, "BertForMaskedLM as printed by transformers"},
    {"roberta", R"({"architectures": ["RobertaForMaskedLM"], "model_type": "roberta", "hidden_size": 768,
      "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "vocab_size": 50265,
      "max_position_embeddings": 514, "type_vocab_size": 1})",
     124697433, true, false, 0, "F32 elements of roberta-base, huggingface.js test of its safetensors parser"},
    {"vit", R"({"architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_size": 768,
      "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "image_size": 224,
      "patch_size": 16, "num_labels": 1000})",
     86567656, true, false, 0, "torchvision, num_params of ViT_B_16_Weights"},
    {"clip_vision_model", R"({"architectures": ["CLIPVisionModel"], "model_type": "clip_vision_model",
      "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
      "image_size": 224, "patch_size": 14})",
     303179776, true, false, 0, "CLIPVisionModel of clip-vit-large-patch14 as printed by its users"},
};

}  // namespace

TEST_CASE("config.json of every family counts the published parameters") {
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CAPTURE(c.source);
    const ParameterCount count = count_parameters(import_text(c.text));
    const double total = count.total + (c.with_mtp ? count.mtp : 0.0) + c.copies;
    if (c.exact) {
      CHECK(total == c.total);
    } else {
      CHECK(std::abs(total / c.total - 1.0) < (c.total == 52e9 ? 0.01 : 0.005));  // Jamba's is printed in two digits
    }
  }
}

TEST_CASE("an imported architecture written as TOML reads back to the same counts") {
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Architecture arch = import_text(c.text);
    const ConfigValue root = parse_toml(architecture_toml(arch), "model.toml");
    Diagnostics diagnostics;
    const Architecture again = read_architecture(ConfigTable{root, "", diagnostics});
    CHECK_NOTHROW(diagnostics.throw_if_any());
    CHECK(again.blocks() == arch.blocks());
    CHECK(count_parameters(again).total == count_parameters(arch).total);
    CHECK(count_parameters(again).active == count_parameters(arch).active);
    CHECK(count_parameters(again).mtp == count_parameters(arch).mtp);
    CHECK(kv_elements_per_token(again) == kv_elements_per_token(arch));
    CHECK(again.weights.has_value() == arch.weights.has_value());
  }
}

TEST_CASE("quantisation formats count their scales") {
  const std::string llama = R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
    "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 100, "quantization_config": )";
  const auto bits = [&](const std::string& config) { return import_text(llama + config + "}").weights->bits; };
  CHECK(bits(R"({"quant_method": "fp8"})") == 8.0);
  CHECK(bits(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})") == 8.0 + 32.0 / 16384);
  CHECK(bits(R"({"quant_method": "mxfp4"})") == 4.25);
  CHECK(bits(R"({"quant_method": "gptq", "bits": 4, "group_size": 128})") == 4.0 + 20.0 / 128);
  CHECK(bits(R"({"quant_method": "gptq", "bits": 8, "group_size": -1})") == 8.0);
  CHECK(bits(R"({"quant_method": "awq", "w_bit": 4, "q_group_size": 64})") == 4.0 + 20.0 / 64);
  CHECK(bits(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})") == 4.5);
  CHECK(bits(R"({"load_in_4bit": true, "bnb_4bit_use_double_quant": true})") == 4.0 + 8.0 / 64 + 32.0 / 16384);
  CHECK(bits(R"({"quant_method": "bitsandbytes", "load_in_8bit": true})") == 8.0);
  CHECK(bits(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4,
    "type": "int", "strategy": "group", "group_size": 32}}}, "ignore": ["lm_head"]})") == 4.5);
  CHECK(bits(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4,
    "type": "float", "group_size": 16}}}})") == 4.5);
  CHECK(bits(R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})") == 4.5);
  CHECK(bits(R"({"quant_method": "modelopt", "quant_algo": "FP8"})") == 8.0);
  CHECK(bits(R"({"quant_method": "aqlm"})") == 0.0);  // not known, not invented
  const Architecture oss = import_text(llama + R"({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}})");
  CHECK(oss.weights->experts_only);
  CHECK(oss.weights->kept == std::vector<std::string>{"lm_head"});
}

TEST_CASE("a quantised checkpoint says as which format it is served, and its preset keeps it") {
  const std::string llama = R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
    "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 100, "quantization_config": )";
  const auto format = [&](const std::string& config) {
    const Architecture arch = import_text(llama + config + "}");
    const ConfigValue root = parse_toml(architecture_toml(arch), "model.toml");
    Diagnostics diagnostics;
    const Architecture again = read_architecture(ConfigTable{root, "", diagnostics});
    CHECK_NOTHROW(diagnostics.throw_if_any());
    CHECK(again.weights->format == arch.weights->format);
    return arch.weights->format;
  };
  const auto compressed = [](const char* weights) {
    return std::string{R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": )"} +
           weights + "}}}";
  };
  CHECK(format(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})") == Precision::fp8);
  CHECK(format(R"({"quant_method": "fbgemm_fp8"})") == Precision::fp8);
  CHECK(format(R"({"quant_method": "mxfp4"})") == Precision::mxfp4);
  CHECK(format(R"({"quant_method": "gptq", "bits": 4, "group_size": 128})") == Precision::int4);
  CHECK(format(R"({"quant_method": "gptq", "bits": 8, "group_size": -1})") == Precision::int8);
  CHECK(format(R"({"quant_method": "awq", "w_bit": 4, "q_group_size": 64})") == Precision::int4);
  CHECK(format(R"({"load_in_4bit": true})") == Precision::int4);
  CHECK(format(R"({"quant_method": "bitsandbytes", "load_in_8bit": true})") == Precision::int8);
  CHECK(format(compressed(R"({"num_bits": 4, "type": "int", "group_size": 32})")) == Precision::int4);
  CHECK(format(compressed(R"({"num_bits": 8, "type": "int"})")) == Precision::int8);
  CHECK(format(compressed(R"({"num_bits": 8, "type": "float"})")) == Precision::fp8);
  CHECK(format(compressed(R"({"num_bits": 4, "type": "float", "group_size": 16})")) == Precision::nvfp4);
  CHECK(format(compressed(R"({"num_bits": 4, "type": "float", "group_size": 32})")) == Precision::mxfp4);
  CHECK(format(R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})") == Precision::nvfp4);
  CHECK(format(R"({"quant_method": "modelopt", "quant_algo": "MXFP8"})") == Precision::mxfp8);
  CHECK(format(R"({"quant_method": "modelopt", "quant_algo": "W4A16_AWQ"})") == Precision::int4);
  // not known, not invented
  CHECK(format(R"({"quant_method": "aqlm"})") == std::nullopt);
  CHECK(format(R"({"quant_method": "gptq", "bits": 3, "group_size": 128})") == std::nullopt);
}

TEST_CASE("windows are read where a family has them") {
  const std::string base = R"("hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 12,
    "num_attention_heads": 4, "vocab_size": 100, "max_position_embeddings": 32768)";
  const auto windows = [&](const std::string& more) {
    std::vector<std::int64_t> result;
    for (const Block& block : import_text("{" + base + more + "}").blocks()) {
      result.push_back(block.window);
    }
    return result;
  };
  CHECK(windows(R"(, "model_type": "mistral", "sliding_window": 4096)") == std::vector<std::int64_t>(12, 4096));
  CHECK(windows(R"(, "model_type": "mistral", "sliding_window": null)") == std::vector<std::int64_t>(12, 0));
  CHECK(windows(R"(, "model_type": "phi3", "sliding_window": 262144)") == std::vector<std::int64_t>(12, 0));
  CHECK(windows(R"(, "model_type": "qwen2", "use_sliding_window": true, "sliding_window": 512,
    "max_window_layers": 10)") == std::vector<std::int64_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 512, 512});
  CHECK(windows(R"(, "model_type": "gemma3_text", "sliding_window": 512)") ==
        std::vector<std::int64_t>{512, 512, 512, 512, 512, 0, 512, 512, 512, 512, 512, 0});
  CHECK(windows(R"(, "model_type": "llama4_text", "intermediate_size_mlp": 256, "attention_chunk_size": 8192)") ==
        std::vector<std::int64_t>{8192, 8192, 8192, 0, 8192, 8192, 8192, 0, 8192, 8192, 8192, 0});
}

TEST_CASE("a searched layer list keeps every layer's own widths") {
  // Three layers: all heads in groups of 4 and an MLP of 2 x 2.625 x 96 / 3 = 168 -> 256; no attention; no MLP.
  const Architecture arch = import_text(R"({"model_type": "nemotron-nas", "hidden_size": 96, "intermediate_size": null,
    "num_hidden_layers": 3, "num_attention_heads": 8, "num_key_value_heads": null, "vocab_size": 1000,
    "block_configs": [
      {"attention": {"n_heads_in_group": 4, "no_op": false}, "ffn": {"ffn_mult": 2.625, "no_op": false}},
      {"attention": {"n_heads_in_group": null, "no_op": true}, "ffn": {"ffn_mult": 5.25, "no_op": false}},
      {"attention": {"n_heads_in_group": 8, "no_op": false}, "ffn": {"ffn_mult": null, "no_op": true}}]})");
  const double first = 2.0 * 96 * 96 + 2.0 * 96 * 2 * 12 + 3.0 * 96 * 256 + 2 * 96;
  const double second = 3.0 * 96 * 512 + 96;  // 2 x 5.25 x 96 / 3 = 336 -> 512
  const double third = 2.0 * 96 * 96 + 2.0 * 96 * 1 * 12 + 96;
  CHECK(count_parameters(arch).layers == first + second + third);
  CHECK(kv_elements_per_token(arch) == 2.0 * 2 * 12 + 2.0 * 1 * 12);
}

TEST_CASE("what cannot be held is refused with its reason") {
  CHECK(problem_of(R"({"model_type": "whisper", "d_model": 512})").find("an encoder and a decoder") !=
        std::string::npos);
  CHECK(problem_of(R"({"model_type": "clip", "text_config": {}, "vision_config": {}})").find("two towers") !=
        std::string::npos);
  CHECK(problem_of(R"({"model_type": "deepseek_v4"})").find("hyper-connections") != std::string::npos);
  CHECK(problem_of(R"({"architectures": ["T5ForConditionalGeneration"]})").find("'t5' is not read") !=
        std::string::npos);
  CHECK(problem_of(R"({"model_type": "qwen3moe"})").find("did you mean 'qwen3_moe'?; known are") != std::string::npos);
  CHECK(problem_of("{}").find("missing key 'model_type', one of") != std::string::npos);
}

TEST_CASE("a text model without its vision tower says so") {
  const Architecture arch = import_text(cases[2].text);
  CHECK(arch.notes == "the language model alone, without its vision tower");
  CHECK(arch.family == "mistral");
}

TEST_CASE("latent attention takes no notice of num_key_value_heads") {
  const std::string text = R"({"model_type": "deepseek_v2", "hidden_size": 64, "intermediate_size": 128,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 3, "kv_lora_rank": 16,
    "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8, "vocab_size": 100})";
  CHECK(import_text(text).kv_heads == 4);
  CHECK(kv_elements_per_token(import_text(text)) == 2.0 * (16 + 4));
}

TEST_CASE("Jamba's recurrent layers norm the step and both state projections") {
  Architecture jamba = import_text(R"({"model_type": "jamba", "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 65536,
    "mamba_dt_rank": "auto"})");
  CHECK(jamba.recurrent->step_rank == 256);  // 4096 / 16
  const double with = count_parameters(jamba).total;
  jamba.recurrent->inner_norms = false;
  CHECK(with - count_parameters(jamba).total == 28.0 * (256 + 2 * 16));  // 28 of 32 layers recur
}
