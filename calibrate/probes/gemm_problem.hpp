// SPDX-License-Identifier: Apache-2.0
// One GEMM as cuBLASLt sees it, with its data on the device.
#pragma once

#include <headroom/calibrate/probes/gemm_reference.hpp>
#include <headroom/calibrate/probes/kernels.hpp>
#include <headroom/calibrate/probes/session.hpp>

#include <memory>
#include <type_traits>
#include <vector>

namespace headroom::probes {

/// Owns one of cuBLASLt's descriptors.
template <class T, cublasStatus_t (*destroy)(T)>
struct Destroy {
  using pointer = T;
  void operator()(T descriptor) const noexcept { destroy(descriptor); }
};
template <class T, cublasStatus_t (*destroy)(T)>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, Destroy<T, destroy>>;
using Operation = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

/// How operands are scaled: not at all, by one number a tensor, by one for 16 elements.
enum class Scaling : std::uint8_t { none, tensor, block };

/// What a row of gemm_types (probe.hpp) means to cuBLASLt; the same order.
struct GemmRecipe {
  cudaDataType weight, input, output;
  cublasComputeType_t compute;
  Element weight_element, input_element;  ///< to fill them
  Number weight_number, input_number, output_number;
  std::int64_t operand_bits;
  std::int64_t output_bytes;
  Scaling scaling;
  bool fast;         ///< fast accumulation of fp8
  double unit;       ///< of the numbers' spread: 1, of int8 32
  double tolerance;  ///< of the result, in units of unit^2 sqrt(k)
  double rounding;   ///< of the result, as a share of it
};

/// y[m,n] = x[m,k] w[n,k]^T row-major. cuBLASLt is column-major, where the same bytes are w: k x n, x: k x m, y: n x m;
/// so it computes y = w^T x, the "TN" form, which is the only one that e4m3 has on Ada and Hopper.
class GemmProblem {
 public:
  /// Allocates, fills with normal(0, 1), describes. Throws Refused.
  GemmProblem(const Session& session, const Request& request);
  GemmProblem(const GemmProblem&) = delete;
  GemmProblem& operator=(const GemmProblem&) = delete;
  GemmProblem(GemmProblem&&) = delete;
  GemmProblem& operator=(GemmProblem&&) = delete;
  ~GemmProblem() = default;

  /// Up to `most` algorithms that cuBLASLt's heuristic proposes; Refused when it has none.
  [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> algorithms(std::int64_t most) const;

  /// Enqueues one product with the weights' copy i modulo copies.
  void enqueue(const cublasLtMatmulAlgo_t& algorithm, std::int64_t i, cudaStream_t stream) const;

  /// Computes once and compares a few elements with sums on the host; Refused when they differ: a time of a wrong
  /// product is worth nothing.
  void verify(const cublasLtMatmulAlgo_t& algorithm) const;

 private:
  void describe();
  void fill();
  [[nodiscard]] Operation operation_for(std::int64_t copy) const;
  [[nodiscard]] std::vector<double> row_of(const DeviceMemory& numbers,
                                           const DeviceMemory& scales,
                                           Number number,
                                           std::int64_t row) const;
  [[nodiscard]] double expected(std::int64_t row, std::int64_t column) const;
  [[nodiscard]] double computed(std::int64_t row, std::int64_t column) const;

  const Session* session_;
  const GemmRecipe* recipe_;
  std::int64_t m_, n_, k_, copies_;
  std::int64_t weight_stride_;  ///< bytes from one copy to the next
  std::int64_t scale_stride_;   ///< bytes from the scales of one copy to those of the next
  DeviceMemory weights_, input_, output_, weight_scales_, input_scales_;
  std::vector<Operation> operations_;  ///< one a copy where each has scales of its own, else one
  Layout weight_layout_, input_layout_, output_layout_;
  Preference preference_;
};

}  // namespace headroom::probes
