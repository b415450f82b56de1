// SPDX-License-Identifier: Apache-2.0
// The arithmetic that a product gets: tensor path or vector units, padding, 2:4 sparsity, wider formats.
#pragma once

#include <headroom/model/kernels/gemm.hpp>

namespace headroom {

/// How a product of a given shape and format runs.
struct TensorPath {
  bool tensor = false;   ///< the format has a tensor path; fp32 runs on the vector units
  bool aligned = false;  ///< rows of operands and result start at multiples of 16 bytes, so that nothing is padded
  GemmShape padded;      ///< n and k rounded up to the format's alignment
  double work = 1.0;     ///< FLOP of the padded shape over FLOP of the shape
};
/// Sizes must be multiples of 16 bytes for the tensor path: 8 elements of 16 bit, 16 of 8 bit, 4 of TF32 (NVIDIA,
/// Matrix Multiplication Background User's Guide, table 1). Matrices are stored by rows, so only k and n matter: m
/// tokens start no row (the tokens of a weight gradient are its k).
[[nodiscard]] TensorPath tensor_path(const GemmShape& shape, const GemmFormat& format) noexcept;

/// How often 16 bytes are halved until all rows of n and of k elements start at multiples of that: 0 to 3 for 16 bits,
/// 0 for formats that libraries pad or refuse, and without a tensor path.
[[nodiscard]] int row_halvings(const GemmShape& shape, const GemmFormat& format) noexcept;
inline constexpr int most_row_halvings = 3;  ///< down to the 2 bytes of an element

/// How many times as long the tiles of a product take whose rows start at fewer than 16 bytes, over those of the padded
/// shape: kernels then load so many bytes at a time instead of 16.
struct UnalignedTiles {
  int bytes = 16;                           ///< 16, 8, 4, 2: what all rows start at multiples of
  double low = 1.0, mid = 1.0, high = 1.0;  ///< least, median and most of the products below
};
/// Seven published bf16 products with odd k on an H100 (meta-pytorch/float8_experimental, pull request 145, June 2024,
/// column "Ref Tops") took 1.48, 3.42, 3.55, 5.54, 5.96, 6.73 and 6.91 times what the curve of that SKU says of the
/// padded shape. Between them and 16 bytes nobody published any: each halving counts alike, by its logarithm. All ones
/// for 8 bits or fewer, which libraries pad or refuse, and without a tensor path.
[[nodiscard]] UnalignedTiles unaligned_tiles(const GemmShape& shape, const GemmFormat& format) noexcept;

/// Peak with 2:4 structured sparsity over the dense peak (Mishra et al. 2021): an upper bound, for the products alone.
inline constexpr double sparse_peak = 2.0;
/// Bytes of 2:4 sparse weights over dense ones: half of the values, with two index bits each.
[[nodiscard]] constexpr double sparse_weights(double bits_per_weight) noexcept {
  return 0.5 * (bits_per_weight + 2.0) / bits_per_weight;
}

/// Speed-up if the share `kept` of the work is unchanged and the rest runs `ratio` times as fast (Amdahl 1967).
[[nodiscard]] constexpr double partial_gain(double kept, double ratio) noexcept {
  return 1.0 / (kept + (1.0 - kept) / ratio);
}
/// Rate of a plan that runs the share `kept` of its FLOP in the slower format: times add, rates do not.
[[nodiscard]] constexpr FlopsPerSecond mixed_peak(double kept, FlopsPerSecond slow, FlopsPerSecond fast) noexcept {
  return slow * partial_gain(kept, fast / slow);
}

}  // namespace headroom
