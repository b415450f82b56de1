// SPDX-License-Identifier: Apache-2.0
// A network's list of ops as the kernels of one call.
#pragma once

#include <headroom/model/infer/call_op.hpp>
#include <headroom/model/workload/op_list.hpp>

#include <vector>

namespace headroom {

/// The forward pass of one sample, equal blocks counted. Attention becomes its two products and the softmax between
/// them, a recurrent layer one product over all steps' inputs and one a step of its state, an embedding the rows that
/// it reads, a bias a pass of its own.
[[nodiscard]] std::vector<CallOp> call_ops(const Network& network);

}  // namespace headroom
