// SPDX-License-Identifier: Apache-2.0
// config.json of hybrids: what is recurrent in them, what their experts work in, what predicts, and what a sequence
// keeps.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/model/workload/architecture_text.hpp>
#include <headroom/model/workload/hf_config.hpp>
#include <headroom/model/workload/layer_ops.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace headroom;

namespace {

Architecture import_text(const std::string& text) {
  Diagnostics diagnostics;
  Diagnostics remarks;
  const Architecture arch = import_hf_config(parse_json(text, "config.json"), "config.json", diagnostics, remarks);
  diagnostics.throw_if_any();
  return arch;
}

auto layers_of(const Architecture& arch, Mixer mixer) {
  const auto blocks = arch.blocks();
  return std::count_if(blocks.begin(), blocks.end(), [&](const Block& block) { return block.mixer == mixer; });
}

/// Bytes that a layer's scan keeps of a sequence, the convolution's inputs among them.
double state_of_first(const Architecture& arch) {
  double state = 0.0;
  for (const LayerOp& op : layer_ops(arch, arch.blocks().front(), LayerForm::serving, 1.0)) {
    state += op.kind == LayerOpKind::scan ? op.state : 0.0;
  }
  return state;
}

constexpr const char* super = R"({"model_type": "nemotron_h", "hidden_size": 4096, "intermediate_size": 2688,
  "num_hidden_layers": 88, "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128, "vocab_size": 131072,
  "hybrid_override_pattern": "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME",
  "n_groups": 8, "conv_kernel": 4, "mamba_head_dim": 64, "mamba_num_heads": 128, "ssm_state_size": 128,
  "chunk_size": 128, "mamba_ssm_cache_dtype": "float32", "n_routed_experts": 512, "n_shared_experts": 1,
  "num_experts_per_tok": 22, "moe_latent_size": 1024, "moe_intermediate_size": 2688,
  "moe_shared_expert_intermediate_size": 5376, "mtp_hybrid_override_pattern": "*E", "num_nextn_predict_layers": 1})";

constexpr const char* kimi = R"({"model_type": "kimi_linear", "hidden_size": 2304, "intermediate_size": 9216,
  "moe_intermediate_size": 1024, "num_hidden_layers": 27, "num_attention_heads": 32, "num_key_value_heads": 32,
  "head_dim": 72, "kv_lora_rank": 512, "q_lora_rank": null, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
  "v_head_dim": 128, "mla_use_nope": true, "num_experts": 256, "num_experts_per_token": 8, "num_shared_experts": 1,
  "first_k_dense_replace": 1, "moe_layer_freq": 1, "vocab_size": 163840, "tie_word_embeddings": false,
  "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13,
  14, 15, 17, 18, 19, 21, 22, 23, 25, 26], "head_dim": 128, "num_heads": 32, "short_conv_kernel_size": 4}})";

}  // namespace

TEST_CASE("Nemotron 3 Super: experts in a latent space, a prediction module of attention and experts, states in fp32") {
  const Architecture arch = import_text(super);
  // Megatron-Bridge, model_verification_cards: 123 611 012 096 elements with the prediction module.
  const ParameterCount count = count_parameters(arch);
  CHECK(count.total + count.mtp == doctest::Approx(123611012096.0).epsilon(1e-6));
  CHECK(count.active - count.embedding > 11.5e9);
  CHECK(count.active - count.embedding < 13e9);
  CHECK(layers_of(arch, Mixer::mamba2) == 40);
  CHECK(layers_of(arch, Mixer::attention) == 8);
  REQUIRE(arch.moe.has_value());
  CHECK(arch.moe->latent == 1024);
  REQUIRE(arch.recurrent.has_value());
  CHECK(arch.recurrent->chunk == 128);
  CHECK(arch.prediction_block().mixer == Mixer::attention);
  CHECK(arch.prediction_block().feed_forward == FeedForward::moe);
  CHECK(state_of_first(arch) == 4.0 * 128 * 64 * 128 + 2.0 * 3 * (128 * 64 + 2 * 8 * 128));
  // The products of a routed expert are latent by width; two that all tokens meet lead there and back.
  int latent = 0;
  for (const Block& block : {arch.blocks()[1]}) {
    for (const LayerOp& op : layer_ops(arch, block, LayerForm::serving, 1.0)) {
      latent += op.kind == LayerOpKind::product && op.name.find("latent") != std::string_view::npos ? 1 : 0;
      if (op.kind == LayerOpKind::experts) {
        CHECK(op.input == 1024.0);
      }
    }
  }
  CHECK(latent == 2);
}

TEST_CASE("prediction modules cost what published FLOP a token say, within 5 %") {
  // Megatron-Bridge, performance summaries: TFLOP/s over tokens/s of Nemotron 3 Super are 84.7 GFLOP a token at 8,192,
  // in training with two passes of the module over shared weights.
  Architecture arch = import_text(super);
  arch.mtp_layers = 2;
  arch.mtp_shared = true;
  const double network = 6.0 * count_parameters(arch).active_matrices + 3.0 * score_flops(arch, 8192.0);
  CHECK(network + 3.0 * prediction_flops(arch, 8192.0) == doctest::Approx(84.7e9).epsilon(0.05));
  CHECK(network < 0.93 * 84.7e9);
  arch.mtp_layers = 0;
  CHECK(prediction_flops(arch, 8192.0) == 0.0);
}

TEST_CASE("Kimi Linear: 20 layers of Kimi Delta Attention, 7 of latent attention without rotary keys") {
  const Architecture arch = import_text(kimi);
  const ParameterCount count = count_parameters(arch);
  CHECK(count.total == 49122681728.0);  // safetensors.total of moonshotai/Kimi-Linear-48B-A3B-Instruct
  CHECK(layers_of(arch, Mixer::kda) == 20);
  CHECK(layers_of(arch, Mixer::mla) == 7);
  CHECK(arch.blocks().back().mixer == Mixer::mla);
  // Only the layers of latent attention keep keys: 512 + 64 numbers a token.
  CHECK(kv_elements_per_token(arch) == 7.0 * 576.0);
  CHECK(state_of_first(arch) == 4.0 * 32 * 128 * 128 + 2.0 * 3 * 3 * 32 * 128);
}

TEST_CASE("hybrids are the same when read back from their own text") {
  for (const char* text : {super, kimi}) {
    const Architecture arch = import_text(text);
    const ConfigValue root = parse_toml(architecture_toml(arch), "model.toml");
    Diagnostics diagnostics;
    const Architecture again = read_architecture(ConfigTable{root, "", diagnostics});
    CHECK_NOTHROW(diagnostics.throw_if_any());
    CHECK(again.blocks() == arch.blocks());
    CHECK(again.prediction_block() == arch.prediction_block());
    CHECK(again.recurrent->chunk == arch.recurrent->chunk);
    CHECK(again.recurrent->gate_rank == arch.recurrent->gate_rank);
    CHECK(state_of_first(again) == state_of_first(arch));
    CHECK(count_parameters(again).total == count_parameters(arch).total);
    CHECK(count_parameters(again).mtp == count_parameters(arch).mtp);
  }
}
