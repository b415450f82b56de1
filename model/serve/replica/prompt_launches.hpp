// SPDX-License-Identifier: Apache-2.0
// The kernels of a layer that a host launches one by one, where prompts run and no graph is replayed.
#pragma once

#include <headroom/model/workload/architecture.hpp>
#include <headroom/model/workload/layer_ops.hpp>

namespace headroom {

/// What decides how many kernels an op is, beside its kind.
struct LaunchedForm {
  bool narrow = false;          ///< products of activations of 8 bit or fewer, which a kernel of its own rounds
  bool narrow_experts = false;  ///< the same of routed experts
  bool reduced = false;         ///< sums of tensor ranks
  bool exchanged = false;       ///< tokens go to their experts' ranks and back
};

/// Kernels that one layer of prompts launches, in the order of its ops: one for each product, norm with its residual,
/// activation and reduction; rotation, the cache's writing and attention itself; queries' and keys' norms; of latents
/// two norms, rotation and the copies that join keys and values with their rotary part; of experts two that select,
/// three that sort tokens, two grouped products with the activation between them, and the weighted sum
/// (vllm-project/vllm, model_executor/layers/fused_moe/fused_moe.py; sgl-project/sglang, srt/layers/moe); of a
/// recurrent mixer its convolution, gated norm and the kernels of its scan. A plain layer in 16 bit has 10, with tensor
/// ranks 12. `norms`: those with their residuals.
[[nodiscard]] double launched_kernels(const Architecture& architecture,
                                      const LayerOps& ops,
                                      double norms,
                                      const LaunchedForm& form) noexcept;

}  // namespace headroom
