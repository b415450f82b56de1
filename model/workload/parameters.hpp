// SPDX-License-Identifier: Apache-2.0
// What a network holds and does: parameters by place, FLOP and cache of a token.
#pragma once

#include <headroom/model/workload/architecture.hpp>

namespace headroom {

/// Parameters of one layer by how a rank holds them. Counts are doubles: 1e12 parameters are exact in them.
struct BlockParameters {
  double mixer = 0.0;             ///< attention or recurrent matrices with their biases: split over tp
  double mixer_replicated = 0.0;  ///< latent down-projections, head norms: whole on every tp rank
  double norms = 0.0;             ///< whole on every tp rank
  double dense_ffn = 0.0;         ///< split over tp
  double router = 0.0;            ///< whole on every rank
  double shared_experts = 0.0;    ///< split over tp
  double expert = 0.0;            ///< one expert: split over etp, and the experts over ep
  double experts = 0.0;           ///< all of them
  [[nodiscard]] double total() const noexcept {
    return mixer + mixer_replicated + norms + dense_ffn + router + shared_experts + experts;
  }
};
[[nodiscard]] BlockParameters block_parameters(const Architecture& architecture, const Block& block) noexcept;

/// Weights of one layer that multiply for every token: no norms and biases; top-k experts instead of all.
[[nodiscard]] double active_matrices(const Architecture& architecture, const Block& block) noexcept;

struct ParameterCount {
  double embedding = 0.0;  ///< token and position tables, patch projection, embedding norm
  double layers = 0.0;     ///< all layers together
  double experts = 0.0;    ///< routed experts in them
  double final_norm = 0.0;
  double head = 0.0;  ///< 0 when tied, but for its biases and transform
  double total = 0.0;
  double active = 0.0;           ///< what one token meets: top-k experts instead of all
  double active_matrices = 0.0;  ///< active weights that multiply: no norms, biases, tables; the head included
  double mtp = 0.0;              ///< multi-token prediction modules, not in total
};
[[nodiscard]] ParameterCount count_parameters(const Architecture& architecture);

/// Width of the head's matrix as frameworks hold it: the vocabulary rounded up to a multiple (Megatron-LM pads to
/// make-vocab-size-divisible-by x tp).
[[nodiscard]] std::int64_t padded_vocabulary(std::int64_t vocab, std::int64_t multiple) noexcept;
/// The same of tables over tensor ranks, to a multiple of `multiple` times the ranks; with 1 they are not padded.
[[nodiscard]] std::int64_t padded_vocabulary(std::int64_t vocab, std::int64_t multiple, std::int64_t ranks) noexcept;

/// FLOP of scores and values of one token that looks at `context` tokens, over all layers: 2 x context x (query-key
/// width + value width) over all heads; 0 for recurrent mixers.
[[nodiscard]] double score_flops(const Architecture& architecture, double context);
/// The same of one layer.
[[nodiscard]] double score_flops(const Architecture& architecture, const Block& block, double context);

/// FLOP of one token's forward pass through the prediction modules: of each a layer, its projection of 2h to h and the
/// head (DeepSeek-AI 2024, DeepSeek-V3, section 2.2; Megatron-LM, num_floating_point_operations).
[[nodiscard]] double prediction_flops(const Architecture& architecture, double context);

/// Elements that a token adds to the cache of all layers, as if no window closed: 2 g d of a layer (Shazeer 2019;
/// Ainslie et al. 2023), the latent and the rotary key with MLA (DeepSeek-AI 2024, table 1), nothing in recurrent ones.
[[nodiscard]] double kv_elements_per_token(const Architecture& architecture);

}  // namespace headroom
