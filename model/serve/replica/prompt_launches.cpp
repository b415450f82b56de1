// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/replica/prompt_launches.hpp>

namespace headroom {
namespace {

/// Kernels of a part of a layer, and the products among them, before each of which activations may be cast.
struct Launched {
  double kernels = 0.0;
  double products = 0.0;
};

Launched of_attention(const Architecture& arch) noexcept {
  // norm, qkv, rope, write to the cache, attention, output
  Launched l{6.0, 2.0};
  l.kernels += arch.qk_norm != QkNorm::none ? 2.0 : 0.0;
  l.kernels += arch.output_gate ? 1.0 : 0.0;
  return l;
}

Launched of_latents(const Mla& mla) noexcept {
  // norm, down, norm of the latent, rope, write to the cache, up of keys and values, two halves of the keys copied
  // together, attention, output
  Launched l{10.0, 2.0};
  if (mla.q_rank > 0) {
    l.kernels += 2.0;  // norm and up-projection of the queries' latent
    l.products += 1.0;
  }
  // DeepSeek-AI 2025 (DeepSeek-V3.2), section 2.1: queries, key, norm, rope, rotation, casts of both, write to its
  // cache, weights of its heads and their scaling, gather, scores, top-k
  l.kernels += mla.index_heads > 0 ? 13.0 : 0.0;
  return l;
}

Launched of_recurrence(Mixer mixer) noexcept {
  switch (mixer) {
    // norm, in, convolution, B C dt, dt, scan, gate, out (Gu and Dao 2023, section 3.4)
    case Mixer::mamba: return {8.0, 4.0};
    // norm, in, convolution, five kernels of the chunked scan, states in and out, gated norm, out (Dao and Gu 2024)
    case Mixer::mamba2: return {12.0, 2.0};
    // norm, two products in, reordering, convolution, gates, norms of queries and keys, cumulative gates, products of
    // keys, inverse, w and u, states, outputs, states in and out, gated norm, out (Yang et al. 2024)
    case Mixer::delta_net: return {18.0, 3.0};
    // the same, with a product of low rank for gates and another for decays (Kimi Team 2025)
    case Mixer::kda: return {22.0, 5.0};
    default: return {};
  }
}

Launched of_mixer(const Architecture& arch, const Block& block) noexcept {
  switch (block.mixer) {
    case Mixer::none: return {};
    case Mixer::attention: return of_attention(arch);
    case Mixer::mla: return of_latents(arch.mla.value_or(Mla{}));
    default: return of_recurrence(block.mixer);
  }
}

Launched of_feed_forward(const Architecture& arch, const Block& block) noexcept {
  if (block.feed_forward == FeedForward::none) {
    return {};
  }
  if (block.feed_forward == FeedForward::dense) {
    return {4.0, 2.0};  // norm, gate and up, activation, down
  }
  const Moe moe = arch.moe.value_or(Moe{});
  // norm, router, scores, top-k, two that sort tokens by expert, two grouped products, activation, weighted sum
  Launched l{10.0, 2.0};
  l.kernels += moe.groups > 0 ? 1.0 : 0.0;
  if (moe.shared_ffn_hidden > 0) {
    l.kernels += moe.shared_gate ? 6.0 : 4.0;  // gate and up, activation, down, sum; its gate and a product with it
    l.products += 2.0;
  }
  if (moe.latent > 0) {
    l.kernels += 2.0;
    l.products += 2.0;
  }
  return l;
}

}  // namespace

double pieces_launches(const Architecture& arch, const Block& block) noexcept {
  switch (block.mixer) {
    case Mixer::none: return 1.0;
    case Mixer::attention: return piecewise_launches;
    // and the up-projection of keys and values with two copies of the keys' halves; scores of an indexer and its cache
    case Mixer::mla: return piecewise_launches + 3.0 + (arch.mla.value_or(Mla{}).index_heads > 0 ? 8.0 : 0.0);
    // all but the norm, the projections and the gated norm
    default: {
      const Launched l = of_recurrence(block.mixer);
      return 1.0 + l.kernels - l.products - 2.0;
    }
  }
}

double layer_launches(const Architecture& arch, const Block& block, const LayerLaunches& also) noexcept {
  double kernels = 0.0;
  for (const Launched& part : {of_mixer(arch, block), of_feed_forward(arch, block)}) {
    if (part.kernels > 0.0) {
      kernels += part.kernels + (also.reduced ? 1.0 : 0.0) + (also.cast ? part.products : 0.0);
    }
  }
  return kernels;
}

PromptLaunches prompt_launches_of(const Architecture& arch, const LayerLaunches& also) noexcept {
  PromptLaunches all{0.0, 0.0, arch.mla.has_value()};
  for (const CountedBlock& counted : distinct_blocks(arch)) {
    all.kernels += real(counted.layers) * layer_launches(arch, counted.block, also);
    all.pieces += real(counted.layers) * pieces_launches(arch, counted.block);
  }
  return all;
}

}  // namespace headroom
