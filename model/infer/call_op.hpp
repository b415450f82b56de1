// SPDX-License-Identifier: Apache-2.0
// One op of a call as an unfused framework launches it: its product or its pass over memory, of one sample.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace headroom {

/// Products first, then passes over memory. `convolution` to `depthwise` differ in their kernels: Winograd's form
/// serves 3 x 3 convolutions of stride 1 (Lavin and Gray 2016), grouped ones fill tiles badly, depthwise ones have no
/// product.
enum class CallOpKind : std::uint8_t {
  convolution,
  winograd,
  grouped,
  depthwise,
  linear,
  product,    ///< of two activations: attention's scores, interactions of features
  recurrent,  ///< one step of a recurrent layer, which waits for the step before
  batch_norm,
  activation,
  add,
  bias,
  pointwise,  ///< a function of several primitives: GELU, swish
  softmax,
  layer_norm,
  move,  ///< pooling, concatenation, upsampling, transposition
  gather
};
inline constexpr std::size_t call_op_kinds = 16;
inline constexpr std::array<std::string_view, call_op_kinds> call_op_kind_names{
    "convolution", "winograd", "grouped", "depthwise", "linear",  "product",    "recurrent", "batch_norm",
    "activation",  "add",      "bias",    "pointwise", "softmax", "layer_norm", "move",      "gather"};
[[nodiscard]] constexpr std::string_view name_of(CallOpKind kind) {
  return call_op_kind_names[static_cast<std::size_t>(kind)];
}
[[nodiscard]] constexpr bool multiplies(CallOpKind kind) noexcept {
  return kind <= CallOpKind::recurrent;
}

/// The size of a product that grows with the batch: rows of forward passes and of gradients of inputs, groups of
/// products of two activations, the depth of gradients of weights, which sum over samples; nothing of what is computed
/// from weights alone.
enum class BatchGrows : std::uint8_t { rows, groups, depth, nothing };

/// Sizes of one sample. A product is m x n x k in each of `groups` groups: m counts output pixels or tokens, n output
/// channels and k what is summed over, both of one group.
struct CallOp {
  CallOpKind kind = CallOpKind::linear;
  BatchGrows grows = BatchGrows::rows;
  bool in_attention = false;     ///< fused attention kernels take it with them
  bool causal = false;           ///< attention whose fused kernels skip the half that is masked
  bool weight_gradient = false;  ///< `weights` are written, in 4 bytes each
  double m = 0.0, n = 0.0, k = 0.0, groups = 1.0;
  double in = 0.0, out = 0.0;  ///< elements read and written
  double weights = 0.0;        ///< elements, read once a call
  double scores = 0.0;         ///< of `in` and `out`: elements that attention kernels which fuse never write
  double primitives = 1.0;     ///< kernels of its unfused form
  double traffic = 1.0;        ///< passes over those of the forward form: backward passes read more
  double launches = 1.0;       ///< kernels over those of the forward form
  double count = 1.0;          ///< equal ops one after another
  /// Recurrent layers of one stack: a layer's step waits for its own last one and for the layer below, so that steps of
  /// the layers of a stack run beside each other along a diagonal (Appleyard, Kocisky and Blunsom 2016, section 3.3).
  double beside = 1.0;
  bool operator==(const CallOp&) const = default;
  /// FLOP of one sample; a multiply-add is 2.
  [[nodiscard]] constexpr double flop() const noexcept { return 2.0 * m * n * k * groups * count; }
};

/// A forward pass with the backward pass after it, of a network whose loss reads the last op: each product three times
/// (itself, the gradient of its input, that of its weights, which recurrent layers form once over all steps), passes
/// over memory once more with the traffic of their gradients.
[[nodiscard]] std::vector<CallOp> training_ops(const std::vector<CallOp>& forward);

}  // namespace headroom
