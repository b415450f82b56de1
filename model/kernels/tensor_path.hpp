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
