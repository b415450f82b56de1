// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/workload/layer_ops.hpp>

#include <algorithm>
#include <cassert>

namespace headroom {
namespace {

using Kind = LayerOpKind;
using Part = LayerPart;

/// Writes the ops of one block.
class LayerWriter {
 public:
  LayerWriter(const Architecture& arch, const Block& block, LayerForm form, double tp, LayerOps& ops) noexcept
      : arch_{arch},
        block_{block},
        training_{form == LayerForm::training},
        tp_{tp},
        hidden_{real(arch.hidden)},
        heads_{real(block.heads) / tp},
        ops_{ops} {}

  void write() noexcept {
    pass("norm", Part::mixer, hidden_, 2.0, 3.0);
    if (block_.mixer != Mixer::none) {
      mixer();
      ops_.add("all-reduce", Kind::reduction, Part::mixer);
    }
    pass("residual", Part::mixer, hidden_, 3.0, 2.0);
    if (block_.feed_forward != FeedForward::none) {
      pass("norm 2", Part::dense, hidden_, 2.0, 3.0);
      if (block_.feed_forward == FeedForward::moe) {
        experts(arch_.moe.value_or(Moe{}));
      } else {
        feed_forward(Part::dense, block_.ffn_hidden, arch_.biases);
      }
      ops_.add("all-reduce 2", Kind::reduction, Part::dense);
      pass("residual 2", Part::dense, hidden_, 3.0, 2.0);
    }
  }

 private:
  LayerOp& product(std::string_view name, double n, double k, Part part = Part::mixer) noexcept {
    LayerOp& op = ops_.add(name, Kind::product, part);
    op.n = n;
    op.k = k;
    return op;
  }

  LayerOp& pass(std::string_view name, Part part, double width, double forward, double backward) noexcept {
    LayerOp& op = ops_.add(name, Kind::pass, part);
    op.width = width;
    op.forward = forward;
    op.backward = backward;
    return op;
  }

  LayerOp& attention_op(double kv_heads, double width, double value_width) noexcept {
    LayerOp& op = ops_.add("attention", Kind::attention, Part::mixer);
    op.heads = heads_;
    op.kv_heads = kv_heads;
    op.width = width;
    op.value_width = value_width;
    op.output = heads_ * value_width;
    op.window = real(block_.window);
    return op;
  }

  void mixer() noexcept {
    switch (block_.mixer) {
      case Mixer::attention: attention(); break;
      case Mixer::mla: latent_attention(arch_.mla.value_or(Mla{})); break;
      case Mixer::mamba:
      case Mixer::mamba2:
      case Mixer::delta_net:
      case Mixer::kda: recurrent(arch_.recurrent.value_or(Recurrent{})); break;
      case Mixer::none: break;
    }
  }

  void attention() noexcept {
    const double kv_heads = std::max(1.0, real(block_.kv_heads) / tp_);
    const double width = real(block_.head_dim);
    const double values = real(block_.values());
    const double gate = arch_.output_gate ? heads_ * values : 0.0;
    const double q = real(block_.heads * block_.head_dim);
    const double k = real(block_.kv_heads * block_.head_dim);
    const double v = real(block_.kv_heads * block_.values());
    const double out = real(block_.heads * block_.values());
    const double columns =
        training_ ? heads_ * width + 2.0 * (kv_heads * width) : heads_ * width + gate + kv_heads * (width + values);
    LayerOp& first = product("qkv", columns, hidden_);
    first.pieces = 3.0;
    first.weights.shared = hidden_ * (q + (arch_.output_gate ? out : 0.0) + k + (block_.shared_kv ? 0.0 : v));
    first.weights.key_value = 2.0 * hidden_ * k;
    first.weights.small = (arch_.attention_biases.value_or(arch_.biases) ? q + k + v : 0.0) +
                          (arch_.qk_norm == QkNorm::head ? 2.0 * width : 0.0) +
                          (arch_.qk_norm == QkNorm::full ? q + k : 0.0);
    if (!training_ && arch_.qk_norm == QkNorm::full && tp_ > 1.0) {
      // One sum of squares each over all heads of the queries and of the keys, of which a rank has a part.
      LayerOp& sums = ops_.add("query and key norms", Kind::reduction, Part::mixer);
      sums.input = (heads_ + kv_heads) * width;
      sums.width = 2.0;
    }
    pass("rope and cache", Part::mixer, (heads_ + kv_heads) * width, 2.0, 1.0).stored = kv_heads * (width + values);
    LayerOp& core = attention_op(kv_heads, width, values);
    core.output = heads_ * (training_ ? width : values);
    core.cached = k + v;
    core.weights.small = arch_.sinks ? real(block_.heads) : 0.0;
    LayerOp& last = product("attention out", hidden_, core.output);
    last.weights.shared = hidden_ * out;
    last.weights.small = arch_.output_bias.value_or(arch_.biases) ? hidden_ : 0.0;
  }

  /// DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.2, equations 9 to 19. Absorbed, queries meet the latent itself: a key
  /// then counts kv_rank + rope_dim numbers once.
  void latent_attention(const Mla& mla) noexcept {
    const double all = real(block_.heads);
    const double query = real(mla.nope_dim + mla.rope_dim);
    const double values = real(mla.value_dim);
    const double latent = real(mla.kv_rank);
    const double q_rank = real(mla.q_rank);
    const double down = latent + real(mla.rope_dim);
    const bool direct = mla.q_rank == 0;  // queries that are not compressed
    if (!training_) {
      product("down", q_rank + down + (direct ? heads_ * query : 0.0), hidden_).weights = {
          direct ? hidden_ * all * query : 0.0, hidden_ * (q_rank + down), q_rank + latent};
    } else if (direct) {
      product("q", heads_ * query, hidden_).weights.shared = hidden_ * all * query;
    } else {
      product("q down", q_rank, hidden_).weights = {0.0, hidden_ * q_rank, q_rank};
    }
    if (!direct) {
      LayerOp& queries = product("q up", heads_ * query, q_rank);
      queries.weights.shared = q_rank * all * query;
      queries.from_latent = true;
    }
    if (training_) {
      product("kv down", down, hidden_).weights = {0.0, hidden_ * down, latent};
    } else {
      absorbed("absorb q", latent, real(mla.nope_dim));
      LayerOp& core = attention_op(1.0, down, latent);
      core.tokens = LayerTokens::decodes;
      hold_latents(mla, core);
      absorbed("absorb v", values, latent);
    }
    LayerOp& up = product("kv up", heads_ * (real(mla.nope_dim) + values), latent);
    up.weights.shared = latent * all * real(mla.nope_dim + mla.value_dim);
    up.from_latent = true;
    LayerOp& core = attention_op(heads_, query, values);
    if (training_) {
      hold_latents(mla, core);
    } else {
      up.tokens = core.tokens = LayerTokens::prompts;
    }
    product("attention out", hidden_, heads_ * values).weights.shared = all * values * hidden_;
  }

  /// An absorbed up-projection: one product for each head.
  void absorbed(std::string_view name, double n, double k) noexcept {
    LayerOp& op = product(name, n, k);
    op.rows = heads_;
    op.tokens = LayerTokens::decodes;
  }

  void hold_latents(const Mla& mla, LayerOp& op) noexcept {
    op.latent = real(mla.q_rank + mla.kv_rank);
    op.rope = real(mla.rope_dim);
    op.cached = real(mla.kv_rank + mla.rope_dim + mla.index_dim);
    if (mla.index_heads > 0) {
      // DeepSeek-AI 2025 (DeepSeek-V3.2-Exp), section 2: 2,048 keys are attended, all are scored by the indexer.
      const double width = real(mla.index_dim);
      const double from = mla.q_rank > 0 ? real(mla.q_rank) : hidden_;
      op.selected = 2048.0;
      op.indexed = width / real(mla.kv_rank + mla.rope_dim);
      op.weights.whole = from * real(mla.index_heads) * width  // queries of the indexer
                         + hidden_ * width                     // its key
                         + hidden_ * real(mla.index_heads);    // weights of its heads
      op.weights.small = 2.0 * width;
    }
  }

  /// Projections in, a causal convolution of `conv_kernel` tokens, the scan, a gated norm, the projection out.
  void recurrent(const Recurrent& r) noexcept {
    const double h = hidden_;
    const double inner = real(r.inner());
    const double keys = real(r.groups * r.state);
    const double convolved = block_.mixer == Mixer::mamba ? inner : inner + 2.0 * keys;
    const double taps = real(r.conv_kernel);
    double small = 0.0;
    switch (block_.mixer) {
      case Mixer::mamba: {  // Gu and Dao 2023, section 3.4: x and z; B, C and the rank of dt; dt
        const double steps = real(r.step_rank);
        recurrent_product("in", 2.0 * inner / tp_, h, h * 2.0 * inner).pieces = 2.0;
        recurrent_product("B, C and dt", steps + 2.0 * real(r.state), inner / tp_,
                          inner * (steps + 2.0 * real(r.state)));
        recurrent_product("dt", inner / tp_, steps, steps * inner);
        small = inner * (taps + 1.0) + inner + inner * real(r.state) + inner +
                (r.inner_norms ? steps + 2.0 * real(r.state) : 0.0);
        break;
      }
      case Mixer::mamba2:  // Dao and Gu 2024, section 7: z, x, B, C and dt from one projection
        recurrent_product("in", (inner + convolved + real(r.heads)) / tp_, h, h * (inner + convolved + real(r.heads)));
        small = convolved * (taps + 1.0) + 3.0 * real(r.heads) + inner;
        break;
      case Mixer::kda: {  // Kimi Team 2025, section 4: q, k and v; beta; low-rank decay by channel and output gate
        const double rank = real(r.gate_rank);
        recurrent_product("in", (convolved + real(r.heads)) / tp_, h, h * (convolved + real(r.heads)));
        recurrent_product("gates down", 2.0 * rank, h, 0.0).weights.whole = h * 2.0 * rank;
        recurrent_product("gates up", (keys + inner) / tp_, rank, rank * (keys + inner));
        small = convolved * taps + real(r.heads) + keys + real(r.head_dim);
        break;
      }
      default:  // gated delta-net (Yang et al. 2024): q, k, v, z; beta and alpha
        recurrent_product("in", (inner + convolved + 2.0 * real(r.heads)) / tp_, h,
                          h * (inner + convolved + 2.0 * real(r.heads)));
        small = convolved * taps + 2.0 * real(r.heads) + real(r.head_dim);
    }
    pass("convolution", Part::mixer, convolved / tp_, 2.0, 3.0).of_mixer = true;
    LayerOp& op = ops_.add("scan", Kind::scan, Part::mixer);
    op.weights.small = small;
    op.mixer = block_.mixer;
    op.heads = real(r.heads) / tp_;
    op.kv_heads = std::max(1.0, real(r.groups) / tp_);
    op.width = real(r.state);
    op.value_width = real(r.head_dim);
    if (block_.mixer == Mixer::mamba) {  // one head, whose channels tensor ranks share
      op.heads = 1.0;
      op.value_width = inner / tp_;
    }
    op.output = inner / tp_;
    op.chunk = real(r.chunk);
    // The inputs of the convolution stay in 16 bit.
    op.state = real(r.state_bytes) * inner * real(r.state) + 2.0 * convolved * (taps - 1.0);
    if (block_.mixer != Mixer::mamba) {
      pass("gated norm", Part::mixer, inner / tp_, 3.0, 5.0).of_mixer = true;
    }
    recurrent_product("out", h, inner / tp_, inner * h);
  }

  LayerOp& recurrent_product(std::string_view name, double n, double k, double weights) noexcept {
    LayerOp& op = product(name, n, k);
    op.weights.shared = weights;
    return op;
  }

  void feed_forward(Part part, std::int64_t ffn, bool biases) noexcept {
    const double inner = real(ffn) / tp_;
    const double first = arch_.gated_mlp ? 2.0 : 1.0;
    const bool own = part == Part::shared;
    const std::string_view up = arch_.gated_mlp ? (own ? "shared gate and up" : "gate and up")  //
                                                : (own ? "shared up" : "up");
    LayerOp& in = product(up, first * inner, hidden_, part);
    in.pieces = first;
    in.weights.shared = first * hidden_ * real(ffn);
    in.weights.small = biases ? first * real(ffn) : 0.0;
    pass(own ? "shared activation" : "activation", part, inner, first + 1.0, 2.0 * first + 1.0).kind = Kind::activation;
    LayerOp& out = product(own ? "shared down" : "down", hidden_, inner, part);
    out.weights.shared = hidden_ * real(ffn);
    out.weights.small = biases ? hidden_ : 0.0;
  }

  void experts(const Moe& moe) noexcept {
    LayerOp& router = product("router", real(moe.experts), hidden_, Part::router);
    router.weights.whole = hidden_ * real(moe.experts);
    router.weights.small = (moe.router_bias ? real(moe.experts) : 0.0) + (moe.shared_gate ? hidden_ : 0.0);
    const double latent = real(moe.latent);
    if (moe.latent > 0) {
      // Every rank holds both projections whole. Training shares their tokens out with the sequence.
      product("latent down", latent / (training_ ? tp_ : 1.0), hidden_, Part::shared).weights.whole = hidden_ * latent;
    }
    ops_.add("dispatch", Kind::exchange, Part::experts);
    LayerOp& op = ops_.add("experts", Kind::experts, Part::experts);
    const double first = arch_.gated_mlp ? 2.0 : 1.0;
    const double ffn = real(moe.expert_ffn_hidden);
    op.pieces = first;
    op.width = ffn;
    op.input = moe.latent > 0 ? latent : hidden_;
    op.count = real(moe.experts);
    op.top_k = real(moe.top_k);
    op.weights.shared = (first + 1.0) * op.input * ffn;
    op.weights.small = moe.expert_biases || arch_.biases ? first * ffn + op.input : 0.0;
    if (moe.shared_ffn_hidden > 0) {
      feed_forward(Part::shared, moe.shared_ffn_hidden, false);
    }
    ops_.add("combine", Kind::exchange, Part::experts);
    if (moe.latent > 0) {
      product("latent up", hidden_ / (training_ ? tp_ : 1.0), latent, Part::shared).weights.whole = hidden_ * latent;
    }
  }

  const Architecture& arch_;
  const Block& block_;
  bool training_;
  double tp_;
  double hidden_;
  double heads_;  ///< of the rank
  LayerOps& ops_;
};

}  // namespace

LayerOp& LayerOps::add(std::string_view name, LayerOpKind kind, LayerPart part) noexcept {
  assert(size_ < ops_.size());
  LayerOp& op = ops_[size_++];
  op.name = name;
  op.kind = kind;
  op.part = part;
  return op;
}

const LayerOp* LayerOps::find(LayerOpKind kind) const noexcept {
  const LayerOp* found = std::find_if(begin(), end(), [&](const LayerOp& op) { return op.kind == kind; });
  return found == end() ? nullptr : found;
}

LayerOps layer_ops(const Architecture& arch, const Block& block, LayerForm form, double tp) noexcept {
  LayerOps ops;
  LayerWriter{arch, block, form, tp, ops}.write();
  return ops;
}

}  // namespace headroom
