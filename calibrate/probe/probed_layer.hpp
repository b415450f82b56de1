// SPDX-License-Identifier: Apache-2.0
// The kernels of a layer, one after another.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>

#include <cstdint>
#include <vector>

namespace headroom {

struct ProbedKernel {
  Probe probe;             ///< a product, an attention or a decode attention
  std::int64_t count = 1;  ///< times in a row; experts are so many products of one shape, each with its own weight
};

/// In the order of the pass. Each keeps so many copies of its operands that none is still in L2 when its turn comes.
[[nodiscard]] std::vector<ProbedKernel> kernels_of(const LayerProbe& probe);
/// FLOP of all products and attentions; attention as AttentionProbe counts it, that of a decode left out.
[[nodiscard]] Flops flops_of(const LayerProbe& probe);
/// Bytes that an iteration must read: the weights of the products and the cache of keys and values.
[[nodiscard]] Bytes read_bytes_of(const LayerProbe& probe);

}  // namespace headroom
