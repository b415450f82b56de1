// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/attention_graph.hpp>

#ifdef HEADROOM_HAVE_CUDNN

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headroom::probes {
namespace {

using Sizes4 = std::array<std::int64_t, 4>;

/// Ids of the graph's inputs and outputs; ids inside the graph continue from the last.
enum Uid : std::int64_t {
  uid_q = 1,
  uid_k,
  uid_v,
  uid_o,
  uid_statistics,
  uid_dout,
  uid_dq,
  uid_dk,
  uid_dv,
  uid_scale,
  uid_masked,
  uid_row_sums,
  uid_dq_sums,
  uid_dk_heads,
  uid_dv_heads,
  uid_inner
};

/// Row-major strides.
Sizes4 packed(const Sizes4& d) {
  return {d[1] * d[2] * d[3], d[2] * d[3], d[3], 1};
}

class Builder {
 public:
  Builder(const AttentionSizes& sizes, std::vector<Descriptor>& kept) : s_{sizes}, kept_{&kept} {
    kept.reserve(most_descriptors);  // reserved, because descriptors refer to each other by place
  }

  using Place = std::size_t;

  /// A tensor [batch, tokens, heads, head_dim] in memory; `transposed` views keys as head_dim x tokens.
  Place rows(std::int64_t uid, std::int64_t heads, bool transposed = false) {
    const std::int64_t token = heads * s_.head_dim;
    const Sizes4 dims{s_.batch, heads, s_.tokens, s_.head_dim};
    const Sizes4 strides{s_.tokens * token, s_.head_dim, token, 1};
    return transposed ? tensor(uid, CUDNN_DATA_BFLOAT16, {dims[0], dims[1], dims[3], dims[2]},
                               {strides[0], strides[1], strides[3], strides[2]}, false, false)
                      : tensor(uid, CUDNN_DATA_BFLOAT16, dims, strides, false, false);
  }
  /// A row-major tensor in memory.
  Place stored(std::int64_t uid, const Sizes4& dims, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    return tensor(uid, type, dims, packed(dims), false, false);
  }
  /// A number passed by the host.
  Place number(std::int64_t uid) { return tensor(uid, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, false, true); }
  /// A tensor inside the graph.
  Place inner(const Sizes4& dims, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    return tensor(next_++, type, dims, packed(dims), true, false);
  }
  Place scores(cudnnDataType_t type = CUDNN_DATA_FLOAT) { return inner(score_sizes(), type); }
  [[nodiscard]] Sizes4 score_sizes() const { return {s_.batch, s_.heads, s_.tokens, s_.tokens}; }
  [[nodiscard]] Sizes4 row_sizes() const { return {s_.batch, s_.heads, s_.tokens, 1}; }
  [[nodiscard]] Sizes4 query_sizes() const { return {s_.batch, s_.heads, s_.tokens, s_.head_dim}; }

  void product(Place a, Place b, Place c) {
    Descriptor math{CUDNN_BACKEND_MATMUL_DESCRIPTOR};
    math.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    const Place of = keep(std::move(math), "matmul");
    Descriptor op{CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR};
    op.link(CUDNN_ATTR_OPERATION_MATMUL_ADESC, at(a));
    op.link(CUDNN_ATTR_OPERATION_MATMUL_BDESC, at(b));
    op.link(CUDNN_ATTR_OPERATION_MATMUL_CDESC, at(c));
    op.link(CUDNN_ATTR_OPERATION_MATMUL_DESC, at(of));
    operation(std::move(op), "matmul operation");
  }

  /// y = mode(x), or mode(x, b); with `choice`, x where it is true and b elsewhere.
  Place pointwise(
      cudnnPointwiseMode_t mode, Place x, Place y, const Place* b = nullptr, const Place* choice = nullptr) {
    const Place of = point(mode, CUDNN_DATA_FLOAT, -1);
    apply(of, x, y, b, choice);
    return y;
  }

  void reduce(cudnnReduceTensorOp_t mode, Place x, Place y) {
    Descriptor math{CUDNN_BACKEND_REDUCTION_DESCRIPTOR};
    math.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, mode);
    math.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    const Place of = keep(std::move(math), "reduction");
    Descriptor op{CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR};
    op.link(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, at(x));
    op.link(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, at(y));
    op.link(CUDNN_ATTR_OPERATION_REDUCTION_DESC, at(of));
    operation(std::move(op), "reduction operation");
  }

  /// The same numbers with other strides.
  void reshape(Place x, Place y) {
    Descriptor op{CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR};
    op.link(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, at(x));
    op.link(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, at(y));
    operation(std::move(op), "reshape operation");
  }

  /// Scores q k^T scale, masked.
  Place masked_scores(Place q, Place k_transposed) {
    const Place raw = scores();
    product(q, k_transposed, raw);
    const Place scale = number(uid_scale);
    const Place scaled = pointwise(CUDNN_POINTWISE_MUL, raw, scores(), &scale);
    if (!s_.causal) {
      return scaled;
    }
    const Place row = scores(CUDNN_DATA_INT32);
    const Place column = scores(CUDNN_DATA_INT32);
    constexpr std::int64_t rows_axis = 2;
    constexpr std::int64_t columns_axis = 3;
    apply(point(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, rows_axis), scaled, row, nullptr, nullptr);
    apply(point(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, columns_axis), scaled, column, nullptr, nullptr);
    const Place seen = scores(CUDNN_DATA_BOOLEAN);
    apply(point(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, -1), row, seen, &column, nullptr);
    const Place masked = number(uid_masked);
    return pointwise(CUDNN_POINTWISE_BINARY_SELECT, scaled, scores(), &masked, &seen);
  }

  [[nodiscard]] const Descriptor& at(Place place) const { return (*kept_)[place]; }
  [[nodiscard]] const std::vector<cudnnBackendDescriptor_t>& operations() const { return operations_; }

  Place keep(Descriptor descriptor, const char* what) {
    descriptor.finalize(what);
    kept_->push_back(std::move(descriptor));
    return kept_->size() - 1;
  }

 private:
  static constexpr std::size_t most_descriptors = 128;

  Place tensor(
      std::int64_t uid, cudnnDataType_t type, const Sizes4& dims, const Sizes4& strides, bool inside, bool by_value) {
    constexpr std::int64_t alignment = 16;
    Descriptor made{CUDNN_BACKEND_TENSOR_DESCRIPTOR};
    made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, uid);
    made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
    made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims.data());
    made.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides.data());
    made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment);
    made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, inside);
    made.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, by_value);
    return keep(std::move(made), "tensor");
  }

  Place point(cudnnPointwiseMode_t mode, cudnnDataType_t precision, std::int64_t axis) {
    Descriptor math{CUDNN_BACKEND_POINTWISE_DESCRIPTOR};
    math.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
    math.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, precision);
    if (axis >= 0) {
      math.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, axis);
    }
    return keep(std::move(math), "pointwise");
  }

  void apply(Place math, Place x, Place y, const Place* b, const Place* choice) {
    Descriptor op{CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR};
    op.link(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, at(math));
    op.link(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, at(x));
    op.link(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, at(y));
    if (b != nullptr) {
      op.link(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, at(*b));
    }
    if (choice != nullptr) {
      op.link(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, at(*choice));
    }
    operation(std::move(op), "pointwise operation");
  }

  void operation(Descriptor op, const char* what) { operations_.push_back(at(keep(std::move(op), what)).get()); }

  AttentionSizes s_;
  std::vector<Descriptor>* kept_;
  std::vector<cudnnBackendDescriptor_t> operations_;
  std::int64_t next_ = uid_inner;
};

void add_forward(Builder& g, const AttentionSizes& s) {
  using Place = Builder::Place;
  const Place scores = g.masked_scores(g.rows(uid_q, s.heads), g.rows(uid_k, s.kv_heads, true));
  const Place highest = g.inner(g.row_sizes());
  g.reduce(CUDNN_REDUCE_TENSOR_MAX, scores, highest);
  const Place below = g.pointwise(CUDNN_POINTWISE_SUB, scores, g.scores(), &highest);
  const Place powers = g.pointwise(CUDNN_POINTWISE_EXP, below, g.scores());
  const Place sums = g.inner(g.row_sizes());
  g.reduce(CUDNN_REDUCE_TENSOR_ADD, powers, sums);
  const Place logs = g.pointwise(CUDNN_POINTWISE_LOG, sums, g.inner(g.row_sizes()));
  g.pointwise(CUDNN_POINTWISE_ADD, highest, g.stored(uid_statistics, g.row_sizes()), &logs);
  const Place shares = g.pointwise(CUDNN_POINTWISE_DIV, powers, g.scores(CUDNN_DATA_BFLOAT16), &sums);
  g.product(shares, g.rows(uid_v, s.kv_heads), g.rows(uid_o, s.heads));
}

/// c = a^T b for scores a, summed over the query heads of a group that shares a key head.
void add_key_gradient(
    Builder& g, const AttentionSizes& s, Builder::Place a, Builder::Place b, Uid gradient, Uid heads) {
  const Builder::Place turned = g.inner(g.score_sizes(), CUDNN_DATA_BFLOAT16);
  g.reshape(a, turned);
  if (!grouped(s)) {
    g.product(turned, b, g.rows(gradient, s.kv_heads));
    return;
  }
  const Builder::Place of_heads = g.stored(heads, g.query_sizes(), CUDNN_DATA_BFLOAT16);
  g.product(turned, b, of_heads);
  g.reduce(CUDNN_REDUCE_TENSOR_ADD, of_heads, g.rows(gradient, s.kv_heads));
}

void add_backward(Builder& g, const AttentionSizes& s) {
  using Place = Builder::Place;
  const Place dout = g.rows(uid_dout, s.heads);
  const Place q = g.rows(uid_q, s.heads);
  const Place o = g.rows(uid_o, s.heads);
  const Place weighted = g.pointwise(CUDNN_POINTWISE_MUL, dout, g.inner(g.query_sizes()), &o);
  const Place row_sums = g.stored(uid_row_sums, g.row_sizes());
  g.reduce(CUDNN_REDUCE_TENSOR_ADD, weighted, row_sums);
  const Place scores = g.masked_scores(q, g.rows(uid_k, s.kv_heads, true));
  const Place statistics = g.stored(uid_statistics, g.row_sizes());
  const Place below = g.pointwise(CUDNN_POINTWISE_SUB, scores, g.scores(), &statistics);
  const Place shares = g.pointwise(CUDNN_POINTWISE_EXP, below, g.scores());
  add_key_gradient(g, s, shares, dout, uid_dv, uid_dv_heads);
  const Place dshares = g.scores();
  g.product(dout, g.rows(uid_v, s.kv_heads, true), dshares);
  const Place centred = g.pointwise(CUDNN_POINTWISE_SUB, dshares, g.scores(), &row_sums);
  const Place product = g.pointwise(CUDNN_POINTWISE_MUL, centred, g.scores(), &shares);
  const Place scale = g.number(uid_scale);
  const Place dscores = g.pointwise(CUDNN_POINTWISE_MUL, product, g.scores(CUDNN_DATA_BFLOAT16), &scale);
  add_key_gradient(g, s, dscores, q, uid_dk, uid_dk_heads);
  const Place dq_sums = g.stored(uid_dq_sums, g.query_sizes());
  g.product(dscores, g.rows(uid_k, s.kv_heads), dq_sums);
  g.pointwise(CUDNN_POINTWISE_IDENTITY, dq_sums, g.rows(uid_dq, s.heads));
}

}  // namespace

AttentionPlan::AttentionPlan(const AttentionSizes& sizes, bool backward, const PlanTarget& target)
    : sizes_{sizes},
      backward_{backward},
      scale_{static_cast<float>(1.0 / std::sqrt(static_cast<double>(sizes.head_dim)))},
      masked_{std::numeric_limits<float>::lowest()} {
  Builder builder{sizes, kept_};
  backward ? add_backward(builder, sizes) : add_forward(builder, sizes);
  const std::vector<cudnnBackendDescriptor_t>& operations = builder.operations();
  Descriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(operations.size()),
            operations.data());
  if (target.handle != nullptr) {
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, target.handle);
  }
  const Builder::Place at = builder.keep(std::move(graph), "operation graph");
  choose(builder.at(at), target);
}

void AttentionPlan::choose(const Descriptor& graph, const PlanTarget& target) {
  Descriptor heuristic{CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR};
  heuristic.link(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A);
  if (target.described != nullptr) {
    heuristic.link(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.described);
  }
  heuristic.finalize("heuristic of the attention graph");
  std::int64_t count = 0;
  check_cudnn(cudnn().get_attribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                                    &count, nullptr),
              "engines of the attention graph");
  std::vector<Descriptor> configs;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < count; ++i) {
    configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    raw.push_back(configs.back().get());
  }
  check_cudnn(cudnn().get_attribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                    count, &count, raw.data()),
              "engines of the attention graph");
  std::string last = "its heuristic proposes none";
  for (std::int64_t i = 0; i < std::min(count, static_cast<std::int64_t>(configs.size())); ++i) {
    try {
      ++tried_;
      Descriptor plan{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
      plan.link(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configs[static_cast<std::size_t>(i)]);
      if (target.handle != nullptr) {
        plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, target.handle);
      }
      if (target.described != nullptr) {
        plan.link(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.described);
      }
      plan.finalize("plan of the attention graph");
      std::int64_t got = 0;
      check_cudnn(cudnn().get_attribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &got,
                                        &workspace_),
                  "workspace of the attention graph");
      plan_ = std::move(plan);
      kept_.push_back(std::move(configs[static_cast<std::size_t>(i)]));
      return;
    } catch (const Refused& refusal) {
      last = refusal.what();
    }
  }
  throw Refused{"cuDNN has no fused kernel for this attention on this device; the last of its reasons: " + last};
}

Descriptor AttentionPlan::bind(const AttentionTensors& t, void* workspace) const {
  std::vector<std::int64_t> uids{uid_q, uid_k, uid_v, uid_o, uid_statistics, uid_scale};
  // The API takes pointers to non-const, also for inputs.
  std::vector<void*> places{t.q, t.k, t.v, t.o, t.statistics, const_cast<float*>(&scale_)};  // NOLINT(*-const-cast)
  const auto add = [&](std::int64_t uid, void* place) {
    uids.push_back(uid);
    places.push_back(place);
  };
  if (sizes_.causal) {
    add(uid_masked, const_cast<float*>(&masked_));  // NOLINT(*-const-cast)
  }
  if (backward_) {
    add(uid_dout, t.dout);
    add(uid_dq, t.dq);
    add(uid_dk, t.dk);
    add(uid_dv, t.dv);
    add(uid_row_sums, t.row_sums);
    add(uid_dq_sums, t.dq_sums);
    if (grouped(sizes_)) {
      add(uid_dk_heads, t.dk_heads);
      add(uid_dv_heads, t.dv_heads);
    }
  }
  Descriptor bound{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
  const auto count = static_cast<std::int64_t>(uids.size());
  bound.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, uids.data());
  bound.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, places.data());
  bound.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
  bound.finalize("pointers of the attention graph");
  return bound;
}

void AttentionPlan::execute(cudnnHandle_t handle, const Descriptor& bound) const {
  check_cudnn(cudnn().execute(handle, plan_.get(), bound.get()), "cudnnBackendExecute");
}

}  // namespace headroom::probes

#endif
