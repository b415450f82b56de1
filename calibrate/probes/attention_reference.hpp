// SPDX-License-Identifier: Apache-2.0
// Attention of single queries and keys in double precision on the host, to check kernels. Free of CUDA, so that any
// machine can test it.
#pragma once

#include <cstdint>
#include <vector>

namespace headroom::probes {

/// Floats from bf16 numbers, the upper halves of floats.
[[nodiscard]] std::vector<float> from_bf16(const std::vector<std::uint16_t>& raw);

/// Rows of `width` numbers, stored contiguously.
struct Rows {
  std::vector<float> numbers;
  std::int64_t width = 1;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(numbers.size()) / width; }
  [[nodiscard]] const float* at(std::int64_t row) const { return &numbers[static_cast<std::size_t>(row * width)]; }
};

struct AttendedRow {
  std::vector<double> output;
  double log_sum = 0.0;  ///< logarithm of the sum of the exponentials of all scores
};

/// Attention of a query over the first `seen` keys: softmax(q k^T / sqrt(width)) v.
[[nodiscard]] AttendedRow attended(const float* query, const Rows& keys, const Rows& values, std::int64_t seen);

/// Gradient of a query from the gradient `dout` of its output (Dao et al. 2022, appendix B.2).
[[nodiscard]] std::vector<double> query_gradient(
    const float* query, const float* dout, const Rows& keys, const Rows& values, std::int64_t seen);

/// Queries of one head with the results of their forward pass.
struct ForwardHead {
  Rows queries, outputs, douts;
  std::vector<float> log_sums;
};
struct KeyGradients {
  std::vector<double> key, value;
};
/// Gradients of one key and its value, summed over heads; only queries from `first_query` on see the key.
[[nodiscard]] KeyGradients key_gradients(const std::vector<ForwardHead>& heads,
                                         const float* key,
                                         const float* value,
                                         std::int64_t first_query);

/// Euclidean |got - right| / |right|; 0 for two zero vectors.
[[nodiscard]] double relative_error(const std::vector<float>& got, const std::vector<double>& right);

}  // namespace headroom::probes
