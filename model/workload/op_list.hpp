// SPDX-License-Identifier: Apache-2.0
// Any network as an explicit list of ops: shapes per sample in, parameters, FLOP, tensors and what backward keeps out.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class OpKind : std::uint8_t {
  conv,
  gemm,
  attention,
  embedding_bag,
  elementwise,
  norm,
  gather,
  pool,
  reduce,
  conv_transpose,
  product,    ///< of two activations
  recurrent,  ///< LSTM, GRU
  move        ///< concat, upsample, transpose: a copy in another order
};
inline constexpr std::array<std::string_view, 13> op_kind_names{
    "conv", "gemm",   "attention",      "embedding_bag", "elementwise", "norm", "gather",
    "pool", "reduce", "conv_transpose", "product",       "recurrent",   "move"};
[[nodiscard]] constexpr std::string_view name_of(OpKind kind) {
  return op_kind_names[static_cast<std::size_t>(kind)];
}

/// A tensor that a sample brings: pixels, points, ids.
struct NetworkInput {
  std::string name;
  std::string part;
  std::vector<std::int64_t> shape;  ///< of one sample
  double elements = 0.0;            ///< of one sample
  double bytes_per_element = 0.0;   ///< as loaded, before any cast
  bool ids = false;                 ///< whole numbers that look rows up: int32, int64
  bool resident = false;            ///< already on the device: states of a step before
  /// That are loaded.
  [[nodiscard]] Bytes bytes() const noexcept { return Bytes{resident ? 0.0 : elements * bytes_per_element}; }
};

/// What kernels of an op work on, of one sample and pass. Sizes that a kind does not have stay as they are.
struct OpSizes {
  double rows = 0.0;  ///< of gemm, norm, gather and product; lookups in all tables of an embedding_bag; attention:
                      ///< queries of all windows; recurrent: steps
  double in = 0.0, out = 0.0;  ///< gemm; channels of conv; of a product's group k and n; recurrent: inputs and state
  double width = 0.0;          ///< of a row of norm, gather and embedding_bag; of an attention head
  double context = 0.0, heads = 0.0, kv_heads = 0.0;  ///< attention: keys of one query
  double windows = 1.0;                               ///< attention: parts of the rows that attend to themselves alone
  bool fused = true, causal = false;                  ///< attention, as the network states it
  std::array<double, 3> plane{1.0, 1.0, 1.0}, kernel{1.0, 1.0, 1.0}, stride{1.0, 1.0, 1.0}, padding{0.0, 0.0, 0.0},
      dilation{1.0, 1.0, 1.0};                     ///< conv, conv_transpose, pool
  std::array<double, 3> out_plane{1.0, 1.0, 1.0};  ///< the same
  int dimensions = 0;                              ///< of the plane: 1 to 3
  double groups = 1.0;                             ///< conv; products of equal size that a product makes
  double directions = 1.0, gates = 0.0;            ///< recurrent: 4 gates of an LSTM, 3 of a GRU
  double operands = 1.0;                           ///< elementwise: tensors read, learned ones apart
  double readings = 1.0;                           ///< of the input: 2 of norms whose statistics span more than a row
  bool bias = false;                               ///< a vector is added to the result: conv, gemm, recurrent
};

/// A matrix product of an op and one sample: m x k times k x n, `groups` of them at once, `count` such one after
/// another. A batch makes m larger, or the groups where each sample has a second operand of its own.
struct OpProduct {
  double m = 0.0, n = 0.0, k = 0.0;
  double groups = 1.0, count = 1.0;
  bool batch_in_groups = false;
};

/// One op with what follows from its shapes, for one block and one pass over the op (a stage may make several a
/// sample). A multiply-add is 2 FLOP.
struct Op {
  std::string name;
  OpKind kind = OpKind::gemm;
  std::string_view function;  ///< of elementwise, norm, pool, move, recurrent and product: "relu", "layer"; else empty
  OpSizes sizes;
  double parameters = 0.0;       ///< that the op adds: 0 where it shares another's
  double weight_elements = 0.0;  ///< that it reads of weights; of tables the rows that are looked up
  bool once = false;             ///< made once a call, whatever the batch
  double primitives = 1.0;      ///< kernels of software that has none for the whole: 8 of gelu, 2 of silu, 3 of softmax
  double input_elements = 0.0;  ///< of all tensors read
  double chain_elements = 0.0;  ///< that the op before must hand over; 0: any (gather, embedding_bag)
  double output_elements = 0.0;
  std::vector<std::int64_t> input_shape;   ///< [C, plane...] of conv and pool, else empty
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

/// One channel of the input makes each channel of the result: no matrix product.
[[nodiscard]] bool is_depthwise(const Op& op) noexcept;
/// Conv, conv_transpose, gemm, attention, product and recurrent.
[[nodiscard]] bool multiplies(OpKind kind) noexcept;
/// The matrix products of an op's forward pass: one of conv, conv_transpose (whose m counts the input's pixels), gemm
/// and product; scores and weighted values of attention; the inputs of all steps and then each step's state of
/// recurrent; none of others.
[[nodiscard]] std::vector<OpProduct> products_of(const Op& op);

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
  std::map<std::string, std::int64_t, std::less<>> sizes;  ///< what [sizes] names, with a caller's own values

  // Of one sample and the whole network.
  double parameters = 0.0;
  Flops forward{};
  Flops backward{};
  double adjacent_elements = 0.0;  ///< the two largest adjacent tensors: one read, the other written

  /// Of matrix products, convolutions and attention in one sample's forward pass; a multiply-add is 2 FLOP.
  [[nodiscard]] Flops product_flops() const noexcept;
  [[nodiscard]] Bytes input_bytes() const noexcept;
  /// Parts in the order they first appear: "camera", "lidar", "fusion".
  [[nodiscard]] std::vector<std::string> parts() const;
};

/// The largest size a shape may state: 2^30.
inline constexpr std::int64_t largest_size = std::int64_t{1} << 30;
/// The largest product: what a double counts exactly.
inline constexpr double largest_count = 9007199254740992.0;

/// Values of a network's [sizes] instead of those of its file: tokens = 128, resolution = 300.
using NetworkSizes = std::map<std::string, std::int64_t, std::less<>>;

/// Reads a network: lists of ops, in [[stage]] tables or plain, and the [[block]] tables that they use
/// (docs/catalog-format.md). Sizes are those of one sample and one pass. An op follows the one before it unless `after`
/// names others, and takes from what it reads every shape that it does not state. Defaults of shapes are PyTorch's.
/// Published counts of parameters and multiply-adds are held against the ops where `sizes` changes nothing.
/// Problems: missing, zero, negative or too large sizes, products beyond 2^53, shapes that contradict the op before,
/// names that repeat or are unknown, blocks that are unknown, unused or use themselves.
[[nodiscard]] Network read_network(ConfigTable root, const NetworkSizes& sizes = {});

}  // namespace headroom
