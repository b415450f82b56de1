// SPDX-License-Identifier: Apache-2.0
// What ranks send and must receive in a probed collective. Shared by the device, which checks every element, and by
// tests without a device.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define HEADROOM_BOTH __host__ __device__
#else
#define HEADROOM_BOTH
#endif

namespace headroom::probes {

/// Collectives in the order of model/collectives/collective.hpp, as in Request::variant.
enum class CollectiveOp : std::int32_t {  // NOLINT(performance-enum-size): Request::variant
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  all_to_all,
  reduce,
  send_recv
};

/// Elements that a rank sends and receives; `chunk` elements belong to each rank if the buffer is split.
struct CollectiveCounts {
  std::int64_t sent, received, chunk;
};

HEADROOM_BOTH inline CollectiveCounts counts_of(CollectiveOp op, std::int64_t elements, std::int64_t ranks) {
  const std::int64_t part = elements / ranks;
  switch (op) {
    case CollectiveOp::all_gather: return {part, elements, part};
    case CollectiveOp::reduce_scatter: return {elements, part, part};
    case CollectiveOp::all_to_all: return {elements, elements, part};
    default: return {elements, elements, elements};
  }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
HEADROOM_BOTH inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// Element i sent by a rank, -2 to 2: sums over a thousand ranks are integers below 2048, which a 16-bit float holds
/// exactly.
HEADROOM_BOTH inline int element_of(std::int64_t rank, std::int64_t i) {
  return static_cast<int>(mixed(static_cast<std::uint64_t>(i) ^ (static_cast<std::uint64_t>(rank) << 48)) % 5) - 2;
}

/// Element i that `rank` of `ranks` must receive. The root is rank 0; in send_recv a rank receives from the previous
/// one.
HEADROOM_BOTH inline int expected_element(
    CollectiveOp op, std::int64_t rank, std::int64_t ranks, std::int64_t chunk, std::int64_t i) {
  const std::int64_t first = op == CollectiveOp::reduce_scatter ? rank * chunk : 0;
  int sum = 0;
  switch (op) {
    case CollectiveOp::all_reduce:
    case CollectiveOp::reduce:
    case CollectiveOp::reduce_scatter:
      for (std::int64_t r = 0; r < ranks; ++r) {
        sum += element_of(r, first + i);
      }
      return sum;
    case CollectiveOp::all_gather: return element_of(i / chunk, i % chunk);
    case CollectiveOp::broadcast: return element_of(0, i);
    case CollectiveOp::all_to_all: return element_of(i / chunk, rank * chunk + i % chunk);
    case CollectiveOp::send_recv: return element_of((rank + ranks - 1) % ranks, i);
  }
  return 0;
}

}  // namespace headroom::probes
