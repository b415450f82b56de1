// SPDX-License-Identifier: Apache-2.0
// Training memory: states by ZeRO stage and activations by recompute mode.
#include <headroom/model/train/training.hpp>

namespace headroom {

StateBytes adam_states(Precision precision) noexcept {
  const double weights = row_of(precision).compute_bytes;
  constexpr double moments = 8.0;
  const double master = weights < 4.0 ? 4.0 : 0.0;
  return {weights, weights, moments + master};
}

StateBytes usual_states(Precision precision, int zero) noexcept {
  StateBytes states = adam_states(precision);
  if (zero < 3) {
    states.gradients = 4.0;
  }
  return states;
}

StateMemory state_memory(double parameters, const StateBytes& bytes, int zero, double ranks) noexcept {
  StateMemory memory;
  memory.weights = Bytes{parameters * bytes.weights / (zero >= 3 ? ranks : 1.0)};
  memory.gradients = Bytes{parameters * bytes.gradients / (zero >= 2 ? ranks : 1.0)};
  memory.optimizer = Bytes{parameters * bytes.optimizer / (zero >= 1 ? ranks : 1.0)};
  return memory;
}

Bytes layer_activations(const ActivationShape& s) noexcept {
  // Korthikanti et al. 2022: 16-bit activations (2 bytes), masks 1 byte. T tokens a rank holds; T' after sequence
  // parallelism (equation 4), which shards what tensor parallelism alone replicates (equation 2).
  const double tokens = s.micro_batch * s.seq_len / s.cp;
  const double sharded = s.sequence_parallel ? tokens / s.tp : tokens;
  const double mask = s.dropout ? 1.0 : 0.0;
  if (s.recompute == Recompute::full) {
    return Bytes{2.0 * s.hidden * sharded};  // the layer's input alone, section 5
  }
  const double norms = 2.0 * 2.0 * s.hidden * sharded;                           // inputs of the two norms
  const double qkv_input = 2.0 * s.hidden * sharded;                             // input of the qkv projection
  const double qkv = 2.0 * (s.query_width + 2.0 * s.kv_width) * tokens / s.tp;   // q, k, v
  const double projection = 2.0 * s.query_width * tokens / s.tp;                 // input of the output projection
  const double attention_mask = mask * s.hidden * sharded;                       // dropout after attention
  const double mlp_input = 2.0 * s.hidden * sharded;                             // input of the first MLP matrix
  const double mlp_inner = (s.gated ? 3.0 : 2.0) * 2.0 * s.ffn * tokens / s.tp;  // around the nonlinearity
  const double mlp_mask = mask * s.hidden * sharded;                             // dropout after the MLP
  double scores = 0.0;
  if (s.flash_attention) {
    scores = 4.0 * s.heads * tokens / s.tp;  // the softmax's log-sum, fp32 (Dao et al. 2022, algorithm 1)
  } else if (s.recompute == Recompute::none) {
    // The softmax's output; with dropout its mask and result as well: 5 a s of equation 1.
    scores = (s.dropout ? 5.0 : 2.0) * s.heads * s.seq_len * tokens / s.tp;
  }
  return Bytes{norms + qkv_input + qkv + projection + attention_mask + mlp_input + mlp_inner + mlp_mask + scores};
}

}  // namespace headroom
