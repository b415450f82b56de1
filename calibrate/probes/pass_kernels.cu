// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/pass_kernels.hpp>

namespace headroom::probes {
namespace {

constexpr int block = 256;
constexpr int per_thread = 4;  // loads in flight per thread, as in the copy kernel
constexpr int warp = 32;
constexpr std::int64_t word = sizeof(float4);
constexpr std::int64_t block_words = static_cast<std::int64_t>(block) * per_thread;
static_assert(block_words * word == pass_block_bytes);
constexpr std::int64_t sector = 32;
constexpr std::int64_t sector_words = sector / word;

__device__ float total(float4 v) {
  return (v.x + v.y) + (v.z + v.w);
}

/// Sum over the CTA, returned to its first thread.
__device__ float block_total(float value) {
  __shared__ float of_warp[block / warp];
  for (int offset = warp / 2; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xFFFFFFFFU, value, offset);
  }
  if (threadIdx.x % warp == 0) {
    of_warp[threadIdx.x / warp] = value;
  }
  __syncthreads();
  float sum = 0.0F;
  if (threadIdx.x == 0) {
    for (int i = 0; i < block / warp; ++i) {
      sum += of_warp[i];
    }
  }
  return sum;
}

/// Writes the CTA's sum.
__device__ void write_total(float* sums, float value) {
  const float sum = block_total(value);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

/// Writes the sum of the words that the CTA's threads hold.
__device__ void write_total(float* sums, const float4 (&held)[per_thread]) {
  float sum = 0.0F;
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    sum += total(held[j]);
  }
  write_total(sums, sum);
}

/// A thread's words of an array, one block of threads apart.
__device__ void load(float4 (&held)[per_thread], const float4* __restrict__ a, std::int64_t first, std::int64_t words) {
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    if (first + j * block < words) {
      held[j] = a[first + j * block];
    }
  }
}

__global__ void sums_kernel(float* __restrict__ sums, const float4* __restrict__ a, std::int64_t words) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_words + threadIdx.x;
  float4 held[per_thread];
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    held[j] = first + j * block < words ? a[first + j * block] : float4{0.0F, 0.0F, 0.0F, 0.0F};
  }
  write_total(sums, held);
}

// Two neighbouring threads read the two words of a sector; the next pair reads `step` words further on.
__global__ void strided_kernel(float* __restrict__ sums,
                               const float4* __restrict__ a,
                               std::int64_t sectors,
                               std::int64_t step) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_words + threadIdx.x;
  float4 held[per_thread];
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    const std::int64_t i = first + j * block;
    const std::int64_t at = (i / sector_words) * step + i % sector_words;
    held[j] = i / sector_words < sectors ? a[at] : float4{0.0F, 0.0F, 0.0F, 0.0F};
  }
  write_total(sums, held);
}

__host__ __device__ float pattern(std::int64_t i) {
  constexpr std::int64_t period = 251;
  return static_cast<float>(i % period) * 0x1p-7F - 1.0F;
}

__global__ void write_kernel(float4* __restrict__ a, std::int64_t words) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_words + threadIdx.x;
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    const std::int64_t i = first + j * block;
    if (i < words) {
      a[i] = {pattern(4 * i), pattern(4 * i + 1), pattern(4 * i + 2), pattern(4 * i + 3)};
    }
  }
}

/// Permutation: odd factors and right shifts are one-to-one on the numbers below a power of two.
__host__ __device__ std::int64_t permuted(std::int64_t i, std::int64_t rows) {
  const auto mask = static_cast<std::uint64_t>(rows) - 1U;
  int bits = 0;
  for (std::uint64_t left = mask; left != 0; left >>= 1) {
    ++bits;
  }
  const int shift = bits > 1 ? bits / 2 : 1;
  std::uint64_t x = static_cast<std::uint64_t>(i);
  x = (x * 0x9E3779B97F4A7C15ULL) & mask;
  x ^= x >> shift;
  x = (x * 0xBF58476D1CE4E5B9ULL) & mask;
  x ^= x >> shift;
  return static_cast<std::int64_t>(x);
}

__global__ void index_kernel(std::int64_t* index, std::int64_t rows) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x; i < rows; i += step) {
    index[i] = permuted(i, rows);
  }
}

__global__ void gather_kernel(float4* __restrict__ b,
                              const float4* __restrict__ a,
                              const std::int64_t* __restrict__ index,
                              std::int64_t words,
                              std::int64_t row_words) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_words + threadIdx.x;
  float4 held[per_thread];
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    const std::int64_t i = first + j * block;
    if (i < words) {
      held[j] = a[index[i / row_words] * row_words + i % row_words];
    }
  }
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    if (first + j * block < words) {
      b[first + j * block] = held[j];
    }
  }
}

__global__ void row_sums_kernel(float* __restrict__ sums, const float4* __restrict__ a, std::int64_t row_words) {
  const float4* row = a + static_cast<std::int64_t>(blockIdx.x) * row_words;
  float sum = 0.0F;
  for (std::int64_t i = threadIdx.x; i < row_words; i += block) {
    sum += total(row[i]);
  }
  write_total(sums, sum);
}

__device__ float4 step_of(float4 x, float constant) {
  return {constant - x.x, constant - x.y, constant - x.z, constant - x.w};
}

__global__ void chain_kernel(float4* __restrict__ y, const float4* __restrict__ x, std::int64_t words, float constant) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_words + threadIdx.x;
  float4 held[per_thread];
  load(held, x, first, words);
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    if (first + j * block < words) {
      y[first + j * block] = step_of(held[j], constant);
    }
  }
}

struct Constants {
  float of[4];
};

__global__ void fused_kernel(float4* __restrict__ y, const float4* __restrict__ x, std::int64_t words, Constants c) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_words + threadIdx.x;
  float4 held[per_thread];
  load(held, x, first, words);
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    if (first + j * block < words) {
#pragma unroll
      for (float constant : c.of) {
        held[j] = step_of(held[j], constant);
      }
      y[first + j * block] = held[j];
    }
  }
}

__device__ std::int64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return static_cast<std::int64_t>(now);
}

__global__ void spin_kernel(std::int64_t length) {
  const std::int64_t end = nanoseconds() + length;
  while (nanoseconds() < end) {
  }
}

unsigned blocks_for(std::int64_t words) {
  return static_cast<unsigned>((words + block_words - 1) / block_words);
}

const float4* words_of(const void* data) {
  return static_cast<const float4*>(data);
}
float4* words_of(void* data) {
  return static_cast<float4*>(data);
}

}  // namespace

float pattern_at(std::int64_t i) {
  return pattern(i);
}

std::int64_t random_row(std::int64_t i, std::int64_t rows) {
  return permuted(i, rows);
}

cudaError_t sums_of(float* sums, const void* a, std::int64_t bytes, cudaStream_t stream) {
  sums_kernel<<<blocks_for(bytes / word), block, 0, stream>>>(sums, words_of(a), bytes / word);
  return cudaGetLastError();
}

cudaError_t write_pattern(void* a, std::int64_t bytes, cudaStream_t stream) {
  write_kernel<<<blocks_for(bytes / word), block, 0, stream>>>(words_of(a), bytes / word);
  return cudaGetLastError();
}

cudaError_t strided_sums_of(float* sums, const void* a, std::int64_t bytes, std::int64_t width, cudaStream_t stream) {
  const std::int64_t sectors = bytes / width;
  strided_kernel<<<blocks_for(sectors * sector_words), block, 0, stream>>>(sums, words_of(a), sectors, width / word);
  return cudaGetLastError();
}

cudaError_t random_rows(std::int64_t* index, std::int64_t rows, cudaStream_t stream) {
  constexpr std::int64_t most_blocks = 8192;
  const std::int64_t blocks = (rows + block - 1) / block;
  index_kernel<<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), block, 0, stream>>>(index, rows);
  return cudaGetLastError();
}

cudaError_t gather_rows(
    void* b, const void* a, const std::int64_t* index, std::int64_t rows, std::int64_t width, cudaStream_t stream) {
  const std::int64_t words = rows * width / word;
  gather_kernel<<<blocks_for(words), block, 0, stream>>>(words_of(b), words_of(a), index, words, width / word);
  return cudaGetLastError();
}

cudaError_t row_sums(float* sums, const void* a, std::int64_t rows, std::int64_t width, cudaStream_t stream) {
  row_sums_kernel<<<static_cast<unsigned>(rows), block, 0, stream>>>(sums, words_of(a), width / word);
  return cudaGetLastError();
}

cudaError_t chain_step(void* y, const void* x, std::int64_t bytes, float constant, cudaStream_t stream) {
  chain_kernel<<<blocks_for(bytes / word), block, 0, stream>>>(words_of(y), words_of(x), bytes / word, constant);
  return cudaGetLastError();
}

cudaError_t fused_chain(void* y, const void* x, std::int64_t bytes, cudaStream_t stream) {
  const Constants constants{{chain_constants[0], chain_constants[1], chain_constants[2], chain_constants[3]}};
  fused_kernel<<<blocks_for(bytes / word), block, 0, stream>>>(words_of(y), words_of(x), bytes / word, constants);
  return cudaGetLastError();
}

cudaError_t spin(std::int64_t microseconds, cudaStream_t stream) {
  constexpr std::int64_t nano = 1000;
  spin_kernel<<<1, 1, 0, stream>>>(nano * microseconds);
  return cudaGetLastError();
}

}  // namespace headroom::probes
