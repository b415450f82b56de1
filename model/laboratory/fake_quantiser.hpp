// SPDX-License-Identifier: Apache-2.0
// The cost of training with fake quantisers (Jacob et al. 2018): values are rounded to the grid of a narrow format in
// the forward pass, and gradients go straight through in the backward pass (Bengio et al. 2013). That is passes over
// memory beside products that stay in the wide format.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/workload/op_list.hpp>

namespace headroom {

/// How a library makes a fake quantiser.
enum class QuantiserForm : bool {
  fused,   ///< one kernel each way
  by_ops,  ///< a kernel for each elementary op, as eager code written op by op runs
};

/// Bytes that a fake quantiser moves for one element of `bytes` bytes, forward and backward.
/// Fused: read and written, then gradient and value read and the gradient written: 5 b.
/// By ops: multiply, round, clamp and divide read and write it each, 8 b; backward its magnitude is made, 2 b, compared
/// with the range into a mask of bytes, b + 1, which chooses of the gradient, 2 b + 1: 13 b + 2 in all.
[[nodiscard]] Bytes quantiser_traffic(QuantiserForm form, double bytes) noexcept;

/// What a network of ops quantises of one sample in int8 training (Wu et al. 2020, section 4): the inputs of products,
/// of sums and products of two tensors, and of pools. Weights are quantised once a step, whatever the batch.
struct QuantisedElements {
  double activations = 0.0;  ///< of one sample
  double weights = 0.0;
};
[[nodiscard]] QuantisedElements quantised_elements(const Network& network) noexcept;

/// Least time of one sample's forward and backward pass without quantisers: each op alone under the roofline (Williams
/// et al. 2009), its tensors read and written once; a product's backward pass is two products.
[[nodiscard]] Seconds plain_sample_time(const Network& network,
                                        FlopsPerSecond peak,
                                        BytesPerSecond bandwidth,
                                        double bytes) noexcept;

}  // namespace headroom
