// SPDX-License-Identifier: Apache-2.0
// Kernels for the habits of an SM that UnitOp names (probe_kinds.hpp): how neighbouring threads load, share banks,
// diverge, hide latency, meet and count. Numbers are fp32 or unsigned 32-bit integers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headroom::probes {

/// Loads per CTA of strided_loads and random_loads; their number of loads is a multiple of it.
inline constexpr std::int64_t loads_per_block = 2048;

/// sums[b] = sum of the b-th 2048 numbers of a that are `stride` numbers apart: one 4-byte load a number, neighbours by
/// neighbouring threads.
cudaError_t strided_loads(float* sums, const float* a, std::int64_t loads, std::int64_t stride, cudaStream_t stream);

/// sums[b] = sum of the numbers of a at random_place(first + i, places), i of the b-th 2048 loads. `places`, a power of
/// two of at most 2^31, is the size of a.
cudaError_t random_loads(
    float* sums, const float* a, std::int64_t first, std::int64_t loads, std::int64_t places, cudaStream_t stream);
/// A pseudo-random permutation of the places.
[[nodiscard]] std::int64_t random_place(std::int64_t i, std::int64_t places);

/// Dynamic shared memory that leaves room for `blocks_per_sm` CTAs of limited_read an SM, which *reached are; 0: no
/// limit.
cudaError_t shared_bytes_for(std::int64_t blocks_per_sm, std::int64_t* bytes, std::int64_t* reached);
/// sums[b] = sum of the 16-byte words b n + t, (b + blocks) n + t, ... of a, t < n = unit_small_block_threads: one word
/// in flight a thread.
cudaError_t limited_read(float* sums,
                         const void* a,
                         std::int64_t words,
                         std::int64_t blocks,
                         std::int64_t shared_bytes,
                         cudaStream_t stream);

/// Shared words that a thread of bank_loads meets in turn, one after another.
inline constexpr std::int64_t bank_turn = 32;
/// Largest stride of bank_loads.
inline constexpr std::int64_t most_bank_stride = 64;
/// totals[t] = sum, modulo 2^32, of `loads` shared words, a multiple of 32: lane l meets the words l stride, l stride +
/// 1, ... l stride + 31, again and again.
cudaError_t bank_loads(
    std::uint32_t* totals, std::int64_t stride, std::int64_t loads, std::int64_t blocks, cudaStream_t stream);
/// Shared word i of bank_loads.
[[nodiscard]] std::uint32_t bank_word(std::int64_t i);

/// Steps that a path of diverging_paths repeats.
inline constexpr std::int64_t path_turn = 16;
/// ends[t] = 0 after `steps`, a multiple of 16, of x = factor x + term, where lane l takes path l mod `paths`.
cudaError_t diverging_paths(
    float* ends, std::int64_t paths, std::int64_t steps, std::int64_t blocks, cudaStream_t stream);
[[nodiscard]] float path_factor(std::int64_t path);
[[nodiscard]] float path_term(std::int64_t path);

/// `syncs` of all CTAs of a cooperative grid. `checked`: before each, a CTA writes its number into its slot, and after
/// it reads its neighbour's; *wrong counts those that are not yet there.
cudaError_t grid_syncs(std::uint32_t* slots,
                       std::uint32_t* wrong,
                       std::int64_t syncs,
                       bool checked,
                       std::int64_t blocks,
                       cudaStream_t stream);

/// Adds 1 to counters[(t + i n) mod addresses] for the i-th of `updates` of thread t of n; `addresses` is a power of
/// two.
cudaError_t atomic_adds(
    std::uint32_t* counters, std::int64_t addresses, std::int64_t updates, std::int64_t blocks, cudaStream_t stream);

}  // namespace headroom::probes
