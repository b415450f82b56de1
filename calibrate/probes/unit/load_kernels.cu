// SPDX-License-Identifier: Apache-2.0
// Loads from memory: neighbours apart, places at random, and few CTAs an SM.
#include <headroom/calibrate/probe/probes_abi.hpp>
#include <headroom/calibrate/probes/unit/unit_kernels.hpp>

namespace headroom::probes {
namespace {

constexpr int block = static_cast<int>(unit_block_threads);
constexpr int small_block = static_cast<int>(unit_small_block_threads);
constexpr int warp = 32;
constexpr int per_thread = 8;  // enough 4-byte loads in flight to fill the memory pipeline
static_assert(block * per_thread == loads_per_block);

/// Writes the CTA's sum.
template <int threads>
__device__ void write_sum(float* sums, float value) {
  __shared__ float of_warp[threads / warp];
  for (int lane = warp / 2; lane > 0; lane /= 2) {
    value += __shfl_down_sync(0xFFFFFFFFU, value, lane);
  }
  if (threadIdx.x % warp == 0) {
    of_warp[threadIdx.x / warp] = value;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0F;
    for (float part : of_warp) {
      sum += part;
    }
    sums[blockIdx.x] = sum;
  }
}

__device__ void write_sum_of(float* sums, const float (&held)[per_thread]) {
  float sum = 0.0F;
#pragma unroll
  for (float number : held) {
    sum += number;
  }
  write_sum<block>(sums, sum);
}

__global__ void strided_kernel(float* __restrict__ sums, const float* __restrict__ a, std::int64_t stride) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * loads_per_block + threadIdx.x;
  float held[per_thread];
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    held[j] = a[(first + j * block) * stride];
  }
  write_sum_of(sums, held);
}

/// Permutation: odd factors and right shifts are one-to-one on the numbers below a power of two.
__host__ __device__ std::uint32_t mixed(std::uint32_t i, std::uint32_t mask, int shift) {
  std::uint32_t x = (i * 0x9E3779B1U) & mask;
  x ^= x >> shift;
  x = (x * 0x85EBCA6BU) & mask;
  return x ^ (x >> shift);
}

struct Places {
  std::uint32_t mask;
  int shift;
};

Places places_below(std::int64_t places) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < places) {
    ++bits;
  }
  return {static_cast<std::uint32_t>(places - 1), bits > 1 ? bits / 2 : 1};
}

__global__ void random_kernel(float* __restrict__ sums,
                              const float* __restrict__ a,
                              std::uint32_t first_load,
                              Places places) {
  const std::uint32_t first = first_load + blockIdx.x * static_cast<std::uint32_t>(loads_per_block) + threadIdx.x;
  float held[per_thread];
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    held[j] = a[mixed(first + j * block, places.mask, places.shift)];
  }
  write_sum_of(sums, held);
}

// Not unrolled, so that the next word is asked for when the last has come.
__global__ void limited_kernel(float* __restrict__ sums, const float4* __restrict__ a, std::int64_t words) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * small_block;
  float sum = 0.0F;
#pragma unroll 1
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * small_block + threadIdx.x; i < words; i += step) {
    const float4 word = a[i];
    sum += (word.x + word.y) + (word.z + word.w);
  }
  write_sum<small_block>(sums, sum);
}

}  // namespace

std::int64_t random_place(std::int64_t i, std::int64_t places) {
  const Places below = places_below(places);
  return mixed(static_cast<std::uint32_t>(i), below.mask, below.shift);
}

cudaError_t strided_loads(float* sums, const float* a, std::int64_t loads, std::int64_t stride, cudaStream_t stream) {
  strided_kernel<<<static_cast<unsigned>(loads / loads_per_block), block, 0, stream>>>(sums, a, stride);
  return cudaGetLastError();
}

cudaError_t random_loads(
    float* sums, const float* a, std::int64_t first, std::int64_t loads, std::int64_t places, cudaStream_t stream) {
  random_kernel<<<static_cast<unsigned>(loads / loads_per_block), block, 0, stream>>>(
      sums, a, static_cast<std::uint32_t>(first), places_below(places));
  return cudaGetLastError();
}

cudaError_t shared_bytes_for(std::int64_t blocks_per_sm, std::int64_t* bytes, std::int64_t* reached) {
  int device = 0;
  int of_sm = 0;
  int of_block = 0;
  int reserved = 0;
  cudaFuncAttributes own{};
  cudaError_t status = cudaGetDevice(&device);
  const auto ask = [&](int* value, cudaDeviceAttr attribute) {
    status = status == cudaSuccess ? cudaDeviceGetAttribute(value, attribute, device) : status;
  };
  ask(&of_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  ask(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  ask(&reserved, cudaDevAttrReservedSharedMemoryPerBlock);
  status = status == cudaSuccess ? cudaFuncGetAttributes(&own, limited_kernel) : status;
  if (status != cudaSuccess) {
    return status;
  }
  constexpr std::int64_t granularity = 128;  // of an allocation
  const auto held = static_cast<std::int64_t>(own.sharedSizeBytes);
  std::int64_t dynamic = 0;
  if (blocks_per_sm > 0) {
    const std::int64_t room = of_sm / blocks_per_sm - reserved;
    dynamic = (room < of_block ? room : of_block) / granularity * granularity -
              (held + granularity - 1) / granularity * granularity;
    dynamic = dynamic > 0 ? dynamic : 0;
  }
  status = cudaFuncSetAttribute(limited_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(dynamic));
  if (status == cudaSuccess) {
    status = cudaFuncSetAttribute(limited_kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  blocks_per_sm > 0 ? static_cast<int>(cudaSharedmemCarveoutMaxShared)
                                                    : static_cast<int>(cudaSharedmemCarveoutDefault));
  }
  int found = 0;
  if (status == cudaSuccess) {
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, limited_kernel, small_block,
                                                           static_cast<std::size_t>(dynamic));
  }
  *bytes = dynamic;
  *reached = found;
  return status;
}

cudaError_t limited_read(float* sums,
                         const void* a,
                         std::int64_t words,
                         std::int64_t blocks,
                         std::int64_t shared_bytes,
                         cudaStream_t stream) {
  limited_kernel<<<static_cast<unsigned>(blocks), small_block, static_cast<std::size_t>(shared_bytes), stream>>>(
      sums, static_cast<const float4*>(a), words);
  return cudaGetLastError();
}

}  // namespace headroom::probes
