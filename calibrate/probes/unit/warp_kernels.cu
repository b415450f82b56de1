// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp do to each other: banks of shared memory, and paths of their own.
#include <headroom/calibrate/probe/probes_abi.hpp>
#include <headroom/calibrate/probes/unit/unit_kernels.hpp>

namespace headroom::probes {
namespace {

constexpr int block = static_cast<int>(unit_block_threads);
constexpr int warp = 32;

__host__ __device__ std::uint32_t word_at(std::uint32_t i) {
  return i * 0x9E3779B1U + 0x7F4A7C15U;
}

constexpr int bank_words = (warp - 1) * static_cast<int>(most_bank_stride) + static_cast<int>(bank_turn);

// The loads are volatile, because the words never change and a compiler would keep them.
__global__ void bank_kernel(std::uint32_t* totals, int stride, int turns) {
  __shared__ std::uint32_t words[bank_words];
  for (int i = static_cast<int>(threadIdx.x); i < bank_words; i += block) {
    words[i] = word_at(static_cast<std::uint32_t>(i));
  }
  __syncthreads();
  const volatile std::uint32_t* own = words + (threadIdx.x % warp) * stride;
  std::uint32_t total = 0;
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int i = 0; i < static_cast<int>(bank_turn); ++i) {
      total += own[i];
    }
  }
  totals[static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x] = total;
}

// Factors differ, so that no two paths are the same instructions and none can be merged with another.
__host__ __device__ constexpr float factor_of(int path) {
  return 0.5F + static_cast<float>(path) * 0x1p-7F;
}
__host__ __device__ constexpr float term_of(int path) {
  return static_cast<float>(path + 1);
}

/// A path: steps that each wait for the last.
template <int path>
__device__ float along(float x, int turns) {
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int step = 0; step < static_cast<int>(path_turn); ++step) {
      asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(factor_of(path)), "f"(term_of(path)));
    }
  }
  return x;
}

__device__ float along_path(int path, float x, int turns) {
  switch (path) {
    case 0: return along<0>(x, turns);
    case 1: return along<1>(x, turns);
    case 2: return along<2>(x, turns);
    case 3: return along<3>(x, turns);
    case 4: return along<4>(x, turns);
    case 5: return along<5>(x, turns);
    case 6: return along<6>(x, turns);
    case 7: return along<7>(x, turns);
    case 8: return along<8>(x, turns);
    case 9: return along<9>(x, turns);
    case 10: return along<10>(x, turns);
    case 11: return along<11>(x, turns);
    case 12: return along<12>(x, turns);
    case 13: return along<13>(x, turns);
    case 14: return along<14>(x, turns);
    case 15: return along<15>(x, turns);
    case 16: return along<16>(x, turns);
    case 17: return along<17>(x, turns);
    case 18: return along<18>(x, turns);
    case 19: return along<19>(x, turns);
    case 20: return along<20>(x, turns);
    case 21: return along<21>(x, turns);
    case 22: return along<22>(x, turns);
    case 23: return along<23>(x, turns);
    case 24: return along<24>(x, turns);
    case 25: return along<25>(x, turns);
    case 26: return along<26>(x, turns);
    case 27: return along<27>(x, turns);
    case 28: return along<28>(x, turns);
    case 29: return along<29>(x, turns);
    case 30: return along<30>(x, turns);
    default: return along<31>(x, turns);
  }
}

__global__ void path_kernel(float* ends, int paths, int turns) {
  const int path = static_cast<int>(threadIdx.x) % warp % paths;
  ends[static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x] = along_path(path, 0.0F, turns);
}

}  // namespace

std::uint32_t bank_word(std::int64_t i) {
  return word_at(static_cast<std::uint32_t>(i));
}

float path_factor(std::int64_t path) {
  return factor_of(static_cast<int>(path));
}
float path_term(std::int64_t path) {
  return term_of(static_cast<int>(path));
}

cudaError_t bank_loads(
    std::uint32_t* totals, std::int64_t stride, std::int64_t loads, std::int64_t blocks, cudaStream_t stream) {
  bank_kernel<<<static_cast<unsigned>(blocks), block, 0, stream>>>(totals, static_cast<int>(stride),
                                                                   static_cast<int>(loads / bank_turn));
  return cudaGetLastError();
}

cudaError_t diverging_paths(
    float* ends, std::int64_t paths, std::int64_t steps, std::int64_t blocks, cudaStream_t stream) {
  path_kernel<<<static_cast<unsigned>(blocks), block, 0, stream>>>(ends, static_cast<int>(paths),
                                                                   static_cast<int>(steps / path_turn));
  return cudaGetLastError();
}

}  // namespace headroom::probes
