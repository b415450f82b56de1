// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <algorithm>

namespace headroom {
namespace {

double norm_size(const Architecture& arch) noexcept {
  return real(arch.hidden) * (arch.norm == Norm::layernorm && arch.norm_biases ? 2.0 : 1.0);
}

double ffn_matrices(const Architecture& arch, std::int64_t width) noexcept {
  return (arch.gated_mlp ? 3.0 : 2.0) * real(arch.hidden) * real(width);
}

double ffn_biases(const Architecture& arch, std::int64_t width) noexcept {
  return (arch.gated_mlp ? 2.0 : 1.0) * real(width) + real(arch.hidden);
}

struct MixerParameters {
  double split = 0.0;       ///< matrices split over tp
  double replicated = 0.0;  ///< matrices whole on every rank
  double small = 0.0;       ///< biases and norms
};

MixerParameters attention(const Architecture& arch, const Block& b) noexcept {
  const double h = real(arch.hidden);
  const double q = real(b.heads * b.head_dim);
  const double k = real(b.kv_heads * b.head_dim);
  const double v = real(b.kv_heads * b.values());
  const double out = real(b.heads * b.values());
  MixerParameters p;
  p.split = h * q                                                            // query
            + (arch.output_gate ? h * out : 0.0)                             // its gate
            + h * k + (b.shared_kv ? 0.0 : h * v)                            // key and value
            + out * h;                                                       // output
  p.small = (arch.attention_biases.value_or(arch.biases) ? q + k + v : 0.0)  //
            + (arch.output_bias.value_or(arch.biases) ? h : 0.0)             //
            + (arch.qk_norm == QkNorm::head ? 2.0 * real(b.head_dim) : 0.0)  //
            + (arch.qk_norm == QkNorm::full ? q + k : 0.0)                   //
            + (arch.sinks ? real(b.heads) : 0.0);
  return p;
}

/// DeepSeek-AI 2024, section 2.1.2, equations 9 to 19.
MixerParameters latent_attention(const Architecture& arch, const Mla& mla, const Block& b) noexcept {
  const double h = real(arch.hidden);
  const double a = real(b.heads);
  const double qk = real(mla.nope_dim + mla.rope_dim);
  MixerParameters p;
  if (mla.q_rank > 0) {
    p.replicated += h * real(mla.q_rank);  // query down
    p.split += real(mla.q_rank) * a * qk;  // query up
    p.small += real(mla.q_rank);           // norm of the latent
  } else {
    p.split += h * a * qk;
  }
  p.replicated += h * real(mla.kv_rank + mla.rope_dim);                   // key-value down, rotary key
  p.split += real(mla.kv_rank) * a * real(mla.nope_dim + mla.value_dim);  // key-value up
  p.split += a * real(mla.value_dim) * h;                                 // output
  p.small += real(mla.kv_rank);
  if (mla.index_heads > 0) {
    const double width = real(mla.index_dim);
    const double from = mla.q_rank > 0 ? real(mla.q_rank) : h;
    p.replicated += from * real(mla.index_heads) * width  // index queries
                    + h * width                           // index key
                    + h * real(mla.index_heads);          // head weights
    p.small += 2.0 * width;
  }
  return p;
}

MixerParameters recurrent(const Architecture& arch, const Recurrent& r, const Block& b) noexcept {
  const double h = real(arch.hidden);
  const double inner = real(r.inner());
  MixerParameters p;
  if (b.mixer == Mixer::mamba) {  // Gu and Dao 2023, section 3.4: in, conv, x, dt, A, D, out
    p.split = 2.0 * h * inner + inner * real(r.step_rank + 2 * r.state) + real(r.step_rank) * inner + inner * h;
    p.small = inner * real(r.conv_kernel + 1) + inner + inner * real(r.state) + inner +
              (r.inner_norms ? real(r.step_rank + 2 * r.state) : 0.0);
  } else if (b.mixer == Mixer::mamba2) {  // Dao and Gu 2024, section 7: z, x, B, C and dt from one projection
    const double bc = 2.0 * real(r.groups * r.state);
    p.split = h * (2.0 * inner + bc + real(r.heads)) + inner * h;
    p.small = (inner + bc) * real(r.conv_kernel + 1) + 3.0 * real(r.heads) + inner;
  } else {  // gated delta-net: q, k, v, z; beta and alpha; conv over q, k, v
    const double keys = real(r.groups * r.state);
    p.split = h * (2.0 * keys + 2.0 * inner) + 2.0 * h * real(r.heads) + inner * h;
    p.small = (2.0 * keys + inner) * real(r.conv_kernel) + 2.0 * real(r.heads) + real(r.head_dim);
  }
  return p;
}

MixerParameters mixer(const Architecture& arch, const Block& b) noexcept {
  switch (b.mixer) {
    case Mixer::attention: return attention(arch, b);
    case Mixer::mla: return arch.mla ? latent_attention(arch, *arch.mla, b) : MixerParameters{};
    case Mixer::mamba:
    case Mixer::mamba2:
    case Mixer::delta_net: return arch.recurrent ? recurrent(arch, *arch.recurrent, b) : MixerParameters{};
    case Mixer::none: break;
  }
  return {};
}

double embedding_parameters(const Architecture& arch) noexcept {
  const double h = real(arch.hidden);
  const double width = arch.embedding_width > 0 ? real(arch.embedding_width) : h;
  double sum = real(arch.learned_positions + arch.token_types) * h;
  if (arch.patches) {
    const Patches& p = *arch.patches;
    sum += h * (real(p.channels * p.patch * p.patch) + (p.bias ? 1.0 : 0.0)) + (p.class_token ? h : 0.0);
  } else {
    sum += real(arch.vocab) * width;
  }
  sum += width != h ? 2.0 * width * h : 0.0;  // projections in and out
  sum += arch.embedding_norm ? norm_size(arch) : 0.0;
  return sum;
}

double head_parameters(const Architecture& arch) noexcept {
  const double h = real(arch.hidden);
  double sum = arch.tied_embeddings || arch.patches ? 0.0 : real(arch.vocab) * h;
  sum += arch.head_bias ? real(arch.vocab) : 0.0;
  sum += arch.pooler ? h * h + h : 0.0;
  sum += arch.mlm_head ? h * h + h + norm_size(arch) + real(arch.vocab) : 0.0;
  if (arch.patches && arch.patches->classes > 0) {
    sum += (h + 1.0) * real(arch.patches->classes);
  }
  return sum;
}

}  // namespace

BlockParameters block_parameters(const Architecture& arch, const Block& b) noexcept {
  const MixerParameters m = mixer(arch, b);
  BlockParameters p;
  p.mixer = m.split + m.small;
  p.mixer_replicated = m.replicated;
  const double norms = b.mixer == Mixer::none || b.feed_forward == FeedForward::none
                           ? std::min(1.0, real(arch.norms_per_layer))
                           : real(arch.norms_per_layer);
  p.norms = norms * norm_size(arch);
  if (b.feed_forward == FeedForward::dense) {
    p.dense_ffn = ffn_matrices(arch, b.ffn_hidden) + (arch.biases ? ffn_biases(arch, b.ffn_hidden) : 0.0);
  } else if (b.feed_forward == FeedForward::moe && arch.moe) {
    const Moe& moe = *arch.moe;
    p.router = real(arch.hidden) * real(moe.experts)          //
               + (moe.router_bias ? real(moe.experts) : 0.0)  //
               + (moe.shared_gate ? real(arch.hidden) : 0.0);
    p.shared_experts = ffn_matrices(arch, moe.shared_ffn_hidden);
    p.expert = ffn_matrices(arch, moe.expert_ffn_hidden) +
               (moe.expert_biases || arch.biases ? ffn_biases(arch, moe.expert_ffn_hidden) : 0.0);
    p.experts = real(moe.experts) * p.expert;
  }
  return p;
}

double active_matrices(const Architecture& arch, const Block& b) noexcept {
  const MixerParameters m = mixer(arch, b);
  double sum = m.split + m.replicated;
  if (b.feed_forward == FeedForward::dense) {
    sum += ffn_matrices(arch, b.ffn_hidden);
  } else if (b.feed_forward == FeedForward::moe && arch.moe) {
    sum += real(arch.moe->top_k) * ffn_matrices(arch, arch.moe->expert_ffn_hidden)  //
           + ffn_matrices(arch, arch.moe->shared_ffn_hidden)                        //
           + real(arch.hidden) * real(arch.moe->experts);
  }
  return sum;
}

ParameterCount count_parameters(const Architecture& arch) {
  ParameterCount c;
  const double h = real(arch.hidden);
  c.embedding = embedding_parameters(arch);
  c.final_norm = arch.final_norm ? norm_size(arch) : 0.0;
  c.head = head_parameters(arch);
  double idle = 0.0;
  BlockParameters last;
  for (const Block& block : arch.blocks()) {
    last = block_parameters(arch, block);
    c.layers += last.total();
    c.experts += last.experts;
    if (block.feed_forward == FeedForward::moe && arch.moe) {
      idle += real(arch.moe->experts - arch.moe->top_k) * last.expert;
    }
    c.active_matrices += active_matrices(arch, block);
  }
  c.total = c.embedding + c.layers + c.final_norm + c.head;
  c.active = c.total - idle;
  if (!arch.patches) {
    c.active_matrices += real(arch.vocab) * h;  // the head multiplies even when it is tied
  }
  // DeepSeek-AI 2024, DeepSeek-V3, section 2.2: a layer, a 2h x h projection and two norms; tables are shared.
  c.mtp = real(arch.mtp_layers) * (last.total() + 2.0 * h * h + 3.0 * norm_size(arch));
  return c;
}

std::int64_t padded_vocabulary(std::int64_t vocab, std::int64_t multiple) noexcept {
  return multiple > 1 ? (vocab + multiple - 1) / multiple * multiple : vocab;
}

double score_flops(const Architecture& arch, const Block& b, double context) noexcept {
  if (b.mixer == Mixer::mla && arch.mla) {
    return 2.0 * context * real(b.heads) * real(arch.mla->nope_dim + arch.mla->rope_dim + arch.mla->value_dim);
  }
  if (b.mixer != Mixer::attention) {
    return 0.0;
  }
  const double seen = b.window > 0 ? std::min(context, real(b.window)) : context;
  return 2.0 * seen * real(b.heads * (b.head_dim + b.values()));
}

double score_flops(const Architecture& arch, double context) {
  double sum = 0.0;
  for (const Block& block : arch.blocks()) {
    sum += score_flops(arch, block, context);
  }
  return sum;
}

double cache_elements(const Architecture& arch, const Block& b) noexcept {
  if (b.mixer == Mixer::mla && arch.mla) {
    return real(arch.mla->kv_rank + arch.mla->rope_dim + arch.mla->index_dim);
  }
  return b.mixer == Mixer::attention ? real(b.kv_heads * (b.head_dim + b.values())) : 0.0;
}

double kv_elements_per_token(const Architecture& arch) {
  double sum = 0.0;
  for (const Block& block : arch.blocks()) {
    sum += cache_elements(arch, block);
  }
  return sum;
}

double kv_elements(const Architecture& arch, double tokens) {
  double sum = 0.0;
  for (const Block& block : arch.blocks()) {
    sum += cache_elements(arch, block) * (block.window > 0 ? std::min(tokens, real(block.window)) : tokens);
  }
  return sum;
}

double state_elements(const Architecture& arch, const Block& b) noexcept {
  if (!arch.recurrent || b.mixer == Mixer::attention || b.mixer == Mixer::mla || b.mixer == Mixer::none) {
    return 0.0;
  }
  const Recurrent& r = *arch.recurrent;
  const double convolved = b.mixer == Mixer::mamba ? real(r.inner()) : real(r.inner() + 2 * r.groups * r.state);
  return real(r.inner()) * real(r.state) + convolved * real(r.conv_kernel - 1);
}

double recurrent_state_elements(const Architecture& arch) {
  double sum = 0.0;
  for (const Block& block : arch.blocks()) {
    sum += state_elements(arch, block);
  }
  return sum;
}

}  // namespace headroom
