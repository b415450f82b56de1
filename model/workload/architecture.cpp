// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/architecture.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// No width of a network comes near this; products of two stay exact.
constexpr Range<std::int64_t> size{1, std::int64_t{1} << 30};
constexpr Range<std::int64_t> size_or_none{0, std::int64_t{1} << 30};

std::string number(std::int64_t n) {
  return std::to_string(n);
}

void read_moe(ConfigTable table, Architecture& arch) {
  Moe moe;
  moe.experts = table.integer("experts", size);
  moe.top_k = table.integer("top_k", size);
  moe.expert_ffn_hidden = table.integer("expert_ffn_hidden", size);
  moe.shared_ffn_hidden = table.maybe_integer("shared_ffn_hidden", size_or_none).value_or(0);
  moe.dense_layers = table.maybe_integer("dense_layers", size_or_none).value_or(0);
  moe.every = table.maybe_integer("every", size).value_or(1);
  moe.shared_gate = table.maybe_boolean("shared_gate").value_or(false);
  moe.router_bias = table.maybe_boolean("router_bias").value_or(false);
  moe.expert_biases = table.maybe_boolean("expert_biases").value_or(false);
  if (const auto score = table.maybe_choice("score", router_score_names)) {
    moe.score = static_cast<RouterScore>(*score);
  }
  moe.normalized = table.maybe_boolean("normalized");
  moe.scale = table.maybe_number("scale", detail_ranges.factor).value_or(1.0);
  moe.groups = table.maybe_integer("groups", size_or_none).value_or(0);
  moe.top_groups = table.maybe_integer("top_groups", size_or_none).value_or(0);
  moe.latent = table.maybe_integer("latent", size_or_none).value_or(0);
  if (moe.top_k > moe.experts) {
    table.problem("top_k", "'top_k' is " + number(moe.top_k) + ", more than the " + number(moe.experts) + " experts");
  }
  if (moe.dense_layers > arch.layers) {
    table.problem("dense_layers", "'dense_layers' is " + number(moe.dense_layers) + ", more than the " +
                                      number(arch.layers) + " layers");
  }
  table.finish();
  arch.moe = moe;
}

void read_rope_scaling(ConfigTable table, RopeScaling& scaling) {
  const Range<double> factor = detail_ranges.factor;
  scaling.kind = static_cast<RopeStretch>(table.choice("kind", rope_stretch_names));
  scaling.factor = table.maybe_number("factor", factor).value_or(0.0);
  scaling.original_positions = table.maybe_integer("original_positions", size_or_none).value_or(0);
  scaling.low_freq = table.maybe_number("low_freq", factor).value_or(0.0);
  scaling.high_freq = table.maybe_number("high_freq", factor).value_or(0.0);
  scaling.beta_fast = table.maybe_number("beta_fast", factor).value_or(0.0);
  scaling.beta_slow = table.maybe_number("beta_slow", factor).value_or(0.0);
  scaling.mscale = table.maybe_number("mscale", factor).value_or(0.0);
  scaling.mscale_all = table.maybe_number("mscale_all", {0.0, factor.high}).value_or(0.0);
  table.finish();
}

void read_mla(ConfigTable table, Architecture& arch) {
  Mla mla;
  mla.q_rank = table.maybe_integer("q_rank", size_or_none).value_or(0);
  mla.kv_rank = table.integer("kv_rank", size);
  mla.nope_dim = table.integer("nope_dim", size);
  mla.rope_dim = table.integer("rope_dim", size_or_none);
  mla.value_dim = table.integer("value_dim", size);
  mla.index_heads = table.maybe_integer("index_heads", size_or_none).value_or(0);
  mla.index_dim = table.maybe_integer("index_dim", size_or_none).value_or(0);
  table.finish();
  arch.mla = mla;
}

void read_recurrent(ConfigTable table, Architecture& arch) {
  Recurrent r;
  r.heads = table.integer("heads", size);
  r.head_dim = table.integer("head_dim", size);
  r.groups = table.maybe_integer("groups", size).value_or(1);
  r.state = table.integer("state", size);
  r.conv_kernel = table.maybe_integer("conv_kernel", size).value_or(4);
  r.step_rank = table.maybe_integer("step_rank", size_or_none).value_or(0);
  r.gate_rank = table.maybe_integer("gate_rank", size_or_none).value_or(0);
  r.inner_norms = table.maybe_boolean("inner_norms").value_or(false);
  r.chunk = table.maybe_integer("chunk", size_or_none).value_or(0);
  r.state_bytes = table.maybe_integer("state_bytes", {1, 4}).value_or(2);
  table.finish();
  arch.recurrent = r;
}

void read_patches(ConfigTable table, Architecture& arch) {
  Patches p;
  p.image = table.integer("image", size);
  p.patch = table.integer("patch", {1, 32768});
  p.channels = table.maybe_integer("channels", {1, 32768}).value_or(3);
  p.classes = table.maybe_integer("classes", size_or_none).value_or(0);
  p.class_token = table.maybe_boolean("class_token").value_or(true);
  p.bias = table.maybe_boolean("bias").value_or(true);
  if (p.patch > p.image) {  // a rest is dropped (SigLIP: 384 pixels in patches of 14)
    table.problem("patch", "'patch' " + number(p.patch) + " is more than 'image' " + number(p.image));
  }
  table.finish();
  arch.patches = p;
}

/// The usual block, before dense first layers, windows and variants.
Block usual_block(const Architecture& arch) {
  Block block;
  block.mixer = arch.mla && arch.mixer == Mixer::attention ? Mixer::mla : arch.mixer;
  block.feed_forward = arch.feed_forward.value_or(arch.moe ? FeedForward::moe : FeedForward::dense);
  block.heads = arch.heads;
  block.kv_heads = arch.kv_heads;
  block.head_dim = arch.head_dim;
  block.value_dim = arch.value_dim;
  block.window = arch.window;
  block.ffn_hidden = arch.ffn_hidden;
  return block;
}

void check_heads(ConfigTable& table, std::int64_t heads, std::int64_t kv_heads) {
  if (heads % kv_heads != 0) {
    table.problem("kv_heads", "'heads' " + number(heads) + " does not divide by 'kv_heads' " + number(kv_heads));
  }
}

bool attends(Mixer mixer) {
  return mixer == Mixer::attention || mixer == Mixer::mla;
}

/// What a mixer or a feed-forward needs must be there.
void check_parts(ConfigTable& table, const Architecture& arch, const Block& block) {
  if (is_recurrent(block.mixer) && !arch.recurrent) {
    table.problem("mixer", "mixer '" + std::string{mixer_names[static_cast<std::size_t>(block.mixer)]} +
                               "' needs the model's table [recurrent]: heads, head_dim, state, conv_kernel");
  }
  if (block.mixer == Mixer::mla && !arch.mla) {
    table.problem("mixer", "mixer 'mla' needs the model's table [mla]: q_rank, kv_rank, nope_dim, rope_dim, value_dim");
  }
  if (block.feed_forward == FeedForward::moe && !arch.moe) {
    table.problem("feed_forward",
                  "feed_forward 'moe' needs the model's table [moe]: experts, top_k, expert_ffn_hidden");
  }
}

/// What is left out is the usual block's.
Block read_block(ConfigTable& table, const Architecture& arch) {
  Block block = usual_block(arch);
  if (const auto mixer = table.maybe_choice("mixer", mixer_names)) {
    block.mixer = static_cast<Mixer>(*mixer);
  }
  if (const auto feed_forward = table.maybe_choice("feed_forward", feed_forward_names)) {
    block.feed_forward = static_cast<FeedForward>(*feed_forward);
  }
  block.heads = table.maybe_integer("heads", size).value_or(block.heads);
  block.kv_heads = table.maybe_integer("kv_heads", size).value_or(block.kv_heads);
  block.head_dim = table.maybe_integer("head_dim", size).value_or(block.head_dim);
  block.value_dim = table.maybe_integer("value_dim", size_or_none).value_or(block.value_dim);
  block.window = table.maybe_integer("window", size_or_none).value_or(block.window);
  block.ffn_hidden = table.maybe_integer("ffn_hidden", size).value_or(block.ffn_hidden);
  block.shared_kv = table.maybe_boolean("shared_kv").value_or(false);
  check_heads(table, block.heads, block.kv_heads);
  check_parts(table, arch, block);
  table.finish();
  return block;
}

void read_variant(ConfigTable& table, Architecture& arch) {
  LayerVariant variant;
  variant.layers = table.integers("layers");
  for (const std::int64_t layer : variant.layers) {
    if (layer < 0 || layer >= arch.layers) {
      table.problem("layers", "layer " + number(layer) + " is none of the " + number(arch.layers) + ", counted from 0");
    }
  }
  variant.block = read_block(table, arch);
  arch.variants.push_back(std::move(variant));
}

void read_usual_block(ConfigTable& root, Architecture& arch) {
  arch.mixer = static_cast<Mixer>(root.maybe_choice("mixer", mixer_names).value_or(0));
  if (const auto feed_forward = root.maybe_choice("feed_forward", feed_forward_names)) {
    arch.feed_forward = static_cast<FeedForward>(*feed_forward);
  }
  arch.heads = attends(arch.mixer) ? root.integer("heads", size) : root.maybe_integer("heads", size).value_or(1);
  arch.kv_heads = root.maybe_integer("kv_heads", size).value_or(arch.heads);
  arch.value_dim = root.maybe_integer("value_dim", size_or_none).value_or(0);
  arch.ffn_hidden = arch.feed_forward == FeedForward::none ? root.maybe_integer("ffn_hidden", size).value_or(1)
                                                           : root.integer("ffn_hidden", size);
  arch.gated_mlp = root.boolean("gated_mlp");
  if (const auto head_dim = root.maybe_integer("head_dim", size)) {
    arch.head_dim = *head_dim;
  } else if (arch.hidden % arch.heads == 0) {
    arch.head_dim = arch.hidden / arch.heads;
  } else if (root.has("heads") && !root.has("head_dim")) {
    root.problem("heads", "'hidden' " + number(arch.hidden) + " does not divide by 'heads' " + number(arch.heads) +
                              "; state 'head_dim'");
  }
  check_heads(root, arch.heads, arch.kv_heads);
  arch.window = root.maybe_integer("window", size_or_none).value_or(0);
  arch.full_every = root.maybe_integer("full_every", size_or_none).value_or(0);
  if (arch.full_every > 0 && arch.window == 0) {
    root.problem("full_every", "'full_every' means something with a 'window' only");
  }
  if (auto moe = root.maybe_table("moe")) {
    read_moe(*moe, arch);
  }
  if (auto mla = root.maybe_table("mla")) {
    read_mla(*mla, arch);
  }
  if (auto recurrent = root.maybe_table("recurrent")) {
    read_recurrent(*recurrent, arch);
  }
  check_parts(root, arch, usual_block(arch));
  for (ConfigTable& variant : root.tables("variant")) {
    read_variant(variant, arch);
  }
  if (auto block = root.maybe_table("mtp_block")) {
    arch.mtp_block = read_block(*block, arch);
  }
}

void read_ends(ConfigTable& root, Architecture& arch) {
  if (auto patches = root.maybe_table("patches")) {
    read_patches(*patches, arch);
  }
  if (arch.patches) {
    arch.vocab = root.maybe_integer("vocab", size).value_or(1);
    arch.tied_embeddings = root.maybe_boolean("tied_embeddings").value_or(false);
  } else {
    arch.vocab = root.integer("vocab", size);
    arch.tied_embeddings = root.boolean("tied_embeddings");
  }
  arch.learned_positions = root.maybe_integer("learned_positions", size_or_none).value_or(0);
  arch.token_types = root.maybe_integer("token_types", size_or_none).value_or(0);
  arch.embedding_width = root.maybe_integer("embedding_width", size_or_none).value_or(0);
  arch.pooler = root.maybe_boolean("pooler").value_or(false);
  arch.mlm_head = root.maybe_boolean("mlm_head").value_or(false);
  arch.head_bias = root.maybe_boolean("head_bias").value_or(false);
  arch.mtp_layers = root.maybe_integer("mtp_layers", size_or_none).value_or(0);
  arch.mtp_shared = root.maybe_boolean("mtp_shared").value_or(false);
  arch.embedding_norm = root.maybe_boolean("embedding_norm").value_or(false);
  arch.final_norm = root.maybe_boolean("final_norm").value_or(true);
}

void read_small_parts(ConfigTable& root, Architecture& arch) {
  arch.biases = root.maybe_boolean("biases").value_or(false);
  arch.attention_biases = root.maybe_boolean("attention_biases");
  arch.output_bias = root.maybe_boolean("output_bias");
  arch.qk_norm = static_cast<QkNorm>(root.maybe_choice("qk_norm", qk_norm_names).value_or(0));
  arch.output_gate = root.maybe_boolean("output_gate").value_or(false);
  arch.sinks = root.maybe_boolean("sinks").value_or(false);
  arch.fp8_blocks = root.maybe_boolean("fp8_blocks").value_or(false);
  arch.norms_per_layer = root.maybe_integer("norms_per_layer", {0, 16}).value_or(2);
  arch.norm = static_cast<Norm>(root.maybe_choice("norm", norm_names).value_or(0));
  arch.norm_biases = root.maybe_boolean("norm_biases").value_or(true);
  arch.max_seq_len = root.maybe_integer("max_seq_len", size).value_or(0);
  arch.norm_eps = root.maybe_number("norm_eps", detail_ranges.norm_eps).value_or(0.0);
  if (const auto activation = root.maybe_choice("activation", activation_names)) {
    arch.activation = static_cast<Activation>(*activation);
  }
}

void read_positions(ConfigTable& root, Architecture& arch) {
  const Range<std::int64_t> base = detail_ranges.rope_base;
  arch.positions = static_cast<Positions>(root.maybe_choice("positions", positions_names).value_or(0));
  arch.rope_base = root.maybe_integer("rope_base", base).value_or(0);
  arch.rope_base_local = root.maybe_integer("rope_base_local", {0, base.high}).value_or(0);
  arch.rope_share = root.maybe_number("rope_share", detail_ranges.rope_share).value_or(1.0);
  if (auto scaling = root.maybe_table("rope_scaling")) {
    read_rope_scaling(*scaling, arch.rope_scaling);
  }
}

}  // namespace

std::vector<Block> Architecture::blocks() const {
  const Block usual = usual_block(*this);
  std::vector<Block> all(static_cast<std::size_t>(std::max<std::int64_t>(layers, 0)), usual);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    if (moe && (layer < moe->dense_layers || (layer + 1) % std::max<std::int64_t>(moe->every, 1) != 0)) {
      all[i].feed_forward = FeedForward::dense;
    }
    if (full_every > 0 && (layer + 1) % full_every == 0) {
      all[i].window = 0;
    }
  }
  for (const LayerVariant& variant : variants) {
    for (const std::int64_t layer : variant.layers) {
      if (layer >= 0 && layer < layers) {
        all[static_cast<std::size_t>(layer)] = variant.block;
      }
    }
  }
  return all;
}

Block Architecture::prediction_block() const {
  const std::vector<Block> all = blocks();
  return mtp_block.value_or(all.empty() ? usual_block(*this) : all.back());
}

std::vector<CountedBlock> distinct_blocks(const Architecture& arch) {
  std::vector<CountedBlock> found;
  for (const Block& block : arch.blocks()) {
    const auto same = std::find_if(found.begin(), found.end(), [&](const CountedBlock& c) { return c.block == block; });
    if (same == found.end()) {
      found.push_back({block, 1});
    } else {
      ++same->layers;
    }
  }
  return found;
}

Architecture read_architecture(ConfigTable root) {
  Architecture arch;
  require_schema(root);
  static_cast<void>(root.value("base"));
  arch.id = root.text("id");
  arch.name = root.maybe_text("name").value_or(arch.id);
  arch.aliases = root.texts("aliases");
  arch.family = root.maybe_text("family").value_or("");
  arch.source = root.text("source");
  arch.notes = root.maybe_text("notes").value_or("");
  arch.kind = static_cast<ArchitectureKind>(root.maybe_choice("kind", architecture_kind_names).value_or(0));
  arch.layers = root.integer("layers", {1, 65535});
  arch.hidden = root.integer("hidden", size);
  read_usual_block(root, arch);
  read_ends(root, arch);
  read_small_parts(root, arch);
  read_positions(root, arch);
  if (auto published = root.maybe_table("parameters")) {
    arch.published_parameters = static_cast<double>(published->integer("value"));
    arch.published_active = static_cast<double>(published->maybe_integer("active").value_or(0));
    arch.parameters_source = published->text("source");
    published->finish();
  }
  if (auto weights = root.maybe_table("weights")) {
    arch.weights = read_weight_format(*weights);
  }
  root.finish();
  return arch;
}

}  // namespace headroom
