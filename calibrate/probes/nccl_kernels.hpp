// SPDX-License-Identifier: Apache-2.0
// Buffers of collectives: numbers whose sums are exact in 16 bit, and a check of every element that arrives.
#pragma once

#include <headroom/calibrate/probes/nccl_numbers.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headroom::probes {

/// element_of() of every element that a rank sends, as 16-bit floats.
cudaError_t fill_rank(void* data, std::int64_t count, std::int64_t rank, cudaStream_t stream);

/// Adds the number of elements of `data`, what `rank` of `ranks` received, that are not expected_element(). `count`
/// elements arrived, `chunk` as in CollectiveCounts; `wrong` is in device memory.
cudaError_t check_rank(const void* data,
                       std::int64_t count,
                       CollectiveOp op,
                       std::int64_t rank,
                       std::int64_t ranks,
                       std::int64_t chunk,
                       unsigned long long* wrong,
                       cudaStream_t stream);

}  // namespace headroom::probes
