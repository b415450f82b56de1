// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/kernels.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace headroom::probes {
namespace {

constexpr int block = 256;
constexpr int per_thread = 4;  // loads in flight per thread, enough to fill the memory pipeline with 16-byte words

// SplitMix64 (Steele, Lea and Flood 2014): an independent word for every index.
__device__ std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// Box and Muller 1958, one number of the pair.
__device__ float normal(std::uint64_t index, std::uint64_t seed) {
  const std::uint64_t bits = mixed(index ^ (seed << 40));
  const float u = (static_cast<float>(bits >> 40) + 1.0F) * 0x1p-24F;  // in (0, 1], so its logarithm is finite
  const float v = static_cast<float>(bits & 0xFFFFFFU) * 0x1p-24F;
  return sqrtf(-2.0F * logf(u)) * cospif(2.0F * v);
}

/// Stored value at place i.
template <class T>
struct Stored {
  using Word = T;
  static __device__ T at(std::uint64_t i, std::uint64_t seed) { return T(normal(i, seed)); }
};

struct Int8 {};
template <>
struct Stored<Int8> {
  using Word = std::int8_t;
  static __device__ std::int8_t at(std::uint64_t i, std::uint64_t seed) {
    constexpr float unit = 32.0F;
    constexpr float most = 127.0F;
    return static_cast<std::int8_t>(fminf(fmaxf(rintf(unit * normal(i, seed)), -most), most));
  }
};

// The magnitudes of e2m1 are 0, 1/2, 1, 3/2, 2, 3, 4, 6 (OCP Microscaling Formats 1.0, section 5.3.3); a code is the
// number of midpoints between them that the value exceeds.
__device__ unsigned e2m1_code(float value) {
  const float size = fabsf(value);
  unsigned code = 0;
  code += size > 0.25F ? 1U : 0U;
  code += size > 0.75F ? 1U : 0U;
  code += size > 1.25F ? 1U : 0U;
  code += size > 1.75F ? 1U : 0U;
  code += size > 2.5F ? 1U : 0U;
  code += size > 3.5F ? 1U : 0U;
  code += size > 5.0F ? 1U : 0U;
  return code | (value < 0.0F ? 8U : 0U);
}

struct TwoE2m1 {};
template <>
struct Stored<TwoE2m1> {
  using Word = std::uint8_t;
  static __device__ std::uint8_t at(std::uint64_t i, std::uint64_t seed) {
    return static_cast<std::uint8_t>(e2m1_code(normal(2 * i, seed)) | (e2m1_code(normal(2 * i + 1, seed)) << 4));
  }
};

struct Ue4m3Scale {};
template <>
struct Stored<Ue4m3Scale> {
  using Word = std::uint8_t;
  static __device__ std::uint8_t at(std::uint64_t i, std::uint64_t seed) {
    constexpr std::uint64_t scales = 3;
    constexpr unsigned half = 0x30;  // exponent bias 7 and three bits of mantissa, so 0x38 is 1
    constexpr unsigned octave = 8;
    return static_cast<std::uint8_t>(half + octave * static_cast<unsigned>(mixed(i ^ (seed << 40)) % scales));
  }
};

template <class T>
__global__ void fill_kernel(typename Stored<T>::Word* data, std::int64_t count, std::uint64_t seed) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x; i < count; i += step) {
    data[i] = Stored<T>::at(static_cast<std::uint64_t>(i), seed);
  }
}

template <class T>
cudaError_t fill(void* data, std::int64_t count, std::uint64_t seed, cudaStream_t stream) {
  constexpr std::int64_t most_blocks = 8192;
  const std::int64_t blocks = (count + block - 1) / block;
  fill_kernel<T><<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), block, 0, stream>>>(
      static_cast<typename Stored<T>::Word*>(data), count, seed);
  return cudaGetLastError();
}

__global__ void copy_kernel(float4* __restrict__ b, const float4* __restrict__ a, std::int64_t words) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block * per_thread + threadIdx.x;
  float4 held[per_thread];
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    if (first + j * block < words) {
      held[j] = a[first + j * block];
    }
  }
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    if (first + j * block < words) {
      b[first + j * block] = held[j];
    }
  }
}

__device__ float4 sum(float4 b, float4 c) {
  constexpr float scalar = 3.0F;
  return {b.x + scalar * c.x, b.y + scalar * c.y, b.z + scalar * c.z, b.w + scalar * c.w};
}

__global__ void triad_kernel(float4* __restrict__ a,
                             const float4* __restrict__ b,
                             const float4* __restrict__ c,
                             std::int64_t words) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block * per_thread + threadIdx.x;
  float4 left[per_thread];
  float4 right[per_thread];
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    if (first + j * block < words) {
      left[j] = b[first + j * block];
      right[j] = c[first + j * block];
    }
  }
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    if (first + j * block < words) {
      a[first + j * block] = sum(left[j], right[j]);
    }
  }
}

__global__ void empty_kernel() {}

constexpr std::int64_t word = sizeof(float4);

unsigned blocks_for(std::int64_t words) {
  return static_cast<unsigned>((words + block * per_thread - 1) / (block * per_thread));
}

}  // namespace

cudaError_t fill_normal(void* data, std::int64_t count, Element element, std::uint64_t seed, cudaStream_t stream) {
  switch (element) {
    case Element::bf16: return fill<__nv_bfloat16>(data, count, seed, stream);
    case Element::fp16: return fill<__half>(data, count, seed, stream);
    case Element::fp32: return fill<float>(data, count, seed, stream);
    case Element::e4m3: return fill<__nv_fp8_e4m3>(data, count, seed, stream);
    case Element::e5m2: return fill<__nv_fp8_e5m2>(data, count, seed, stream);
    case Element::int8: return fill<Int8>(data, count, seed, stream);
    case Element::e2m1: return fill<TwoE2m1>(data, count / 2, seed, stream);
    case Element::ue4m3_scale: return fill<Ue4m3Scale>(data, count, seed, stream);
  }
  return cudaErrorInvalidValue;
}

cudaError_t copy(void* b, const void* a, std::int64_t bytes, cudaStream_t stream) {
  copy_kernel<<<blocks_for(bytes / word), block, 0, stream>>>(static_cast<float4*>(b), static_cast<const float4*>(a),
                                                              bytes / word);
  return cudaGetLastError();
}

cudaError_t triad(void* a, const void* b, const void* c, std::int64_t bytes, cudaStream_t stream) {
  triad_kernel<<<blocks_for(bytes / word), block, 0, stream>>>(static_cast<float4*>(a), static_cast<const float4*>(b),
                                                               static_cast<const float4*>(c), bytes / word);
  return cudaGetLastError();
}

cudaError_t empty(cudaStream_t stream) {
  empty_kernel<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

cudaError_t kernels_loadable() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, empty_kernel);
}

}  // namespace headroom::probes
