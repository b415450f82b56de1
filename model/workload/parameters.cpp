// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/workload/layer_ops.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <algorithm>

namespace headroom {
namespace {

double norm_size(const Architecture& arch) noexcept {
  return real(arch.hidden) * (arch.norm == Norm::layernorm && arch.norm_biases ? 2.0 : 1.0);
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
  BlockParameters p;
  const double norms = b.mixer == Mixer::none || b.feed_forward == FeedForward::none
                           ? std::min(1.0, real(arch.norms_per_layer))
                           : real(arch.norms_per_layer);
  p.norms = norms * norm_size(arch);
  for (const LayerOp& op : layer_ops(arch, b, LayerForm::training)) {
    const LayerWeights& w = op.weights;
    switch (op.part) {
      case LayerPart::mixer:
        p.mixer += w.shared + w.small;
        p.mixer_replicated += w.whole;
        break;
      case LayerPart::dense: p.dense_ffn += w.shared + w.small; break;
      case LayerPart::router: p.router += w.whole + w.small; break;
      case LayerPart::shared:
        p.shared_experts += w.shared + w.small;
        p.router += w.whole;  // projections to the experts' latents, of which every rank holds a copy as of the router
        break;
      case LayerPart::experts:
        p.expert += w.shared + w.small;
        p.experts += op.count * (w.shared + w.small);
        break;
    }
  }
  return p;
}

double active_matrices(const Architecture& arch, const Block& b) noexcept {
  double sum = 0.0;
  for (const LayerOp& op : layer_ops(arch, b, LayerForm::training)) {
    sum += (op.kind == LayerOpKind::experts ? op.top_k : 1.0) * (op.weights.shared + op.weights.whole);
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
  for (const auto& [block, layers] : distinct_blocks(arch)) {
    const BlockParameters own = block_parameters(arch, block);
    c.layers += real(layers) * own.total();
    c.experts += real(layers) * own.experts;
    if (block.feed_forward == FeedForward::moe && arch.moe) {
      idle += real(layers) * (real(arch.moe->experts - arch.moe->top_k) * own.expert);
    }
    c.active_matrices += real(layers) * active_matrices(arch, block);
  }
  c.total = c.embedding + c.layers + c.final_norm + c.head;
  c.active = c.total - idle;
  if (!arch.patches) {
    c.active_matrices += real(arch.vocab) * h;  // the head multiplies even when it is tied
  }
  // DeepSeek-AI 2024, DeepSeek-V3, section 2.2: a layer, a 2h x h projection and two norms; tables are shared.
  if (arch.mtp_layers > 0) {
    const double layer = block_parameters(arch, arch.prediction_block()).total();
    c.mtp = real(arch.mtp_weights()) * (layer + 2.0 * h * h + 3.0 * norm_size(arch));
  }
  return c;
}

std::int64_t padded_vocabulary(std::int64_t vocab, std::int64_t multiple) noexcept {
  return multiple > 1 ? (vocab + multiple - 1) / multiple * multiple : vocab;
}

std::int64_t padded_vocabulary(std::int64_t vocab, std::int64_t multiple, std::int64_t ranks) noexcept {
  return multiple > 1 ? padded_vocabulary(vocab, multiple * ranks) : vocab;
}

double score_flops(const Architecture& arch, const Block& block, double context) {
  double sum = 0.0;
  for (const LayerOp& op : layer_ops(arch, block, LayerForm::training)) {
    if (op.kind == LayerOpKind::attention) {
      const double seen = op.window > 0.0 ? std::min(context, op.window) : context;
      sum += 2.0 * seen * (op.heads * (op.width + op.value_width));
    }
  }
  return sum;
}

double score_flops(const Architecture& arch, double context) {
  double sum = 0.0;
  for (const auto& [block, layers] : distinct_blocks(arch)) {
    sum += real(layers) * score_flops(arch, block, context);
  }
  return sum;
}

double prediction_flops(const Architecture& arch, double context) {
  if (arch.mtp_layers < 1 || arch.patches) {
    return 0.0;
  }
  const double h = real(arch.hidden);
  const Block block = arch.prediction_block();
  const double weights = active_matrices(arch, block) + 2.0 * h * h + real(arch.vocab) * h;
  return real(arch.mtp_layers) * (2.0 * weights + score_flops(arch, block, context));
}

double kv_elements_per_token(const Architecture& arch) {
  double sum = 0.0;
  for (const auto& [block, layers] : distinct_blocks(arch)) {
    for (const LayerOp& op : layer_ops(arch, block, LayerForm::training)) {
      sum += real(layers) * op.cached;
    }
  }
  return sum;
}

}  // namespace headroom
