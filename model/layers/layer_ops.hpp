// SPDX-License-Identifier: Apache-2.0
// The ops of one transformer layer as one tensor-parallel rank runs them: shapes, FLOP and bytes, no times.
#pragma once

#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class LayerPhase : std::uint8_t { forward, backward, prefill, decode, count };
inline constexpr std::array<std::string_view, 4> layer_phase_names{"forward", "backward", "prefill", "decode"};

enum class LayerOpKind : std::uint8_t { gemm, attention, experts, bytes };

/// One kernel. Work counts a multiply-add as two and halves causal attention.
struct LayerOp {
  std::string name;
  LayerOpKind kind = LayerOpKind::bytes;
  Flops work{};
  Bytes moved{};  ///< from and to memory, each operand once
  GemmShape gemm;
  bool half = false;  ///< in 16 bit whatever the format of the weights: router and head
  /// Attention: heads and kv heads of the rank.
  double batch = 0.0, tokens = 0.0, context = 0.0, heads = 0.0, kv_heads = 0.0, head_dim = 0.0, window = 0.0;
  /// Experts: rows that come in, and the sizes of one expert.
  double hidden = 0.0, expert_ffn = 0.0, top_k = 0.0, experts = 0.0;
  bool gated = true;
};

/// What a layer works on.
struct LayerQuestion {
  LayerPhase phase = LayerPhase::forward;
  double batch = 1.0;    ///< sequences at once
  double tokens = 1.0;   ///< new ones of each sequence; 1 in decode
  double context = 0.0;  ///< tokens of each sequence that keys and values cover, the new ones included
  double tp = 1.0;
  double weight_bytes = 2.0;
  double cache_bytes = 2.0;
};

/// The ops of one block, in order. ConfigError for a recurrent mixer, whose kernels no curve describes yet, and for
/// heads that tp does not divide.
[[nodiscard]] std::vector<LayerOp> layer_ops(const Architecture& arch,
                                             const Block& block,
                                             const LayerQuestion& question);
/// The language head on the tokens that need it: all in training, the last of each sequence in serving.
[[nodiscard]] LayerOp head_op(const Architecture& arch, const LayerQuestion& question);

/// The distinct blocks of an architecture with how many layers are of each, in order of first appearance.
struct CountedBlock {
  Block block;
  std::int64_t layers = 0;
};
[[nodiscard]] std::vector<CountedBlock> distinct_blocks(const Architecture& arch);

}  // namespace headroom
