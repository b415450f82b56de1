// SPDX-License-Identifier: Apache-2.0
// Any network as an explicit list of ops: shapes per sample in, parameters, FLOP, tensors and what backward keeps out.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class OpKind : std::uint8_t { conv, gemm, attention, embedding_bag, elementwise, norm, gather, pool, reduce };
inline constexpr std::array<std::string_view, 9> op_kind_names{
    "conv", "gemm", "attention", "embedding_bag", "elementwise", "norm", "gather", "pool", "reduce"};
[[nodiscard]] constexpr std::string_view name_of(OpKind kind) {
  return op_kind_names[static_cast<std::size_t>(kind)];
}

/// A tensor that a sample brings: pixels, points, ids.
struct NetworkInput {
  std::string name;
  std::string part;
  double elements = 0.0;           ///< of one sample
  double bytes_per_element = 0.0;  ///< as loaded, before any cast
  [[nodiscard]] Bytes bytes() const noexcept { return Bytes{elements * bytes_per_element}; }
};

/// What kernels of an op work on, of one sample and pass. Sizes that a kind does not have stay as they are.
struct OpSizes {
  double rows = 0.0;  ///< of gemm, norm and gather; lookups in all tables of an embedding_bag; attention: queries
  double in = 0.0, out = 0.0;  ///< gemm; channels of conv
  double width = 0.0;          ///< of a row of norm, gather and embedding_bag; of an attention head
  double context = 0.0, heads = 0.0, kv_heads = 0.0;                                             ///< attention
  bool fused = true, causal = false;                                                             ///< attention
  std::array<double, 2> plane{1.0, 1.0}, kernel{1.0, 1.0}, stride{1.0, 1.0}, padding{0.0, 0.0};  ///< conv
  double groups = 1.0;                                                                           ///< conv
  double readings = 1.0;  ///< of the input: 2 of norms whose statistics span more than a row
};

/// One op with what follows from its shapes, for one block and one pass over the op (a stage may make several a
/// sample). A multiply-add is 2 FLOP.
struct Op {
  std::string name;
  OpKind kind = OpKind::gemm;
  OpSizes sizes;
  double parameters = 0.0;
  double input_elements = 0.0;  ///< of all tensors read
  double chain_elements = 0.0;  ///< that the op before must hand over; 0: any (gather, embedding_bag)
  double output_elements = 0.0;
  std::vector<std::int64_t> input_shape;   ///< [C, H, W] of conv and pool, else empty
  std::vector<std::int64_t> output_shape;  ///< the same
  Flops forward{};
  Flops backward{};
  bool keeps_input = false;               ///< the backward pass reads what the op read
  bool keeps_output = false;              ///< the backward pass reads what the op wrote
  double kept_elements = 0.0;             ///< beside those: inputs that no op of the list writes
  double kept_bytes = 0.0;                ///< indices, masks and statistics, whatever the precision
  std::vector<std::size_t> reads;         ///< ops, by index into Network::ops
  std::vector<std::size_t> reads_inputs;  ///< inputs, by index into Network::inputs
  std::vector<std::size_t> readers;       ///< ops that read the result, the next block's apart
  bool kept = false;                      ///< the result is kept for backward by every block but the last
  bool kept_by_last = false;              ///< by the last block, whose result later stages read
  [[nodiscard]] Bytes weights(double bytes_per_parameter) const noexcept {
    return Bytes{parameters * bytes_per_parameter};
  }
};

/// Equal blocks one after another, each with weights of its own; an op outside any [[stage]] is a stage of one op.
struct Stage {
  std::string name;
  std::string part;
  std::int64_t repeat = 1;
  double per_sample = 1.0;  ///< passes of one sample through the same weights: 8 for 8 cameras
  std::size_t first = 0;    ///< ops [first, first + count)
  std::size_t count = 0;

  // Of one block and one sample, all passes.
  double parameters = 0.0;
  Flops forward{};
  Flops backward{};
  double kept_elements = 0.0;       ///< kept for backward by every block but the last
  double last_kept_elements = 0.0;  ///< by the last block
  double kept_bytes = 0.0;          ///< and whatever the precision
  double gradient_elements = 0.0;   ///< of an op's gradients in flight: the largest input + output of one op
};

struct Network {
  std::string id, name, source, notes;
  std::vector<std::string> aliases;
  std::vector<NetworkInput> inputs;
  std::vector<Op> ops;
  std::vector<Stage> stages;

  // Of one sample and the whole network.
  double parameters = 0.0;
  Flops forward{};
  Flops backward{};
  double adjacent_elements = 0.0;  ///< the two largest adjacent tensors: one read, the other written

  [[nodiscard]] Bytes input_bytes() const noexcept;
  /// Parts in the order they first appear: "camera", "lidar", "fusion".
  [[nodiscard]] std::vector<std::string> parts() const;
};

/// The largest size a shape may state: 2^30.
inline constexpr std::int64_t largest_size = std::int64_t{1} << 30;
/// The largest product: what a double counts exactly.
inline constexpr double largest_count = 9007199254740992.0;

/// Reads a network: `[[op]]`, or `[[stage]]` tables with `[[stage.op]]`. Sizes are those of one sample and one pass.
/// Every op follows the one before it unless `after` names another op, an input, or several. Keys by kind:
///   conv           in [C,H,W], out_channels, kernel, stride = 1, padding = 0, groups = 1, bias = true
///   gemm           rows (tokens), in, out, bias = true
///   attention      tokens, heads, head_dim, context = tokens, kv_heads = heads, fused = true, causal = false
///   embedding_bag  rows, width, lookups, bags = 1, tables = 1
///   elementwise    elements, function, inputs
///   norm           tokens, width, function
///   gather         rows, width
///   pool           in [C,H,W], kernel, stride = kernel, padding = 0, function
///   reduce         elements, out
/// Defaults of shapes are PyTorch's. Problems: missing, zero, negative or too large sizes, products beyond 2^53, shapes
/// that contradict the op before, names that repeat or are unknown.
[[nodiscard]] Network read_network(ConfigTable root);

/// Derives an op's numbers from the shapes in `table`; `kind` has been read.
void read_op_shapes(ConfigTable& table, OpKind kind, Op& op);

}  // namespace headroom
