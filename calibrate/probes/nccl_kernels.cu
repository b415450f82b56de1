// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/nccl_kernels.hpp>

#include <cuda_fp16.h>

namespace headroom::probes {
namespace {

constexpr int block = 256;
constexpr std::int64_t most_blocks = 4096;

// SplitMix64 (Steele, Lea and Flood 2014).
__device__ std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

__device__ int element(std::int64_t rank, std::int64_t i) {
  return static_cast<int>(mixed(static_cast<std::uint64_t>(i) ^ (static_cast<std::uint64_t>(rank) << 48)) % 5) - 2;
}

__global__ void fill_kernel(__half* data, std::int64_t count, std::int64_t rank) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x; i < count; i += step) {
    data[i] = __int2half_rn(element(rank, i));
  }
}

/// What element i must be. Of collectives that cut the buffer, `chunk` elements belong to each rank.
__device__ int expected(CollectiveOp op, std::int64_t rank, std::int64_t ranks, std::int64_t chunk, std::int64_t i) {
  int sum = 0;
  switch (op) {
    case CollectiveOp::all_reduce:
    case CollectiveOp::reduce:
      for (std::int64_t r = 0; r < ranks; ++r) {
        sum += element(r, i);
      }
      return sum;
    case CollectiveOp::reduce_scatter:
      for (std::int64_t r = 0; r < ranks; ++r) {
        sum += element(r, rank * chunk + i);
      }
      return sum;
    case CollectiveOp::all_gather: return element(i / chunk, i % chunk);
    case CollectiveOp::broadcast: return element(0, i);
    case CollectiveOp::all_to_all: return element(i / chunk, rank * chunk + i % chunk);
    case CollectiveOp::send_recv: return element((rank + ranks - 1) % ranks, i);
  }
  return 0;
}

__global__ void check_kernel(const __half* data,
                             std::int64_t count,
                             CollectiveOp op,
                             std::int64_t rank,
                             std::int64_t ranks,
                             std::int64_t chunk,
                             unsigned long long* wrong) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block;
  unsigned long long here = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x; i < count; i += step) {
    // A number that is none compares as wrong too.
    here += __half2float(data[i]) == static_cast<float>(expected(op, rank, ranks, chunk, i)) ? 0 : 1;
  }
  if (here > 0) {
    atomicAdd(wrong, here);
  }
}

unsigned blocks_for(std::int64_t count) {
  const std::int64_t blocks = (count + block - 1) / block;
  return static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
}

}  // namespace

cudaError_t fill_rank(void* data, std::int64_t count, std::int64_t rank, cudaStream_t stream) {
  fill_kernel<<<blocks_for(count), block, 0, stream>>>(static_cast<__half*>(data), count, rank);
  return cudaGetLastError();
}

cudaError_t check_rank(const void* data,
                       std::int64_t count,
                       CollectiveOp op,
                       std::int64_t rank,
                       std::int64_t ranks,
                       unsigned long long* wrong,
                       cudaStream_t stream) {
  const std::int64_t chunk = op == CollectiveOp::reduce_scatter ? count : count / ranks;
  check_kernel<<<blocks_for(count), block, 0, stream>>>(static_cast<const __half*>(data), count, op, rank, ranks, chunk,
                                                        wrong);
  return cudaGetLastError();
}

}  // namespace headroom::probes
