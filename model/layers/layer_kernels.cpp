// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/layers/layer_kernels.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// Activations between kernels are 16 bit.
constexpr double activation_bytes = 2.0;

/// Makes kernels of ops.
class KernelWriter {
 public:
  KernelWriter(const Architecture& arch, const LayerQuestion& question)
      : arch_{arch},
        q_{question},
        backward_{question.phase == LayerPhase::backward},
        rows_{question.batch * question.tokens} {}

  std::vector<LayerKernel> write(const Block& block) {
    const LayerTokens other = q_.phase == LayerPhase::decode ? LayerTokens::prompts : LayerTokens::decodes;
    for (const LayerOp& op : layer_ops(arch_, block, LayerForm::serving, q_.tp)) {
      if (op.tokens == other) {
        continue;
      }
      switch (op.kind) {
        case LayerOpKind::product: product(op); break;
        case LayerOpKind::attention: attention(op); break;
        case LayerOpKind::experts: experts(op); break;
        case LayerOpKind::activation:
        case LayerOpKind::pass: pass(op); break;
        case LayerOpKind::scan: scan(op); break;
        case LayerOpKind::reduction:
        case LayerOpKind::exchange: break;  // no communication is told
      }
    }
    return std::move(kernels_);
  }

 private:
  LayerKernel& add(const LayerOp& op, std::string_view suffix) {
    LayerKernel& kernel = kernels_.emplace_back();
    kernel.name = std::string{op.name} + std::string{suffix};
    kernel.kind = op.kind;
    return kernel;
  }

  void push_gemm(
      const LayerOp& op, std::string_view suffix, const GemmShape& s, double left, double right, double out) {
    LayerKernel& kernel = add(op, suffix);
    kernel.gemm = s;
    kernel.half = op.part == LayerPart::router;
    kernel.work = gemm_flops(s.m, s.n, s.k);
    kernel.moved = Bytes{s.m * s.k * left + s.k * s.n * right + s.m * s.n * out};
  }

  /// Forward: rows x n from rows x k. Backward: the gradients of its input and of its weights.
  void product(const LayerOp& op) {
    const double rows = rows_ * op.rows;
    if (!backward_) {
      push_gemm(op, "", {rows, op.n, op.k}, activation_bytes, q_.weight_bytes, activation_bytes);
      return;
    }
    push_gemm(op, " dgrad", {rows, op.k, op.n}, activation_bytes, q_.weight_bytes, activation_bytes);
    push_gemm(op, " wgrad", {op.n, op.k, rows}, activation_bytes, activation_bytes, 4.0);
  }

  void pass(const LayerOp& op) {
    add(op, "").moved = Bytes{(backward_ ? op.backward : op.forward) * rows_ * op.width * activation_bytes +
                              rows_ * op.stored * q_.cache_bytes};
  }

  /// Scores and values: 4 d per query, key and head, causal keys on average (c + 1 - t / 2); backward 2.5 times (Dao
  /// 2023, section 3.1, one product formed again).
  void attention(const LayerOp& op) {
    LayerKernel& kernel = add(op, backward_ ? " backward" : "");
    const double widths = op.width + op.value_width;
    kernel.attention = {q_.batch, q_.tokens, q_.context, op.heads, op.kv_heads, 0.5 * widths, op.window};
    const bool encoder = arch_.kind == ArchitectureKind::encoder;
    double keys = encoder ? q_.context : q_.context - 0.5 * (q_.tokens - 1.0);
    double read = q_.context;
    if (op.window > 0.0) {
      keys = std::min(keys, op.window);
      read = std::min(read, op.window + q_.tokens);
    }
    // A latent serves as key and as value.
    const double stored = op.latent > 0.0 ? op.width : widths;
    const double passes = backward_ ? 2.5 : 1.0;
    kernel.work = Flops{passes * 2.0 * rows_ * keys * op.heads * widths};
    const double queries = rows_ * op.heads * widths * activation_bytes;
    const double cache = q_.batch * read * op.kv_heads * stored * q_.cache_bytes;
    kernel.moved = Bytes{(backward_ ? 2.0 : 1.0) * (queries + cache)};
  }

  /// A decoding sequence reads and writes its state.
  void scan(const LayerOp& op) {
    LayerKernel& kernel = add(op, backward_ ? " backward" : "");
    kernel.scan = {op.mixer, q_.batch, q_.tokens, op.heads, op.kv_heads, op.width, op.value_width, op.chunk};
    const double passes = backward_ ? 2.0 : 1.0;
    kernel.work = passes * scan_flops(kernel.scan);
    kernel.moved =
        q_.phase == LayerPhase::decode ? Bytes{2.0 * q_.batch * op.state / q_.tp} : passes * scan_bytes(kernel.scan);
  }

  void experts(const LayerOp& op) {
    LayerKernel& kernel = add(op, backward_ ? " backward" : "");
    const double hidden = op.input;
    const double ffn = op.width / q_.tp;
    kernel.experts = {rows_, hidden, ffn, op.top_k, op.count, 1.0, 1.0, arch_.gated_mlp};
    const double matrices = op.pieces + 1.0;
    const double passes = backward_ ? 2.0 : 1.0;
    const double routed = rows_ * op.top_k;
    kernel.work = Flops{passes * matrices * 2.0 * routed * hidden * ffn};
    // Every expert that has a row is read; with few rows not all have one.
    const double active = std::min(op.count, routed);
    kernel.moved = Bytes{passes * (active * matrices * hidden * ffn * q_.weight_bytes +
                                   routed * 2.0 * (hidden + ffn) * activation_bytes)};
  }

  const Architecture& arch_;
  const LayerQuestion& q_;
  bool backward_;
  double rows_;
  std::vector<LayerKernel> kernels_;
};

}  // namespace

std::vector<LayerKernel> layer_kernels(const Architecture& arch, const Block& block, const LayerQuestion& question) {
  const double heads = real(block.heads);
  if (block.mixer != Mixer::none && !is_recurrent(block.mixer) &&
      heads / question.tp != static_cast<double>(static_cast<std::int64_t>(heads / question.tp))) {
    throw ConfigError{"tp " + std::to_string(static_cast<std::int64_t>(question.tp)) + " does not divide the " +
                      std::to_string(block.heads) + " heads of " + arch.id};
  }
  return KernelWriter{arch, question}.write(block);
}

LayerKernel head_kernel(const Architecture& arch, const LayerQuestion& q) {
  const bool training = q.phase == LayerPhase::forward || q.phase == LayerPhase::backward;
  LayerKernel kernel;
  kernel.name = "language head";
  kernel.kind = LayerOpKind::product;
  kernel.half = true;
  kernel.gemm = {training ? q.batch * q.tokens : q.batch, real(arch.vocab) / q.tp, real(arch.hidden)};
  kernel.work = gemm_flops(kernel.gemm.m, kernel.gemm.n, kernel.gemm.k);
  kernel.moved = gemm_bytes(kernel.gemm.m, kernel.gemm.n, kernel.gemm.k, activation_bytes);
  return kernel;
}

}  // namespace headroom
