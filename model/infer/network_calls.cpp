// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/infer/network_calls.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// Winograd's form serves planes of two dimensions (Lavin and Gray 2016); below 16 channels its transforms cost more
/// than they save.
[[nodiscard]] bool takes_winograd(const Op& op) noexcept {
  const OpSizes& s = op.sizes;
  return op.kind == OpKind::conv && s.dimensions == 2 && s.groups == 1.0 && s.in >= 16.0 &&
         std::all_of(s.kernel.begin(), s.kernel.begin() + 2, [](double side) { return side == 3.0; }) &&
         std::all_of(s.stride.begin(), s.stride.begin() + 2, [](double step) { return step == 1.0; }) &&
         std::all_of(s.dilation.begin(), s.dilation.begin() + 2, [](double step) { return step == 1.0; });
}

[[nodiscard]] CallOpKind product_kind(const Op& op) noexcept {
  switch (op.kind) {
    case OpKind::conv:
    case OpKind::conv_transpose:
      if (is_depthwise(op)) {
        return CallOpKind::depthwise;
      }
      return op.sizes.groups > 1.0 ? CallOpKind::grouped
             : takes_winograd(op)  ? CallOpKind::winograd
                                   : CallOpKind::convolution;
    case OpKind::attention:
    case OpKind::product: return CallOpKind::product;
    default: return CallOpKind::linear;
  }
}

[[nodiscard]] CallOpKind pass_kind(const Op& op) noexcept {
  switch (op.kind) {
    case OpKind::norm: return op.function == "batch" ? CallOpKind::batch_norm : CallOpKind::layer_norm;
    case OpKind::gather:
    case OpKind::embedding_bag: return CallOpKind::gather;
    case OpKind::elementwise:
      if (op.function == "softmax") {
        return CallOpKind::softmax;
      }
      if (op.function == "add" || op.function == "mul") {
        return CallOpKind::add;
      }
      return op.primitives > 1.0 ? CallOpKind::pointwise : CallOpKind::activation;
    default: return CallOpKind::move;
  }
}

class Calls {
 public:
  void add(const Op& op, double blocks, double passes) {
    blocks_ = blocks;
    passes_ = passes;
    if (multiplies(op.kind)) {
      op.kind == OpKind::attention ? add_attention(op) : add_products(op);
    } else {
      CallOp call;
      call.kind = pass_kind(op);
      stack_.clear();
      call.in = op.input_elements;
      call.out = op.output_elements;
      if (op.kind == OpKind::embedding_bag) {
        call.in = op.weight_elements;  // the rows that a sample looks up, each read where it lies
      }
      call.primitives = op.primitives;
      if (op.once) {
        call.grows = BatchGrows::nothing;
      }
      push(call);
    }
  }
  [[nodiscard]] std::vector<CallOp> take() { return std::move(calls_); }

 private:
  /// A sample's passes over the same weights are more rows, or more groups, of one kernel.
  void push(CallOp call) {
    if (call.grows != BatchGrows::nothing) {
      (call.grows == BatchGrows::groups ? call.groups : call.m) *= passes_;
      call.in *= passes_;
      call.out *= passes_;
      call.scores *= passes_;
    }
    call.count *= blocks_;
    calls_.push_back(call);
  }

  [[nodiscard]] static CallOp sized(const OpProduct& product, CallOpKind kind) noexcept {
    CallOp call;
    call.kind = kind;
    call.grows = product.batch_in_groups ? BatchGrows::groups : BatchGrows::rows;
    call.m = product.m;
    call.n = product.n;
    call.k = product.k;
    call.groups = product.groups;
    call.count = product.count;
    return call;
  }

  void add_products(const Op& op) {
    const std::vector<OpProduct> products = products_of(op);
    if (op.kind != OpKind::recurrent) {
      stack_.clear();
    }
    for (std::size_t i = 0; i < products.size(); ++i) {
      const OpProduct& p = products[i];
      const bool step = op.kind == OpKind::recurrent && i % 2 == 1;
      CallOp call = sized(p, step ? CallOpKind::recurrent : product_kind(op));
      if (op.kind == OpKind::recurrent) {
        call.in = p.m * p.k * p.groups;
        call.out = p.m * p.n * p.groups;
        call.weights = p.k * p.n * p.groups;
        if (step) {
          // Another number of steps: what stands between the layers folds frames together.
          if (!stack_.empty() && calls_[stack_.back()].count != call.count * blocks_) {
            stack_.clear();
          }
          stack_.push_back(calls_.size());
        }
      } else {
        call.in = op.input_elements;
        call.out = op.output_elements;
        call.weights = op.weight_elements;
      }
      if (op.once) {
        call.grows = BatchGrows::nothing;
      }
      push(call);
    }
    for (const std::size_t layer : stack_) {
      calls_[layer].beside = static_cast<double>(stack_.size());
    }
    if (op.sizes.bias && op.kind != OpKind::recurrent) {
      CallOp bias;
      bias.kind = CallOpKind::bias;
      bias.in = op.output_elements;
      bias.out = op.output_elements;
      push(bias);
    }
  }

  void add_attention(const Op& op) {
    stack_.clear();
    const std::vector<OpProduct> products = products_of(op);
    const double scores = op.sizes.heads * op.sizes.rows * op.sizes.context;
    const double values = op.sizes.kv_heads * op.sizes.width * op.sizes.context * op.sizes.windows;
    for (std::size_t i = 0; i < products.size(); ++i) {
      CallOp call = sized(products[i], CallOpKind::product);
      call.in_attention = true;
      call.causal = op.sizes.causal;
      call.scores = scores;
      call.in = i == 0 ? op.output_elements + values : scores + values;
      call.out = i == 0 ? scores : op.output_elements;
      push(call);
      if (i == 0) {
        CallOp softmax;
        softmax.kind = CallOpKind::softmax;
        softmax.in_attention = true;
        softmax.in = softmax.out = scores;
        softmax.primitives = 3.0;
        push(softmax);
      }
    }
  }

  double blocks_ = 1.0, passes_ = 1.0;
  std::vector<CallOp> calls_;
  std::vector<std::size_t> stack_;  ///< steps of recurrent layers that follow each other with nothing between
};

}  // namespace

std::vector<CallOp> call_ops(const Network& network) {
  Calls calls;
  for (const Stage& stage : network.stages) {
    for (std::size_t i = stage.first; i < stage.first + stage.count; ++i) {
      calls.add(network.ops[i], static_cast<double>(stage.repeat), stage.per_sample);
    }
  }
  return calls.take();
}

}  // namespace headroom
