// SPDX-License-Identifier: Apache-2.0
// Parts of a network that no count hangs on. Names: the transformers configuration classes (version 4.56 and, for
// `rope_parameters`, 5.0) and those beside the checkpoints. What a config.json leaves to its class stays blank but for
// what the class has no key for.
#include <headroom/model/workload/hf_families.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom {
namespace {

struct ActivationWord {
  std::string_view theirs;
  Activation ours;
};
constexpr std::array activation_words{
    ActivationWord{"silu", Activation::silu},           ActivationWord{"swish", Activation::silu},
    ActivationWord{"gelu", Activation::gelu},           ActivationWord{"gelu_new", Activation::gelu_tanh},
    ActivationWord{"gelu_fast", Activation::gelu_tanh}, ActivationWord{"gelu_pytorch_tanh", Activation::gelu_tanh},
    ActivationWord{"relu", Activation::relu},           ActivationWord{"relu2", Activation::relu2},
    ActivationWord{"squared_relu", Activation::relu2},
};

/// Another word is another activation, which no launch form knows: it stays blank.
void read_activation(HfReader& reader, Architecture& arch) {
  if (arch.family == "gpt_oss") {
    return;  // "silu" is printed; the experts clamp and shift a quick GELU
  }
  const std::string word = reader.text_or({"hidden_activation", "hidden_act", "mlp_hidden_act", "activation_function",
                                           "activation", "ffn_config.ffn_act_fn.name"},
                                          "");
  const auto* found =
      std::find_if(activation_words.begin(), activation_words.end(), [&](const auto& w) { return w.theirs == word; });
  if (found != activation_words.end()) {
    arch.activation = found->ours;
  }
}

/// ALiBi (Press et al. 2022) by a key or by the family; hybrids whose attention has no positions at all.
Positions positions_of(HfReader& reader, std::string_view model_type) {
  constexpr std::array<std::string_view, 4> without{"nemotron_h", "jamba", "mamba", "kimi_linear"};
  const bool alibi = model_type == "bloom" || reader.flag_or({"alibi", "attn_config.alibi"}, false);
  const bool none = std::find(without.begin(), without.end(), model_type) != without.end() ||
                    reader.text_or({"position_embedding_type"}, "") == "nope";
  return alibi ? Positions::alibi : none ? Positions::none : Positions::rope;
}

struct StretchWord {
  std::string_view theirs;
  RopeStretch ours;
};
constexpr std::array stretch_words{
    StretchWord{"linear", RopeStretch::linear},     StretchWord{"dynamic", RopeStretch::dynamic},
    StretchWord{"llama3", RopeStretch::llama3},     StretchWord{"yarn", RopeStretch::yarn},
    StretchWord{"longrope", RopeStretch::longrope}, StretchWord{"su", RopeStretch::longrope},
};

/// Kinds that stretch nothing ("default", Qwen's "mrope") leave it as it is.
void read_stretch(HfReader& reader, RopeScaling& scaling) {
  const std::string word = reader.text_or({"rope_scaling.rope_type", "rope_scaling.type", "rope_parameters.rope_type",
                                           "rope_parameters.full_attention.rope_type"},
                                          "default");
  const auto* found =
      std::find_if(stretch_words.begin(), stretch_words.end(), [&](const auto& w) { return w.theirs == word; });
  if (found == stretch_words.end()) {
    return;
  }
  const auto number = [&](std::string_view key) {
    const std::string old = "rope_scaling." + std::string{key};
    const std::string fresh = "rope_parameters." + std::string{key};
    const std::string full = "rope_parameters.full_attention." + std::string{key};
    return reader.maybe_detail({old, fresh, full}, detail_ranges.factor).value_or(0.0);
  };
  scaling.kind = found->ours;
  scaling.factor = number("factor");
  scaling.original_positions = reader
                                   .maybe_detail({"rope_scaling.original_max_position_embeddings",
                                                  "rope_parameters.original_max_position_embeddings"},
                                                 hf_size_or_none)
                                   .value_or(0);
  scaling.low_freq = number("low_freq_factor");
  scaling.high_freq = number("high_freq_factor");
  scaling.beta_fast = number("beta_fast");
  scaling.beta_slow = number("beta_slow");
  scaling.mscale = number("mscale");
  scaling.mscale_all = number("mscale_all_dim");
}

/// A base that every layer shares, and whole, as all launch forms take it; lists by layer stay blank.
std::int64_t base_of(HfReader& reader, HfKeys keys) {
  const ConfigValue* value = reader.find(keys);
  if (value == nullptr || (value->kind != ConfigValue::Kind::integer && value->kind != ConfigValue::Kind::number)) {
    return 0;
  }
  const Range<double> range{static_cast<double>(detail_ranges.rope_base.low),
                            static_cast<double>(detail_ranges.rope_base.high)};
  const double base = reader.maybe_detail(keys, range).value_or(0.0);
  return base == std::floor(base) ? static_cast<std::int64_t>(base) : 0;
}

/// Of a head's width; where it is stated by layer it stays 1.
double share_of(HfReader& reader, const Architecture& arch) {
  const HfKeys keys{"partial_rotary_factor", "rotary_pct", "rope_parameters.partial_rotary_factor",
                    "rope_parameters.full_attention.partial_rotary_factor"};
  const ConfigValue* stated = reader.find(keys);
  if (stated != nullptr && stated->kind != ConfigValue::Kind::array) {
    return reader.maybe_detail(keys, detail_ranges.rope_share).value_or(1.0);
  }
  const auto width = arch.mla ? std::nullopt : reader.maybe_detail({"rotary_dim"}, hf_size);
  return width ? std::min(1.0, static_cast<double>(*width) / static_cast<double>(arch.head_dim)) : 1.0;
}

void read_rotation(HfReader& reader, Architecture& arch) {
  arch.rope_base = base_of(reader, {"rope_theta", "rotary_emb_base", "rope_parameters.rope_theta",
                                    "rope_parameters.full_attention.rope_theta", "attn_config.rope_theta"});
  const std::int64_t local =
      base_of(reader, {"rope_local_base_freq", "swa_rope_theta", "rope_parameters.sliding_attention.rope_theta"});
  arch.rope_base_local = local == arch.rope_base ? 0 : local;
  arch.rope_share = share_of(reader, arch);
  read_stretch(reader, arch.rope_scaling);
}

/// How a family's router scores where its configuration has no key for it.
struct RouterHabit {
  std::string_view model_type;
  RouterScore score;
  std::optional<bool> normalized;
};
constexpr std::array router_habits{
    RouterHabit{"mixtral", RouterScore::softmax, true},
    RouterHabit{"gpt_oss", RouterScore::softmax, true},
    RouterHabit{"granitemoe", RouterScore::softmax, true},
    RouterHabit{"granitemoehybrid", RouterScore::softmax, true},
    RouterHabit{"dbrx", RouterScore::softmax, {}},
    RouterHabit{"olmoe", RouterScore::softmax, {}},
    RouterHabit{"qwen2_moe", RouterScore::softmax, {}},
    RouterHabit{"qwen3_moe", RouterScore::softmax, {}},
    RouterHabit{"qwen3_vl_moe_text", RouterScore::softmax, {}},
    RouterHabit{"qwen3_next", RouterScore::softmax, {}},
    RouterHabit{"glm4_moe", RouterScore::sigmoid, {}},
    RouterHabit{"nemotron_h", RouterScore::sigmoid, {}},
    RouterHabit{"llama4", RouterScore::sigmoid, false},
    RouterHabit{"llama4_text", RouterScore::sigmoid, false},
};

void read_router(HfReader& reader, std::string_view model_type, Moe& moe) {
  const std::string word = reader.text_or({"scoring_func", "moe_router_activation_func"}, "");
  const auto* named = std::find(router_score_names.begin(), router_score_names.end(), word);
  const auto* habit = std::find_if(router_habits.begin(), router_habits.end(),
                                   [&](const RouterHabit& h) { return h.model_type == model_type; });
  if (named != router_score_names.end()) {
    moe.score = static_cast<RouterScore>(named - router_score_names.begin());
  } else if (habit != router_habits.end()) {
    moe.score = habit->score;
  }
  moe.normalized = reader.maybe_flag({"norm_topk_prob", "norm_expert_weight"});
  if (!moe.normalized && habit != router_habits.end()) {
    moe.normalized = habit->normalized;
  }
  moe.scale =
      reader.maybe_detail({"routed_scaling_factor", "moe_router_scaling_factor"}, detail_ranges.factor).value_or(1.0);
  const std::int64_t groups = reader.maybe_detail({"n_group"}, hf_size_or_none).value_or(0);
  const std::int64_t top = reader.maybe_detail({"topk_group"}, hf_size_or_none).value_or(0);
  if (groups > 1 && top > 0) {  // of one group all is chosen from
    moe.groups = groups;
    moe.top_groups = top;
  }
}

}  // namespace

void read_details(HfReader& reader, const HfFamily& family, Architecture& arch) {
  arch.norm_eps = reader
                      .maybe_detail({"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon",
                                     "norm_eps", "norm_epsilon"},
                                    detail_ranges.norm_eps)
                      .value_or(0.0);
  read_activation(reader, arch);
  if (arch.kind == ArchitectureKind::decoder && arch.learned_positions == 0) {
    arch.positions = positions_of(reader, family.model_type);
    if (arch.positions == Positions::rope) {
      read_rotation(reader, arch);
    }
  }
  if (arch.moe) {
    read_router(reader, family.model_type, *arch.moe);
  }
}

}  // namespace headroom
