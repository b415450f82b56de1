// SPDX-License-Identifier: Apache-2.0
// A GEMM in cuBLASLt's terms, with its data on the device.
#pragma once

#include <headroom/calibrate/probes/gemm_reference.hpp>
#include <headroom/calibrate/probes/kernels.hpp>
#include <headroom/calibrate/probes/session.hpp>

#include <memory>
#include <type_traits>
#include <vector>

namespace headroom::probes {

/// Deleter of a cuBLASLt descriptor.
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

/// Scales of operands: none, one per tensor, or one per 16 elements.
enum class Scaling : std::uint8_t { none, tensor, block };

/// cuBLASLt's types for a row of gemm_types (probe.hpp), in the same order.
struct GemmRecipe {
  cudaDataType weight, input, output;
  cublasComputeType_t compute;
  Element weight_element, input_element;  ///< element types for filling
  Number weight_number, input_number, output_number;
  std::int64_t operand_bits;
  std::int64_t output_bytes;
  Scaling scaling;
  bool fast;         ///< fast accumulation of fp8
  double unit;       ///< scale of the filled numbers: 32 for int8, else 1
  double tolerance;  ///< allowed error of the result in units of unit^2 sqrt(k)
  double rounding;   ///< allowed relative error of the result
};

/// The product y[m,n] = x[m,k] w[n,k]^T, row-major. In cuBLASLt's column-major order the same bytes are w: k x n, x: k
/// x m, y: n x m, so it computes y = w^T x, the "TN" form, the only one that e4m3 supports on Ada and Hopper.
class GemmProblem {
 public:
  /// Allocates, fills with normal(0, 1) numbers, and describes the problem. Throws Refused.
  GemmProblem(const Session& session, const Request& request);
  GemmProblem(const GemmProblem&) = delete;
  GemmProblem& operator=(const GemmProblem&) = delete;
  GemmProblem(GemmProblem&&) = delete;
  GemmProblem& operator=(GemmProblem&&) = delete;
  ~GemmProblem() = default;

  /// Up to `most` algorithms from cuBLASLt's heuristic. Throws Refused when there is none.
  [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> algorithms(std::int64_t most) const;

  /// Enqueues one product with copy i modulo copies of the weights.
  void enqueue(const cublasLtMatmulAlgo_t& algorithm, std::int64_t i, cudaStream_t stream) const;

  /// Computes once and compares some elements with sums on the host. Throws Refused when they differ, because the time
  /// of a wrong product is worthless.
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
  std::int64_t scale_stride_;   ///< bytes from one copy's scales to the next copy's
  DeviceMemory weights_, input_, output_, weight_scales_, input_scales_;
  std::vector<Operation> operations_;  ///< one per copy if copies have scales of their own, else one
  Layout weight_layout_, input_layout_, output_layout_;
  Preference preference_;
};

}  // namespace headroom::probes
