// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/nccl/nccl_kernels.hpp>

#include <cuda_fp16.h>

namespace headroom::probes {
namespace {

constexpr int block = 256;
constexpr std::int64_t most_blocks = 4096;

__global__ void fill_kernel(__half* data, std::int64_t count, std::int64_t rank) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x; i < count; i += step) {
    data[i] = __int2half_rn(element_of(rank, i));
  }
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
    // NaN counts as wrong too.
    here += __half2float(data[i]) == static_cast<float>(expected_element(op, rank, ranks, chunk, i)) ? 0 : 1;
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
                       std::int64_t chunk,
                       unsigned long long* wrong,
                       cudaStream_t stream) {
  check_kernel<<<blocks_for(count), block, 0, stream>>>(static_cast<const __half*>(data), count, op, rank, ranks, chunk,
                                                        wrong);
  return cudaGetLastError();
}

}  // namespace headroom::probes
