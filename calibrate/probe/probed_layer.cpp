// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probe/probed_layer.hpp>

#include <algorithm>
#include <variant>

namespace headroom {
namespace {

struct LayerShape {
  std::int64_t hidden, heads, kv_heads, head_dim, mlp;
  std::int64_t experts, top_k;  ///< one expert that every token meets: a dense layer
};

/// Meta's config.json of Llama-3.1-8B and Qwen's of Qwen3-30B-A3B.
constexpr LayerShape dense{4096, 32, 8, 128, 14336, 1, 1};
constexpr LayerShape sparse{2048, 32, 4, 128, 768, 128, 8};
constexpr std::int64_t sequence = 4096;  ///< tokens of a document, and of the context of a decode

/// Twice the L2 of any GPU so far, in bytes.
constexpr std::int64_t beyond_any_l2 = std::int64_t{1} << 29;

std::int64_t copies_beyond_l2(std::int64_t bytes) {
  return beyond_any_l2 / bytes + 1;
}

/// A linear layer of `count` weights of n x k, each on m tokens.
struct Linear {
  std::int64_t m, n, k, count, weights;
};

/// Linear layers in the order of the forward pass; attention is between the first and the second.
std::vector<Linear> linears_of(const LayerShape& s, std::int64_t tokens) {
  const std::int64_t rows = tokens * s.top_k;
  const std::int64_t met = std::min(s.experts, rows);
  const std::int64_t each = std::max<std::int64_t>(rows / s.experts, 1);
  const std::int64_t queries = s.heads * s.head_dim;
  return {{tokens, queries + 2 * s.kv_heads * s.head_dim, s.hidden, 1, 1},
          {tokens, s.hidden, queries, 1, 1},
          {each, 2 * s.mlp, s.hidden, met, s.experts},
          {each, s.hidden, s.mlp, met, s.experts}};
}

ProbedKernel product(std::int64_t m, std::int64_t n, std::int64_t k, const Linear& of) {
  const std::int64_t bytes = operand_bytes(GemmType::bf16, n * k);
  return {GemmProbe{GemmType::bf16, m, n, k, std::max(copies_beyond_l2(bytes), of.weights), {}}, of.count};
}

ProbedKernel attention(const LayerShape& s, std::int64_t tokens, bool backward) {
  const std::int64_t batch = std::max<std::int64_t>(tokens / sequence, 1);
  AttentionProbe probe{backward, batch, tokens / batch, s.heads, s.kv_heads, s.head_dim, true, 1};
  probe.copies = copies_beyond_l2(probe.set_bytes());
  return {probe, 1};
}

ProbedKernel decode(const LayerShape& s, std::int64_t sequences) {
  DecodeProbe probe{sequences, sequence, s.heads, s.kv_heads, s.head_dim, 1};
  probe.copies = copies_beyond_l2(probe.cache_bytes());
  return {probe, 1};
}

bool is_dense(ProbedPass op) {
  return op == ProbedPass::dense_forward || op == ProbedPass::dense_backward || op == ProbedPass::dense_decode;
}

}  // namespace

std::vector<ProbedKernel> kernels_of(const LayerProbe& probe) {
  const LayerShape& shape = is_dense(probe.op) ? dense : sparse;
  std::vector<Linear> linears = linears_of(shape, probe.tokens);
  std::vector<ProbedKernel> kernels;
  if (probe.op == ProbedPass::dense_backward || probe.op == ProbedPass::experts_backward) {
    std::reverse(linears.begin(), linears.end());
    for (std::size_t i = 0; i < linears.size(); ++i) {
      const Linear& l = linears[i];
      kernels.push_back(product(l.m, l.k, l.n, l));  // gradient of the input
      kernels.push_back(product(l.n, l.k, l.m, l));  // gradient of the weight
      if (i + 2 == linears.size()) {
        kernels.push_back(attention(shape, probe.tokens, true));
      }
    }
    return kernels;
  }
  for (std::size_t i = 0; i < linears.size(); ++i) {
    const Linear& l = linears[i];
    kernels.push_back(product(l.m, l.n, l.k, l));
    if (i == 0) {
      kernels.push_back(is_decode(probe.op) ? decode(shape, probe.tokens) : attention(shape, probe.tokens, false));
    }
  }
  return kernels;
}

Flops flops_of(const LayerProbe& probe) {
  Flops sum{};
  for (const ProbedKernel& kernel : kernels_of(probe)) {
    if (const auto* gemm = std::get_if<GemmProbe>(&kernel.probe)) {
      sum += static_cast<double>(kernel.count) * gemm->flops();
    } else if (const auto* fused = std::get_if<AttentionProbe>(&kernel.probe)) {
      sum += fused->flops();
    }
  }
  return sum;
}

Bytes read_bytes_of(const LayerProbe& probe) {
  Bytes sum{};
  for (const ProbedKernel& kernel : kernels_of(probe)) {
    if (const auto* gemm = std::get_if<GemmProbe>(&kernel.probe)) {
      sum += Bytes{static_cast<double>(kernel.count * operand_bytes(gemm->type, gemm->n * gemm->k))};
    } else if (const auto* cached = std::get_if<DecodeProbe>(&kernel.probe)) {
      sum += Bytes{static_cast<double>(cached->cache_bytes())};
    }
  }
  return sum;
}

}  // namespace headroom
