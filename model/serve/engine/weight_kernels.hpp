// SPDX-License-Identifier: Apache-2.0
// Families of kernels that multiply 16-bit activations with narrower weights.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

enum class WeightKernels : std::uint8_t {
  fused,  ///< the engine's fastest, which unpack weights on the way to the tensor cores (Frantar et al. 2024, MARLIN)
  gptq,   ///< ExLlama's, which vLLM takes with --quantization gptq (gptq_rows, gptq_largest)
  count
};
/// Values of serving.quantization.
inline constexpr std::array<std::string_view, static_cast<std::size_t>(WeightKernels::count)> weight_kernel_names{
    "auto", "gptq"};

/// Rows that one block of an ExLlama kernel multiplies: each further block reads and unpacks the weights again
/// (vllm-project/vllm, csrc/quantization/gptq/q_gemm.cu, BLOCK_M_SIZE_MAX).
inline constexpr double gptq_rows = 8.0;
/// Most rows of these kernels, by the bytes of a weight; with more rows the weights are written out in 16 bit first,
/// and a 16-bit product follows (the same file, MAX_Q_GEMM_ROWS and MAX_Q_GEMM_ROWS_8BIT).
[[nodiscard]] constexpr double gptq_largest(double weight_bytes) noexcept {
  return weight_bytes < 1.0 ? 50.0 : 24.0;
}

}  // namespace headroom
