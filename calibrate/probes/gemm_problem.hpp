// SPDX-License-Identifier: Apache-2.0
// One GEMM as cuBLASLt sees it, with its data on the device.
#pragma once

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

/// What a row of gemm_types (probe.hpp) means to cuBLASLt; the same order.
struct GemmRecipe {
  cudaDataType operand;
  cudaDataType output;
  cublasComputeType_t compute;
  Element element;  ///< of the operands, to fill them
  std::int64_t operand_bytes;
  std::int64_t output_bytes;
  bool scaled;       ///< e4m3: a scale per tensor, fast accumulation
  double tolerance;  ///< of the result, in units of sqrt(k)
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
  [[nodiscard]] double expected(std::int64_t row, std::int64_t column) const;
  [[nodiscard]] double computed(std::int64_t row, std::int64_t column) const;

  const Session* session_;
  const GemmRecipe* recipe_;
  std::int64_t m_, n_, k_, copies_;
  std::int64_t weight_stride_;  ///< bytes from one copy to the next
  DeviceMemory weights_, input_, output_, scale_;
  Operation operation_;
  Layout weight_layout_, input_layout_, output_layout_;
  Preference preference_;
};

}  // namespace headroom::probes
