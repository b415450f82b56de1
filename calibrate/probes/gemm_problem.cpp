// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/gemm_problem.hpp>

#include <array>
#include <cmath>
#include <string>

namespace headroom::probes {
namespace {

constexpr std::int64_t alignment = 256;  // alignment of every copy, the heuristic's default assumption
constexpr std::int64_t byte_bits = 8;

// CUDA before 12.8 has no 4-bit floats, so the recipe exists and is refused.
#if CUDART_VERSION >= 12080
constexpr bool has_fp4 = true;
constexpr cudaDataType fp4 = CUDA_R_4F_E2M1;
#else
constexpr bool has_fp4 = false;
constexpr cudaDataType fp4 = CUDA_R_8F_E4M3;
#endif

// Sums of k products of normal(0, 1) numbers have size sqrt(k). Fast accumulation keeps 14 bits of them, the output
// type 8 to 11, and 4-bit operands have scales up to 2. A right result is within the tolerance, a wrong layout's is
// not. Integers are exact.
constexpr double bf16_rounding = 0x1p-7;  // rounding of a bf16 result, twice
// clang-format off
constexpr std::array recipes{
    GemmRecipe{CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, Element::bf16, Element::bf16,
               Number::bf16, Number::bf16, Number::bf16, 16, 2, Scaling::none, false, 1.0, 0.02, bf16_rounding},
    GemmRecipe{CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, Element::fp16, Element::fp16,
               Number::fp16, Number::fp16, Number::fp16, 16, 2, Scaling::none, false, 1.0, 0.02, bf16_rounding},
    GemmRecipe{CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, Element::fp32, Element::fp32,
               Number::fp32, Number::fp32, Number::fp32, 32, 4, Scaling::none, false, 1.0, 0.02, bf16_rounding},
    GemmRecipe{CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, Element::e4m3, Element::e4m3,
               Number::e4m3, Number::e4m3, Number::bf16, 8, 2, Scaling::tensor, true, 1.0, 0.10, bf16_rounding},
    GemmRecipe{CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, Element::int8, Element::int8,
               Number::int8, Number::int8, Number::int32, 8, 4, Scaling::none, false, 32.0, 1e-9, 0.0},
    GemmRecipe{CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, Element::fp32, Element::fp32,
               Number::fp32, Number::fp32, Number::fp32, 32, 4, Scaling::none, false, 1.0, 1e-4, 1e-5},
    GemmRecipe{CUDA_R_8F_E4M3, CUDA_R_8F_E5M2, CUDA_R_16BF, CUBLAS_COMPUTE_32F, Element::e4m3, Element::e5m2,
               Number::e4m3, Number::e5m2, Number::bf16, 8, 2, Scaling::tensor, false, 1.0, 0.10, bf16_rounding},
    GemmRecipe{fp4, fp4, CUDA_R_16BF, CUBLAS_COMPUTE_32F, Element::e2m1, Element::e2m1,
               Number::e2m1, Number::e2m1, Number::bf16, 4, 2, Scaling::block, false, 2.0, 0.02, bf16_rounding},
};
// clang-format on

const GemmRecipe& recipe_of(const Request& request) {
  if (request.variant < 0 || static_cast<std::size_t>(request.variant) >= recipes.size()) {
    throw Refused{"unknown type of GEMM"};
  }
  if (!has_fp4 && recipes[static_cast<std::size_t>(request.variant)].scaling == Scaling::block) {
    throw Refused{"this build's CUDA knows no 4-bit floats; build the probes with CUDA 12.8 or later"};
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
  // Type of alpha and beta.
  const cudaDataType scale = compute == CUBLAS_COMPUTE_32I ? CUDA_R_32I : CUDA_R_32F;
  check(cublasLtMatmulDescCreate(&made, compute, scale), "cublasLtMatmulDescCreate");
  return Operation{made};
}

/// A column-major layout without gaps: the leading dimension is the number of rows.
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
      weight_stride_{rounded_up(request.n * request.k * recipe_->operand_bits / byte_bits)},
      scale_stride_{rounded_up(scale_bytes(request.n, request.k))} {
  if (m_ <= 0 || n_ <= 0 || k_ <= 0 || copies_ <= 0) {
    throw Refused{"m, n, k and copies must be positive"};
  }
  if (recipe_->scaling == Scaling::block && k_ % (2 * scaled_block) != 0) {
    throw Refused{"k must be a multiple of 32 in 4 bits"};
  }
  fill();
  describe();
}

void GemmProblem::fill() {
  cudaStream_t stream = session_->stream.get();
  const std::int64_t bits = recipe_->operand_bits;
  weights_ = DeviceMemory{copies_ * weight_stride_};
  input_ = DeviceMemory{m_ * k_ * bits / byte_bits};
  output_ = DeviceMemory{m_ * n_ * recipe_->output_bytes};
  check(fill_normal(weights_.at(), copies_ * weight_stride_ * byte_bits / bits, recipe_->weight_element, 1, stream),
        "fill kernel");
  check(fill_normal(input_.at(), m_ * k_, recipe_->input_element, 2, stream), "fill kernel");
  if (recipe_->scaling == Scaling::tensor) {
    constexpr float one = 1.0F;
    weight_scales_ = DeviceMemory{alignment};
    input_scales_ = DeviceMemory{alignment};
    check(cudaMemcpyAsync(weight_scales_.at(), &one, sizeof(one), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    check(cudaMemcpyAsync(input_scales_.at(), &one, sizeof(one), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  } else if (recipe_->scaling == Scaling::block) {
    const std::int64_t of_input = rounded_up(scale_bytes(m_, k_));
    weight_scales_ = DeviceMemory{copies_ * scale_stride_};
    input_scales_ = DeviceMemory{of_input};
    check(fill_normal(weight_scales_.at(), copies_ * scale_stride_, Element::ue4m3_scale, 3, stream), "fill kernel");
    check(fill_normal(input_scales_.at(), of_input, Element::ue4m3_scale, 4, stream), "fill kernel");
  }
  session_->stream.wait();
}

Operation GemmProblem::operation_for(std::int64_t copy) const {
  Operation made = make_operation(recipe_->compute);
  cublasLtMatmulDesc_t operation = made.get();
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  if (recipe_->scaling == Scaling::none) {
    return made;
  }
  const bool blocks = recipe_->scaling == Scaling::block;
  const void* of_weight = weight_scales_.at(blocks ? copy * scale_stride_ : 0);
  const void* of_input = input_scales_.at();
  set(operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, of_weight);
  set(operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, of_input);
#if CUDART_VERSION >= 12080
  if (blocks) {
    constexpr auto mode = static_cast<std::int32_t>(CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3);
    set(operation, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode);
    set(operation, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
  }
#endif
  if (recipe_->fast) {
    set(operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  }
  return made;
}

void GemmProblem::describe() {
  const auto m = static_cast<std::uint64_t>(m_);
  const auto n = static_cast<std::uint64_t>(n_);
  const auto k = static_cast<std::uint64_t>(k_);
  weight_layout_ = make_layout(recipe_->weight, k, n);
  input_layout_ = make_layout(recipe_->input, k, m);
  output_layout_ = make_layout(recipe_->output, n, m);
  preference_ = make_preference();
  const std::int64_t operations = recipe_->scaling == Scaling::block ? copies_ : 1;
  for (std::int64_t copy = 0; copy < operations; ++copy) {
    operations_.push_back(operation_for(copy));
  }
}

std::vector<cublasLtMatmulAlgo_t> GemmProblem::algorithms(std::int64_t most) const {
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(most > 0 ? most : 1));
  int count = 0;
  check(cublasLtMatmulAlgoGetHeuristic(session_->lt.get(), operations_.front().get(), weight_layout_.get(),
                                       input_layout_.get(), output_layout_.get(), output_layout_.get(),
                                       preference_.get(), static_cast<int>(found.size()), found.data(), &count),
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
  constexpr float one = 1.0F;
  constexpr float zero = 0.0F;
  constexpr std::int32_t whole_one = 1;
  constexpr std::int32_t whole_zero = 0;
  const bool whole = recipe_->compute == CUBLAS_COMPUTE_32I;
  const void* alpha = whole ? static_cast<const void*>(&whole_one) : &one;
  const void* beta = whole ? static_cast<const void*>(&whole_zero) : &zero;
  const std::int64_t copy = i % copies_;
  const Operation& operation = operations_[operations_.size() == 1 ? 0 : static_cast<std::size_t>(copy)];
  check(cublasLtMatmul(session_->lt.get(), operation.get(), alpha, weights_.at(copy * weight_stride_),
                       weight_layout_.get(), input_.at(), input_layout_.get(), beta, output_.at(), output_layout_.get(),
                       output_.at(), output_layout_.get(), &algorithm, session_->workspace.at(),
                       static_cast<std::size_t>(workspace_bytes), stream),
        "cublasLtMatmul");
}

std::vector<double> GemmProblem::row_of(const DeviceMemory& numbers,
                                        const DeviceMemory& scales,
                                        Number number,
                                        std::int64_t row) const {
  const std::int64_t bytes = k_ * recipe_->operand_bits / byte_bits;
  const std::vector<unsigned char> raw = downloaded(numbers, row * bytes, bytes);
  const bool blocks = recipe_->scaling == Scaling::block;
  // Scales come in whole tiles, so this downloads all up to the end of the row's tile.
  const std::vector<unsigned char> codes =
      blocks ? downloaded(scales, 0, scale_bytes(row + 1, k_)) : std::vector<unsigned char>{};
  std::vector<double> values;
  for (std::int64_t i = 0; i < k_; ++i) {
    const double scale =
        blocks ? decoded_scale(codes[static_cast<std::size_t>(scale_place(row, i / scaled_block, k_))]) : 1.0;
    values.push_back(scale * decoded(raw, i, number));
  }
  return values;
}

double GemmProblem::expected(std::int64_t row, std::int64_t column) const {
  const std::vector<double> x = row_of(input_, input_scales_, recipe_->input_number, row);
  const std::vector<double> w = row_of(weights_, weight_scales_, recipe_->weight_number, column);
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += x[i] * w[i];
  }
  return sum;
}

double GemmProblem::computed(std::int64_t row, std::int64_t column) const {
  const std::int64_t bytes = recipe_->output_bytes;
  return decoded(downloaded(output_, ((row * n_) + column) * bytes, bytes), 0, recipe_->output_number);
}

void GemmProblem::verify(const cublasLtMatmulAlgo_t& algorithm) const {
  enqueue(algorithm, 0, session_->stream.get());
  session_->stream.wait();
  const double spread = recipe_->unit * recipe_->unit * std::sqrt(static_cast<double>(k_));
  const std::array<std::array<std::int64_t, 2>, 4> places{
      {{0, 0}, {m_ - 1, n_ - 1}, {m_ / 2, n_ / 3}, {m_ / 3, n_ / 2}}};
  for (const auto& [row, column] : places) {
    const double right = expected(row, column);
    const double got = computed(row, column);
    const double allowed = (recipe_->tolerance * spread) + (recipe_->rounding * std::abs(right));
    if (!(std::abs(got - right) <= allowed)) {
      throw Refused{"the product is wrong: element " + std::to_string(row) + "," + std::to_string(column) + " is " +
                    std::to_string(got) + " where the host finds " + std::to_string(right)};
    }
  }
}

}  // namespace headroom::probes
