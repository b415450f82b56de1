// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/gemm_problem.hpp>

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>

namespace headroom::probes {
namespace {

constexpr std::int64_t alignment = 256;  // of every copy: what the heuristic assumes by default

// clang-format off
// Sums of k products of normal(0, 1) numbers are of size sqrt(k); fast accumulation keeps 14 bits of them, and the
// output type 8 to 11, so that a right result is within the tolerance and a wrong layout's is not.
constexpr std::array recipes{
    //         operand        output       compute                         element        bytes  scaled tolerance
    GemmRecipe{CUDA_R_16BF,   CUDA_R_16BF, CUBLAS_COMPUTE_32F,           Element::bf16, 2, 2,  false, 0.02},
    GemmRecipe{CUDA_R_16F,    CUDA_R_16F,  CUBLAS_COMPUTE_32F,           Element::fp16, 2, 2,  false, 0.02},
    GemmRecipe{CUDA_R_32F,    CUDA_R_32F,  CUBLAS_COMPUTE_32F_FAST_TF32, Element::fp32, 4, 4,  false, 0.02},
    GemmRecipe{CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F,          Element::e4m3, 1, 2,  true,  0.10},
};
// clang-format on

const GemmRecipe& recipe_of(const Request& request) {
  if (request.variant < 0 || static_cast<std::size_t>(request.variant) >= recipes.size()) {
    throw Refused{"unknown type of GEMM"};
  }
  return recipes[static_cast<std::size_t>(request.variant)];
}

std::int64_t rounded_up(std::int64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

template <class T>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  check(cublasLtMatmulDescSetAttribute(operation, attribute, static_cast<const void*>(&value), sizeof(value)),
        "cublasLtMatmulDescSetAttribute");
}

Operation make_operation(cublasComputeType_t compute) {
  cublasLtMatmulDesc_t made = nullptr;
  check(cublasLtMatmulDescCreate(&made, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
  return Operation{made};
}

/// Column-major and without gaps: the leading dimension is the number of rows.
Layout make_layout(cudaDataType type, std::uint64_t rows, std::uint64_t columns) {
  cublasLtMatrixLayout_t made = nullptr;
  check(cublasLtMatrixLayoutCreate(&made, type, rows, columns, static_cast<std::int64_t>(rows)),
        "cublasLtMatrixLayoutCreate");
  return Layout{made};
}

Preference make_preference() {
  cublasLtMatmulPreference_t made = nullptr;
  check(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
  Preference preference{made};
  const auto workspace = static_cast<std::uint64_t>(workspace_bytes);
  check(cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                             sizeof(workspace)),
        "cublasLtMatmulPreferenceSetAttribute");
  return preference;
}

/// The i-th element of raw bytes of a type.
double decoded(const std::vector<unsigned char>& raw, std::size_t i, cudaDataType type) {
  if (type == CUDA_R_8F_E4M3) {
    const __half_raw half = __nv_cvt_fp8_to_halfraw(raw[i], __NV_E4M3);
    return static_cast<double>(__half2float(__half{half}));
  }
  if (type == CUDA_R_32F) {
    float value = 0.0F;
    std::memcpy(&value, &raw[i * sizeof(value)], sizeof(value));
    return static_cast<double>(value);
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, &raw[i * sizeof(bits)], sizeof(bits));
  if (type == CUDA_R_16F) {
    __half_raw half{};
    half.x = bits;
    return static_cast<double>(__half2float(__half{half}));
  }
  const std::uint32_t wide = std::uint32_t{bits} << 16U;  // bf16 is the upper half of a float
  float value = 0.0F;
  std::memcpy(&value, &wide, sizeof(value));
  return static_cast<double>(value);
}

std::vector<unsigned char> downloaded(const DeviceMemory& memory, std::int64_t first, std::int64_t bytes) {
  std::vector<unsigned char> raw(static_cast<std::size_t>(bytes));
  check(cudaMemcpy(raw.data(), memory.at(first), raw.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return raw;
}

}  // namespace

GemmProblem::GemmProblem(const Session& session, const Request& request)
    : session_{&session},
      recipe_{&recipe_of(request)},
      m_{request.m},
      n_{request.n},
      k_{request.k},
      copies_{request.copies},
      weight_stride_{rounded_up(request.n * request.k * recipe_->operand_bytes)} {
  if (m_ <= 0 || n_ <= 0 || k_ <= 0 || copies_ <= 0) {
    throw Refused{"m, n, k and copies must be positive"};
  }
  cudaStream_t stream = session.stream.get();
  const std::int64_t operand = recipe_->operand_bytes;
  weights_ = DeviceMemory{copies_ * weight_stride_};
  input_ = DeviceMemory{m_ * k_ * operand};
  output_ = DeviceMemory{m_ * n_ * recipe_->output_bytes};
  scale_ = DeviceMemory{alignment};
  constexpr float one = 1.0F;
  check(fill_normal(weights_.at(), copies_ * weight_stride_ / operand, recipe_->element, 1, stream), "fill kernel");
  check(fill_normal(input_.at(), m_ * k_, recipe_->element, 2, stream), "fill kernel");
  check(cudaMemcpyAsync(scale_.at(), &one, sizeof(one), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  session.stream.wait();
  describe();
}

void GemmProblem::describe() {
  const auto m = static_cast<std::uint64_t>(m_);
  const auto n = static_cast<std::uint64_t>(n_);
  const auto k = static_cast<std::uint64_t>(k_);
  operation_ = make_operation(recipe_->compute);
  weight_layout_ = make_layout(recipe_->operand, k, n);
  input_layout_ = make_layout(recipe_->operand, k, m);
  output_layout_ = make_layout(recipe_->output, n, m);
  preference_ = make_preference();
  cublasLtMatmulDesc_t operation = operation_.get();
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  if (recipe_->scaled) {
    const void* scale = scale_.at();
    set(operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale);
    set(operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale);
    set(operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  }
}

std::vector<cublasLtMatmulAlgo_t> GemmProblem::algorithms(std::int64_t most) const {
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(most > 0 ? most : 1));
  int count = 0;
  check(cublasLtMatmulAlgoGetHeuristic(session_->lt.get(), operation_.get(), weight_layout_.get(), input_layout_.get(),
                                       output_layout_.get(), output_layout_.get(), preference_.get(),
                                       static_cast<int>(found.size()), found.data(), &count),
        "cublasLtMatmulAlgoGetHeuristic");
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (int i = 0; i < count; ++i) {
    const cublasLtMatmulHeuristicResult_t& result = found[static_cast<std::size_t>(i)];
    if (result.state == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= static_cast<std::size_t>(workspace_bytes)) {
      algorithms.push_back(result.algo);
    }
  }
  if (algorithms.empty()) {
    throw Refused{"cuBLASLt proposes no algorithm for this shape and type"};
  }
  return algorithms;
}

void GemmProblem::enqueue(const cublasLtMatmulAlgo_t& algorithm, std::int64_t i, cudaStream_t stream) const {
  constexpr float alpha = 1.0F;
  constexpr float beta = 0.0F;
  check(cublasLtMatmul(session_->lt.get(), operation_.get(), &alpha, weights_.at((i % copies_) * weight_stride_),
                       weight_layout_.get(), input_.at(), input_layout_.get(), &beta, output_.at(),
                       output_layout_.get(), output_.at(), output_layout_.get(), &algorithm, session_->workspace.at(),
                       static_cast<std::size_t>(workspace_bytes), stream),
        "cublasLtMatmul");
}

double GemmProblem::expected(std::int64_t row, std::int64_t column) const {
  const std::int64_t bytes = k_ * recipe_->operand_bytes;
  const std::vector<unsigned char> x = downloaded(input_, row * bytes, bytes);
  const std::vector<unsigned char> w = downloaded(weights_, column * bytes, bytes);
  double sum = 0.0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(k_); ++i) {
    sum += decoded(x, i, recipe_->operand) * decoded(w, i, recipe_->operand);
  }
  return sum;
}

double GemmProblem::computed(std::int64_t row, std::int64_t column) const {
  const std::int64_t bytes = recipe_->output_bytes;
  return decoded(downloaded(output_, ((row * n_) + column) * bytes, bytes), 0, recipe_->output);
}

void GemmProblem::verify(const cublasLtMatmulAlgo_t& algorithm) const {
  enqueue(algorithm, 0, session_->stream.get());
  session_->stream.wait();
  constexpr double rounding = 0x1p-7;  // of a bf16 result, and as much again
  const std::array<std::array<std::int64_t, 2>, 4> places{
      {{0, 0}, {m_ - 1, n_ - 1}, {m_ / 2, n_ / 3}, {m_ / 3, n_ / 2}}};
  for (const auto& [row, column] : places) {
    const double right = expected(row, column);
    const double got = computed(row, column);
    const double allowed = (recipe_->tolerance * std::sqrt(static_cast<double>(k_))) + (rounding * std::abs(right));
    if (!(std::abs(got - right) <= allowed)) {
      throw Refused{"the product is wrong: element " + std::to_string(row) + "," + std::to_string(column) + " is " +
                    std::to_string(got) + " where the host finds " + std::to_string(right)};
    }
  }
}

}  // namespace headroom::probes
