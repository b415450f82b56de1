// SPDX-License-Identifier: Apache-2.0
// Kernels for the passes over memory of PassOp (probe_kinds.hpp). Addresses and sizes are multiples of 16 bytes, widths
// of 32 bytes; numbers are fp32.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headroom::probes {

/// Bytes read per CTA of `sums_of` and `strided_sums_of`.
inline constexpr std::int64_t pass_block_bytes = 16384;

/// sums[i] = sum of the i-th 16 KiB of a.
cudaError_t sums_of(float* sums, const void* a, std::int64_t bytes, cudaStream_t stream);

/// Writes (i mod 251) / 128 - 1 as the i-th number of a, without reading.
cudaError_t write_pattern(void* a, std::int64_t bytes, cudaStream_t stream);
/// Number that write_pattern writes at place i.
[[nodiscard]] float pattern_at(std::int64_t i);

/// sums[i] = sum of the i-th 512 sectors of 32 bytes, one at every `width` bytes of a.
cudaError_t strided_sums_of(float* sums, const void* a, std::int64_t bytes, std::int64_t width, cudaStream_t stream);

/// index[i] = random_row(i, rows) for every row; `rows` is a power of two.
cudaError_t random_rows(std::int64_t* index, std::int64_t rows, cudaStream_t stream);
/// A pseudo-random permutation of the rows.
[[nodiscard]] std::int64_t random_row(std::int64_t i, std::int64_t rows);

/// The i-th row of b = row index[i] of a.
cudaError_t gather_rows(
    void* b, const void* a, const std::int64_t* index, std::int64_t rows, std::int64_t width, cudaStream_t stream);

/// sums[i] = sum of row i of `width` bytes, with one CTA per row.
cudaError_t row_sums(float* sums, const void* a, std::int64_t rows, std::int64_t width, cudaStream_t stream);

/// Constants of the four steps y = c - x. The fourth step restores the first step's input, so repetition does not
/// change the numbers.
inline constexpr float chain_constants[4] = {3.0F, 1.0F, 2.0F, 4.0F};
/// y = constant - x.
cudaError_t chain_step(void* y, const void* x, std::int64_t bytes, float constant, cudaStream_t stream);
/// y = the four chain steps applied to x.
cudaError_t fused_chain(void* y, const void* x, std::int64_t bytes, cudaStream_t stream);

/// Keeps one SM busy for about `microseconds` of the device's timer.
cudaError_t spin(std::int64_t microseconds, cudaStream_t stream);

}  // namespace headroom::probes
