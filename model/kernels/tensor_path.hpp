// SPDX-License-Identifier: Apache-2.0
// Which arithmetic a product gets: tensor path or vector units, padding, 2:4 sparsity, a share kept in more bits.
#pragma once

#include <headroom/model/kernels/gemm.hpp>

namespace headroom {

/// How a product of a shape and format runs.
struct TensorPath {
  bool tensor = false;   ///< the format has a tensor path; fp32 has none and runs on the vector units
  bool aligned = false;  ///< rows of operands and result start at multiples of 16 bytes: no slower kernel, no padding
  GemmShape padded;      ///< n and k rounded up to the format's alignment
  double work = 1.0;     ///< FLOP of the padded shape over FLOP of the shape
};
/// NVIDIA, Matrix Multiplication Background User's Guide, table 1: sizes in multiples of 16 bytes (8 elements of 16
/// bit, 16 of 8 bit, 4 of TF32) are what the tensor path wants. Matrices are stored by rows here, so that k and n
/// count: m tokens start no row (a weight gradient's tokens are its k).
[[nodiscard]] TensorPath tensor_path(const GemmShape& shape, const GemmFormat& format) noexcept;

/// The peak of 2:4 structured sparsity over the dense one (Mishra et al. 2021): a ceiling for the products alone.
inline constexpr double sparse_peak = 2.0;
/// Bytes of 2:4 sparse weights over dense ones: half the values and two bits of index for each of them.
[[nodiscard]] constexpr double sparse_weights(double bits_per_weight) noexcept {
  return 0.5 * (bits_per_weight + 2.0) / bits_per_weight;
}

/// The gain when `kept` of the work stays as it was and the rest runs `ratio` times as fast (Amdahl 1967).
[[nodiscard]] constexpr double partial_gain(double kept, double ratio) noexcept {
  return 1.0 / (kept + (1.0 - kept) / ratio);
}
/// The rate of a plan that keeps a share of its FLOP in the slower format: time adds up, rates do not.
[[nodiscard]] constexpr FlopsPerSecond mixed_peak(double kept, FlopsPerSecond slow, FlopsPerSecond fast) noexcept {
  return slow * partial_gain(kept, fast / slow);
}

}  // namespace headroom
