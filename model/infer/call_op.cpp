// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/infer/call_op.hpp>

namespace headroom {
namespace {

/// Traffic of a gradient over that of its forward pass, and launches over its launches; nothing: no pass of its own.
struct BackwardPass {
  double traffic = 0.0, launches = 0.0;
};

// A batch norm reads its input and gradient for two sums and both again for the gradient: five tensors beside the three
// of forward training. The others: what PyTorch's and TensorFlow's kernels read and write, fitted together on 222
// one-GPU steps (docs/networks.md).
constexpr BackwardPass backward_of(CallOpKind kind) noexcept {
  switch (kind) {
    case CallOpKind::batch_norm: return {2.5, 1.2};
    case CallOpKind::activation: return {1.5, 1.2};
    case CallOpKind::pointwise: return {1.6, 1.2};
    case CallOpKind::softmax: return {1.5, 1.2};  // attention's: and the dropout's
    case CallOpKind::layer_norm: return {1.8, 1.2};
    case CallOpKind::move: return {1.0, 1.2};
    case CallOpKind::gather: return {2.5, 1.2};
    case CallOpKind::bias: return {0.6, 1.2};
    default: return {};  // an addition hands its gradient on
  }
}

/// Attention's probabilities are dropped out in training (Vaswani et al. 2017, section 5.4; Devlin et al. 2019,
/// appendix A.2): read and written once more, forward and backward. Fused kernels do it on the chip.
constexpr bool drops_out(const CallOp& op) noexcept {
  return op.kind == CallOpKind::softmax && op.in_attention;
}

void add_product_gradients(const CallOp& op, std::vector<CallOp>& ops) {
  CallOp input = op;
  input.n = op.k;
  input.k = op.n;
  input.in = op.out;
  input.out = op.in;
  ops.push_back(input);
  CallOp weights = op;
  if (op.grows == BatchGrows::groups) {  // the other factor, itself an activation
    weights.m = op.k;
    weights.k = op.m;
    weights.in = op.in + op.out;
    weights.out = op.in;
    ops.push_back(weights);
    return;
  }
  weights.grows = BatchGrows::depth;
  weights.weight_gradient = true;
  weights.m = op.k;
  weights.k = op.m;
  weights.in = op.in + op.out;
  weights.out = 0.0;
  if (op.kind == CallOpKind::recurrent) {
    weights.kind = CallOpKind::linear;
    weights.k *= op.count;
    weights.in *= op.count;
    weights.count = 1.0;
  } else if (op.kind == CallOpKind::winograd) {
    weights.kind = CallOpKind::convolution;
  }
  ops.push_back(weights);
}

}  // namespace

std::vector<CallOp> training_ops(const std::vector<CallOp>& forward) {
  std::vector<CallOp> ops;
  ops.reserve(forward.size() * 3);
  for (const CallOp& op : forward) {
    ops.push_back(op);
    if (op.kind == CallOpKind::batch_norm) {
      ops.back().traffic *= 1.5;  // statistics are a pass of their own: read, read and write
    } else if (drops_out(op)) {
      ops.back().traffic += 1.0;
      ops.back().launches += 1.0;
    }
  }
  for (auto op = forward.rbegin(); op != forward.rend(); ++op) {
    if (multiplies(op->kind)) {
      add_product_gradients(*op, ops);
    } else if (const BackwardPass pass = backward_of(op->kind); pass.traffic > 0.0) {
      CallOp gradient = *op;
      const double dropout = drops_out(*op) ? 1.0 : 0.0;
      gradient.traffic *= pass.traffic + dropout;
      gradient.launches *= pass.launches + dropout;
      ops.push_back(gradient);
    }
  }
  return ops;
}

}  // namespace headroom
