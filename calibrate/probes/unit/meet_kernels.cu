// SPDX-License-Identifier: Apache-2.0
// What the threads of a whole grid do to each other: wait for all, and count in the same places.
#include <headroom/calibrate/probe/probes_abi.hpp>
#include <headroom/calibrate/probes/unit/unit_kernels.hpp>

#include <cooperative_groups.h>

namespace headroom::probes {
namespace {

constexpr int block = static_cast<int>(unit_block_threads);
constexpr int small_block = static_cast<int>(unit_small_block_threads);

__global__ void sync_kernel(std::uint32_t* slots, std::uint32_t* wrong, std::uint32_t syncs, bool checked) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  volatile std::uint32_t* shown = slots;
  for (std::uint32_t sync = 1; sync <= syncs; ++sync) {
    if (checked && threadIdx.x == 0) {
      shown[blockIdx.x] = sync;
    }
    grid.sync();
    if (checked) {
      if (threadIdx.x == 0 && shown[(blockIdx.x + 1) % gridDim.x] != sync) {
        atomicAdd(wrong, 1U);
      }
      grid.sync();  // before the next number is written
    }
  }
}

__global__ void count_kernel(std::uint32_t* counters, std::uint32_t mask, int updates) {
  const std::uint32_t step = gridDim.x * block;
  std::uint32_t at = blockIdx.x * block + threadIdx.x;
  for (int i = 0; i < updates; ++i, at += step) {
    atomicAdd(&counters[at & mask], 1U);
  }
}

}  // namespace

cudaError_t grid_syncs(std::uint32_t* slots,
                       std::uint32_t* wrong,
                       std::int64_t syncs,
                       bool checked,
                       std::int64_t blocks,
                       cudaStream_t stream) {
  auto times = static_cast<std::uint32_t>(syncs);
  void* arguments[] = {&slots, &wrong, &times, &checked};
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(sync_kernel), dim3(static_cast<unsigned>(blocks)),
                                     dim3(small_block), arguments, 0, stream);
}

cudaError_t atomic_adds(
    std::uint32_t* counters, std::int64_t addresses, std::int64_t updates, std::int64_t blocks, cudaStream_t stream) {
  count_kernel<<<static_cast<unsigned>(blocks), block, 0, stream>>>(counters, static_cast<std::uint32_t>(addresses - 1),
                                                                    static_cast<int>(updates));
  return cudaGetLastError();
}

}  // namespace headroom::probes
