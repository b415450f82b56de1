// SPDX-License-Identifier: Apache-2.0
// Kernels that an engine's host launches one after another for the prompts of one layer, by its kind. No graph replays
// them, so that a prompt of few tokens takes as long as their launches, whatever it multiplies.
#pragma once

#include <headroom/model/workload/architecture.hpp>

namespace headroom {

/// What else a replica launches in each of its layers.
struct LayerLaunches {
  bool reduced = false;  ///< tensor ranks: an all-reduce behind the mixer and behind the feed-forward
  bool cast = false;     ///< weights scaled by blocks: activations are cast before each product
};

/// Kernels of a layer of grouped-query attention and a gated feed-forward under tensor ranks, in 16 bit: the layer that
/// `prompt_layer` of a stack is the time of.
inline constexpr double plain_layer_launches = 12.0;
/// Launches left of a layer of grouped-query attention whose prompts are replayed in pieces of a graph: a piece, the
/// write to the cache, attention (docs.vllm.ai, CUDA graphs: piecewise graphs are split at attention).
inline constexpr double piecewise_launches = 3.0;

/// Kernels launched for the prompts of a layer, counted in the forward passes of vLLM 0.11
/// (vllm/model_executor/models/llama.py, deepseek_v2.py, qwen3_next.py and mamba2.py, layers/fused_moe/fused_moe.py and
/// mla/attention), which SGLang and TensorRT-LLM follow within a few: norms fused with their residuals, one product for
/// matrices of the same input.
/// Of them those that are left where the rest is replayed in pieces: what stands at the splits, which is attention with
/// what it does to a latent, an indexer, or a recurrent mixer between its projections (vllm/config/compilation.py,
/// splitting_ops: unified_attention, unified_mla_attention, sparse_attn_indexer, gdn_attention_core, mamba_mixer2).
[[nodiscard]] double pieces_launches(const Architecture& architecture, const Block& block) noexcept;
[[nodiscard]] double layer_launches(const Architecture& architecture,
                                    const Block& block,
                                    const LayerLaunches& also) noexcept;

/// The same of all layers.
struct PromptLaunches {
  double kernels = 0.0;
  double pieces = 0.0;  ///< of them in pieces of a graph
  bool latent = false;  ///< keys and values are up-projections of a latent
};
[[nodiscard]] PromptLaunches prompt_launches_of(const Architecture& architecture, const LayerLaunches& also) noexcept;

}  // namespace headroom
