// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/printable.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/workload/architecture_text.hpp>

#include <array>

namespace headroom {
namespace {

/// Lines "key = value".
class Lines {
 public:
  void header(std::string_view name) { text_ += "\n[" + std::string{name} + "]\n"; }
  void item(std::string_view name) { text_ += "\n[[" + std::string{name} + "]]\n"; }
  void text(std::string_view key, const std::string& value) { line(key, toml_string(value)); }
  void integer(std::string_view key, std::int64_t value) { line(key, std::to_string(value)); }
  void number(std::string_view key, double value) { line(key, shortest_text(value)); }
  void flag(std::string_view key, bool value) { line(key, value ? "true" : "false"); }
  void text_if(std::string_view key, const std::string& value) { value.empty() ? void() : text(key, value); }
  void integer_unless(std::string_view key, std::int64_t value, std::int64_t usual) {
    value == usual ? void() : integer(key, value);
  }
  void number_unless(std::string_view key, double value, double usual) { value == usual ? void() : number(key, value); }
  void flag_unless(std::string_view key, bool value, bool usual) { value == usual ? void() : flag(key, value); }
  void word(std::string_view key, std::string_view value) { line(key, "\"" + std::string{value} + "\""); }
  void line(std::string_view key, const std::string& value) { text_ += std::string{key} + " = " + value + "\n"; }
  [[nodiscard]] const std::string& result() const { return text_; }

 private:
  std::string text_;
};

template <class Words, class Enum>
std::string_view word_of(const Words& words, Enum value) {
  return words[static_cast<std::size_t>(value)];
}

std::string list_of(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) {
    list += (list.empty() ? "" : ", ") + toml_string(text);
  }
  return "[" + list + "]";
}

void usual_block(const Architecture& arch, Lines& out) {
  if (arch.mixer != Mixer::attention) {
    out.word("mixer", word_of(mixer_names, arch.mixer));
  }
  if (arch.feed_forward) {
    out.word("feed_forward", word_of(feed_forward_names, *arch.feed_forward));
  }
  out.integer("heads", arch.heads);
  out.integer("kv_heads", arch.kv_heads);
  out.integer("head_dim", arch.head_dim);
  out.integer_unless("value_dim", arch.value_dim, 0);
  out.integer("ffn_hidden", arch.ffn_hidden);
  out.flag("gated_mlp", arch.gated_mlp);
  out.integer_unless("window", arch.window, 0);
  out.integer_unless("full_every", arch.full_every, 0);
}

void ends(const Architecture& arch, Lines& out) {
  if (!arch.patches) {
    out.integer("vocab", arch.vocab);
    out.flag("tied_embeddings", arch.tied_embeddings);
  }
  out.integer_unless("learned_positions", arch.learned_positions, 0);
  out.integer_unless("token_types", arch.token_types, 0);
  out.integer_unless("embedding_width", arch.embedding_width, 0);
  out.flag_unless("pooler", arch.pooler, false);
  out.flag_unless("mlm_head", arch.mlm_head, false);
  out.flag_unless("head_bias", arch.head_bias, false);
  out.integer_unless("mtp_layers", arch.mtp_layers, 0);
  out.flag_unless("mtp_shared", arch.mtp_shared, false);
  out.flag_unless("embedding_norm", arch.embedding_norm, false);
  out.flag_unless("final_norm", arch.final_norm, true);
}

void small_parts(const Architecture& arch, Lines& out) {
  out.flag("biases", arch.biases);
  if (arch.attention_biases) {
    out.flag("attention_biases", *arch.attention_biases);
  }
  if (arch.output_bias) {
    out.flag("output_bias", *arch.output_bias);
  }
  if (arch.qk_norm != QkNorm::none) {
    out.word("qk_norm", word_of(qk_norm_names, arch.qk_norm));
  }
  out.flag_unless("output_gate", arch.output_gate, false);
  out.flag_unless("sinks", arch.sinks, false);
  out.flag_unless("fp8_blocks", arch.fp8_blocks, false);
  out.integer_unless("norms_per_layer", arch.norms_per_layer, 2);
  out.word("norm", word_of(norm_names, arch.norm));
  out.flag_unless("norm_biases", arch.norm_biases, true);
  out.number_unless("norm_eps", arch.norm_eps, 0.0);
  if (arch.activation) {
    out.word("activation", word_of(activation_names, *arch.activation));
  }
  if (arch.positions != Positions::rope) {
    out.word("positions", word_of(positions_names, arch.positions));
  }
  out.integer_unless("rope_base", arch.rope_base, 0);
  out.integer_unless("rope_base_local", arch.rope_base_local, 0);
  out.number_unless("rope_share", arch.rope_share, 1.0);
  out.integer_unless("max_seq_len", arch.max_seq_len, 0);
}

void rope_scaling_table(const RopeScaling& scaling, Lines& out) {
  out.header("rope_scaling");
  out.word("kind", word_of(rope_stretch_names, scaling.kind));
  out.number_unless("factor", scaling.factor, 0.0);
  out.integer_unless("original_positions", scaling.original_positions, 0);
  out.number_unless("low_freq", scaling.low_freq, 0.0);
  out.number_unless("high_freq", scaling.high_freq, 0.0);
  out.number_unless("beta_fast", scaling.beta_fast, 0.0);
  out.number_unless("beta_slow", scaling.beta_slow, 0.0);
  out.number_unless("mscale", scaling.mscale, 0.0);
  out.number_unless("mscale_all", scaling.mscale_all, 0.0);
}

void moe_table(const Moe& moe, Lines& out) {
  out.header("moe");
  out.integer("experts", moe.experts);
  out.integer("top_k", moe.top_k);
  out.integer("expert_ffn_hidden", moe.expert_ffn_hidden);
  out.integer_unless("shared_ffn_hidden", moe.shared_ffn_hidden, 0);
  out.integer_unless("dense_layers", moe.dense_layers, 0);
  out.integer_unless("every", moe.every, 1);
  out.flag_unless("shared_gate", moe.shared_gate, false);
  out.flag_unless("router_bias", moe.router_bias, false);
  out.flag_unless("expert_biases", moe.expert_biases, false);
  if (moe.score) {
    out.word("score", word_of(router_score_names, *moe.score));
  }
  if (moe.normalized) {
    out.flag("normalized", *moe.normalized);
  }
  out.number_unless("scale", moe.scale, 1.0);
  out.integer_unless("groups", moe.groups, 0);
  out.integer_unless("top_groups", moe.top_groups, 0);
  out.integer_unless("latent", moe.latent, 0);
}

void mla_table(const Mla& mla, Lines& out) {
  out.header("mla");
  out.integer("q_rank", mla.q_rank);
  out.integer("kv_rank", mla.kv_rank);
  out.integer("nope_dim", mla.nope_dim);
  out.integer("rope_dim", mla.rope_dim);
  out.integer("value_dim", mla.value_dim);
  out.integer_unless("index_heads", mla.index_heads, 0);
  out.integer_unless("index_dim", mla.index_dim, 0);
}

void recurrent_table(const Recurrent& r, Lines& out) {
  out.header("recurrent");
  out.integer("heads", r.heads);
  out.integer("head_dim", r.head_dim);
  out.integer_unless("groups", r.groups, 1);
  out.integer("state", r.state);
  out.integer("conv_kernel", r.conv_kernel);
  out.integer_unless("step_rank", r.step_rank, 0);
  out.integer_unless("gate_rank", r.gate_rank, 0);
  out.flag_unless("inner_norms", r.inner_norms, false);
  out.integer_unless("chunk", r.chunk, 0);
  out.integer_unless("state_bytes", r.state_bytes, 2);
}

void patches_table(const Patches& p, Lines& out) {
  out.header("patches");
  out.integer("image", p.image);
  out.integer("patch", p.patch);
  out.integer_unless("channels", p.channels, 3);
  out.integer_unless("classes", p.classes, 0);
  out.flag_unless("class_token", p.class_token, true);
  out.flag_unless("bias", p.bias, true);
}

void weights_table(const WeightFormat& weights, Lines& out) {
  out.header("weights");
  if (weights.format) {
    out.word("format", name_of(*weights.format));
  }
  if (!weights.format || !weights.method.empty()) {
    out.text("method", weights.method.empty() ? "unknown" : weights.method);
  }
  out.number_unless("bits", weights.bits, 0.0);
  out.text_if("source", weights.source);
  out.flag_unless("experts_only", weights.experts_only, false);
  if (!weights.kept.empty()) {
    out.line("kept", list_of(weights.kept));
  }
}

/// Every field is written: what is left out is the usual block's, which may differ in any.
void block_fields(const Block& b, Lines& out) {
  out.word("mixer", word_of(mixer_names, b.mixer));
  out.word("feed_forward", word_of(feed_forward_names, b.feed_forward));
  out.integer("heads", b.heads);
  out.integer("kv_heads", b.kv_heads);
  out.integer("head_dim", b.head_dim);
  out.integer("value_dim", b.value_dim);
  out.integer("window", b.window);
  out.integer("ffn_hidden", b.ffn_hidden);
  out.flag_unless("shared_kv", b.shared_kv, false);
}

void variant_table(const LayerVariant& variant, Lines& out) {
  out.item("variant");
  std::string layers;
  for (const std::int64_t layer : variant.layers) {
    layers += (layers.empty() ? "" : ", ") + std::to_string(layer);
  }
  out.line("layers", "[" + layers + "]");
  block_fields(variant.block, out);
}

}  // namespace

std::string architecture_toml(const Architecture& arch) {
  Lines out;
  out.integer("schema", 1);
  out.text("id", arch.id);
  out.text("name", arch.name);
  out.line("aliases", list_of(arch.aliases));
  out.text_if("family", arch.family);
  out.word("kind", word_of(architecture_kind_names, arch.kind));
  out.text("source", arch.source);
  out.text_if("notes", arch.notes);
  out.integer("layers", arch.layers);
  out.integer("hidden", arch.hidden);
  usual_block(arch, out);
  ends(arch, out);
  small_parts(arch, out);
  if (arch.rope_scaling.kind != RopeStretch::none) {
    rope_scaling_table(arch.rope_scaling, out);
  }
  if (arch.moe) {
    moe_table(*arch.moe, out);
  }
  if (arch.mla) {
    mla_table(*arch.mla, out);
  }
  if (arch.recurrent) {
    recurrent_table(*arch.recurrent, out);
  }
  if (arch.patches) {
    patches_table(*arch.patches, out);
  }
  if (arch.weights) {
    weights_table(*arch.weights, out);
  }
  if (arch.mtp_block) {
    out.header("mtp_block");
    block_fields(*arch.mtp_block, out);
  }
  for (const LayerVariant& variant : arch.variants) {
    variant_table(variant, out);
  }
  return out.result();
}

}  // namespace headroom
