// SPDX-License-Identifier: Apache-2.0
// Fills buffers of collectives with numbers whose sums are exact in 16 bit, and checks every element that arrives.
#pragma once

#include <headroom/calibrate/probes/nccl/nccl_numbers.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headroom::probes {

/// Fills the elements that a rank sends with element_of(), as 16-bit floats.
cudaError_t fill_rank(void* data, std::int64_t count, std::int64_t rank, cudaStream_t stream);

/// Adds to `wrong` (in device memory) the number of elements in `data`, received by `rank` of `ranks`, that differ from
/// expected_element(). `count` elements arrived; `chunk` as in CollectiveCounts.
cudaError_t check_rank(const void* data,
                       std::int64_t count,
                       CollectiveOp op,
                       std::int64_t rank,
                       std::int64_t ranks,
                       std::int64_t chunk,
                       unsigned long long* wrong,
                       cudaStream_t stream);

}  // namespace headroom::probes
