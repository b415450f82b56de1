// SPDX-License-Identifier: Apache-2.0
// Buffers of collectives: numbers whose sums are exact in 16 bit, and a check of every element that arrives.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headroom::probes {

/// In the order of model/cost/collective.hpp, as Request::variant holds it.
enum class CollectiveOp : std::int32_t {  // NOLINT(performance-enum-size): Request::variant
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  all_to_all,
  reduce,
  send_recv
};

/// Element i of rank r is one of -2 to 2, by a hash of both: sums over a thousand ranks are whole numbers below 2048,
/// which a 16-bit float holds exactly.
cudaError_t fill_rank(void* data, std::int64_t count, std::int64_t rank, cudaStream_t stream);

/// Adds the number of elements of `data`, what `rank` of `ranks` received, that are not what fill_rank's numbers make.
/// `count` elements arrived in all; `wrong` is in device memory.
cudaError_t check_rank(const void* data,
                       std::int64_t count,
                       CollectiveOp op,
                       std::int64_t rank,
                       std::int64_t ranks,
                       unsigned long long* wrong,
                       cudaStream_t stream);

}  // namespace headroom::probes
