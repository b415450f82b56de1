// SPDX-License-Identifier: Apache-2.0
// The kernels of one transformer layer as one tensor-parallel rank runs them: the work and the bytes of its ops.
#pragma once

#include <headroom/model/kernels/attention.hpp>
#include <headroom/model/kernels/grouped_gemm.hpp>
#include <headroom/model/kernels/scan.hpp>
#include <headroom/model/workload/layer_ops.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class LayerPhase : std::uint8_t { forward, backward, prefill, decode, count };
inline constexpr std::array<std::string_view, 4> layer_phase_names{"forward", "backward", "prefill", "decode"};

/// One kernel of an op. Work counts a multiply-add as two and halves causal attention.
struct LayerKernel {
  std::string name;
  LayerOpKind kind = LayerOpKind::pass;
  Flops work{};
  Bytes moved{};             ///< from and to memory, each operand once
  GemmShape gemm;            ///< of a product
  bool half = false;         ///< in 16 bit whatever the format of the weights: head
  AttentionShape attention;  ///< of attention, with the heads of the rank
  ScanShape scan;            ///< of a scan, with the heads of the rank
  MoeShape experts;          ///< of experts, as wide as on the rank
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

/// The kernels of one block, in order. ConfigError for heads that tp does not divide.
[[nodiscard]] std::vector<LayerKernel> layer_kernels(const Architecture& arch,
                                                     const Block& block,
                                                     const LayerQuestion& question);
/// The language head on the tokens that need it: all in training, the last of each sequence in serving.
[[nodiscard]] LayerKernel head_kernel(const Architecture& arch, const LayerQuestion& question);

}  // namespace headroom
