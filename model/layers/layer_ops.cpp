// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/layers/layer_ops.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// Activations between kernels are 16 bit.
constexpr double activation_bytes = 2.0;

double real(std::int64_t n) noexcept {
  return static_cast<double>(n);
}

/// Writes the ops of one block.
class LayerWriter {
 public:
  LayerWriter(const Architecture& arch, const Block& block, const LayerQuestion& question)
      : arch_{arch}, block_{block}, q_{question}, rows_{question.batch * question.tokens}, hidden_{real(arch.hidden)} {}

  std::vector<LayerOp> write() {
    norm("norm");
    mixer();
    residual("residual");
    if (block_.feed_forward != FeedForward::none) {
      norm("norm 2");
      block_.feed_forward == FeedForward::moe ? experts() : dense(real(block_.ffn_hidden), "");
      residual("residual 2");
    }
    return std::move(ops_);
  }

 private:
  [[nodiscard]] bool backward() const { return q_.phase == LayerPhase::backward; }

  void bytes(std::string name, double moved) {
    LayerOp op;
    op.name = std::move(name);
    op.moved = Bytes{moved};
    ops_.push_back(std::move(op));
  }

  void push_gemm(std::string name, const GemmShape& s, double left, double right, double out) {
    LayerOp op;
    op.name = std::move(name);
    op.kind = LayerOpKind::gemm;
    op.gemm = s;
    op.work = gemm_flops(s.m, s.n, s.k);
    op.moved = Bytes{s.m * s.k * left + s.k * s.n * right + s.m * s.n * out};
    ops_.push_back(std::move(op));
  }

  /// Forward: rows x n from rows x k. Backward: the gradients of its input and of its weights.
  void gemm(const std::string& name, double n, double k) {
    if (!backward()) {
      push_gemm(name, {rows_, n, k}, activation_bytes, q_.weight_bytes, activation_bytes);
      return;
    }
    push_gemm(name + " dgrad", {rows_, k, n}, activation_bytes, q_.weight_bytes, activation_bytes);
    push_gemm(name + " wgrad", {n, k, rows_}, activation_bytes, activation_bytes, 4.0);
  }

  /// Reads its input and writes its output; backward reads both and writes the input's gradient.
  void norm(const std::string& name) { bytes(name, (backward() ? 3.0 : 2.0) * rows_ * hidden_ * activation_bytes); }
  void residual(const std::string& name) { bytes(name, (backward() ? 2.0 : 3.0) * rows_ * hidden_ * activation_bytes); }

  void mixer() {
    switch (block_.mixer) {
      case Mixer::attention: attention(); break;
      case Mixer::mla: latent_attention(); break;
      case Mixer::none: break;
      case Mixer::mamba:
      case Mixer::mamba2:
      case Mixer::delta_net:
        throw ConfigError{arch_.id + " has " + std::string{mixer_names[static_cast<std::size_t>(block_.mixer)]} +
                          " layers, whose kernels no curve describes yet"};
    }
  }

  /// Scores and values: 4 d per query, key and head, causal keys on average (c + 1 - t / 2); backward 2.5 times (Dao
  /// 2023, section 3.1, one product formed again).
  void core(double heads, double kv_heads, double width, double value_width, double stored_width) {
    LayerOp op;
    op.name = backward() ? "attention backward" : "attention";
    op.kind = LayerOpKind::attention;
    op.batch = q_.batch;
    op.tokens = q_.tokens;
    op.context = q_.context;
    op.heads = heads;
    op.kv_heads = kv_heads;
    op.head_dim = 0.5 * (width + value_width);
    op.window = real(block_.window);
    const bool encoder = arch_.kind == ArchitectureKind::encoder;
    double keys = encoder ? q_.context : q_.context - 0.5 * (q_.tokens - 1.0);
    double read = q_.context;
    if (block_.window > 0) {
      keys = std::min(keys, op.window);
      read = std::min(read, op.window + q_.tokens);
    }
    const double passes = backward() ? 2.5 : 1.0;
    op.work = Flops{passes * 2.0 * rows_ * keys * heads * (width + value_width)};
    const double queries = rows_ * heads * (width + value_width) * activation_bytes;
    const double cache = q_.batch * read * kv_heads * stored_width * q_.cache_bytes;
    op.moved = Bytes{(backward() ? 2.0 : 1.0) * (queries + cache)};
    ops_.push_back(std::move(op));
  }

  void attention() {
    const double heads = real(block_.heads) / q_.tp;
    const double kv_heads = std::max(1.0, real(block_.kv_heads) / q_.tp);
    const double width = real(block_.head_dim);
    const double values = real(block_.values());
    const double gate = arch_.output_gate ? heads * values : 0.0;
    gemm("qkv", heads * width + gate + kv_heads * (width + values), hidden_);
    bytes("rope and cache", (backward() ? 1.0 : 2.0) * rows_ * (heads + kv_heads) * width * activation_bytes +
                                rows_ * kv_heads * (width + values) * q_.cache_bytes);
    core(heads, kv_heads, width, values, width + values);
    gemm("attention out", hidden_, heads * values);
  }

  /// DeepSeek-AI 2024 (DeepSeek-V2), section 2.1. In decode the up-projections are absorbed: queries meet the latent
  /// cache itself.
  void latent_attention() {
    const Mla mla = arch_.mla.value_or(Mla{});
    const double heads = real(block_.heads) / q_.tp;
    const double nope = real(mla.nope_dim);
    const double rope = real(mla.rope_dim);
    const double values = real(mla.value_dim);
    const double latent = real(mla.kv_rank);
    const double q_rank = real(mla.q_rank);
    gemm("down", q_rank + latent + rope + (q_rank > 0.0 ? 0.0 : heads * (nope + rope)), hidden_);
    if (q_rank > 0.0) {
      gemm("q up", heads * (nope + rope), q_rank);
    }
    if (q_.phase == LayerPhase::decode) {
      // One product a head: the rows of all heads against nope x latent each.
      push_gemm("absorb q", {rows_ * heads, latent, nope}, activation_bytes, q_.weight_bytes, activation_bytes);
      core(heads, 1.0, latent + rope, latent, latent + rope);
      push_gemm("absorb v", {rows_ * heads, values, latent}, activation_bytes, q_.weight_bytes, activation_bytes);
    } else {
      gemm("kv up", heads * (nope + values), latent);
      core(heads, heads, nope + rope, values, nope + rope + values);
    }
    gemm("attention out", hidden_, heads * values);
  }

  void dense(double ffn, const std::string& which) {
    const double inner = ffn / q_.tp;
    const double first = arch_.gated_mlp ? 2.0 : 1.0;
    gemm(which + (arch_.gated_mlp ? "gate and up" : "up"), first * inner, hidden_);
    bytes(which + "activation", (backward() ? 2.0 * first + 1.0 : first + 1.0) * rows_ * inner * activation_bytes);
    gemm(which + "down", hidden_, inner);
  }

  void experts() {
    const Moe moe = arch_.moe.value_or(Moe{});
    gemm("router", real(moe.experts), hidden_);
    ops_.back().half = true;
    LayerOp op;
    op.name = backward() ? "experts backward" : "experts";
    op.kind = LayerOpKind::experts;
    op.tokens = rows_;
    op.hidden = hidden_;
    op.gated = arch_.gated_mlp;
    op.expert_ffn = real(moe.expert_ffn_hidden) / q_.tp;
    op.top_k = real(moe.top_k);
    op.experts = real(moe.experts);
    const double matrices = arch_.gated_mlp ? 3.0 : 2.0;
    const double passes = backward() ? 2.0 : 1.0;
    const double routed = rows_ * op.top_k;
    op.work = Flops{passes * matrices * 2.0 * routed * hidden_ * op.expert_ffn};
    // Every expert that has a row is read; with few rows not all have one.
    const double active = std::min(op.experts, routed);
    op.moved = Bytes{passes * (active * matrices * hidden_ * op.expert_ffn * q_.weight_bytes +
                               routed * 2.0 * (hidden_ + op.expert_ffn) * activation_bytes)};
    ops_.push_back(std::move(op));
    if (moe.shared_ffn_hidden > 0) {
      dense(real(moe.shared_ffn_hidden), "shared ");
    }
  }

  const Architecture& arch_;
  const Block& block_;
  const LayerQuestion& q_;
  double rows_;
  double hidden_;
  std::vector<LayerOp> ops_;
};

}  // namespace

std::vector<LayerOp> layer_ops(const Architecture& arch, const Block& block, const LayerQuestion& question) {
  const double heads = real(block.heads);
  if (block.mixer != Mixer::none &&
      heads / question.tp != static_cast<double>(static_cast<std::int64_t>(heads / question.tp))) {
    throw ConfigError{"tp " + std::to_string(static_cast<std::int64_t>(question.tp)) + " does not divide the " +
                      std::to_string(block.heads) + " heads of " + arch.id};
  }
  return LayerWriter{arch, block, question}.write();
}

LayerOp head_op(const Architecture& arch, const LayerQuestion& q) {
  const bool training = q.phase == LayerPhase::forward || q.phase == LayerPhase::backward;
  LayerOp op;
  op.name = "language head";
  op.kind = LayerOpKind::gemm;
  op.half = true;
  op.gemm = {training ? q.batch * q.tokens : q.batch, real(arch.vocab) / q.tp, real(arch.hidden)};
  op.work = gemm_flops(op.gemm.m, op.gemm.n, op.gemm.k);
  op.moved = gemm_bytes(op.gemm.m, op.gemm.n, op.gemm.k, activation_bytes);
  return op;
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

}  // namespace headroom
