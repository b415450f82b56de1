// SPDX-License-Identifier: Apache-2.0
// Attention of a training step by cuDNN, forward or backward: checked, then timed.
#include <headroom/calibrate/probes/attention_graph.hpp>
#include <headroom/calibrate/probes/device_rows.hpp>
#include <headroom/calibrate/probes/kernels.hpp>
#include <headroom/calibrate/probes/prepared.hpp>
#include <headroom/calibrate/probes/session.hpp>
#include <headroom/calibrate/probes/timing.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace headroom::probes {

#ifdef HEADROOM_HAVE_CUDNN

namespace {

constexpr std::int64_t half_bytes = 2;
constexpr std::int64_t float_bytes = 4;

AttentionSizes sizes_of(const Request& r) {
  if (r.batch <= 0 || r.tokens <= 0 || r.kv_heads <= 0 || r.heads <= 0 || r.heads % r.kv_heads != 0 || r.copies <= 0) {
    throw Refused{"batch, tokens, heads and copies must be positive, query heads a multiple of key heads"};
  }
  if (r.head_dim != 64 && r.head_dim != 128 && r.head_dim != 256) {
    throw Refused{"heads must be 64, 128 or 256 wide"};
  }
  return {r.batch, r.tokens, r.heads, r.kv_heads, r.head_dim, r.causal != 0};
}

class Handle {
 public:
  explicit Handle(cudaStream_t stream) {
    check_cudnn(cudnn().create(&handle_), "cudnnCreate");
    const cudnnStatus_t set = cudnn().set_stream(handle_, stream);
    if (set != CUDNN_STATUS_SUCCESS) {
      cudnn().destroy(handle_);
      check_cudnn(set, "cudnnSetStream");
    }
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&&) = delete;
  Handle& operator=(Handle&&) = delete;
  ~Handle() { cudnn().destroy(handle_); }
  [[nodiscard]] cudnnHandle_t get() const noexcept { return handle_; }

 private:
  cudnnHandle_t handle_ = nullptr;
};

/// Arrays of one kind, one per copy.
class Arrays {
 public:
  Arrays() = default;
  Arrays(std::int64_t bytes, std::int64_t copies) : stride_{(bytes + alignment - 1) / alignment * alignment} {
    memory_ = DeviceMemory{copies * stride_};
  }
  [[nodiscard]] void* at(std::int64_t copy) const { return stride_ > 0 ? memory_.at(copy * stride_) : nullptr; }
  [[nodiscard]] std::int64_t stride() const noexcept { return stride_; }

 private:
  static constexpr std::int64_t alignment = 256;
  std::int64_t stride_ = 0;
  DeviceMemory memory_;
};

class AttentionProblem {
 public:
  AttentionProblem(const Session& session, const Request& request)
      : session_{&session},
        s_{sizes_of(request)},
        backward_{request.variant == 1},
        copies_{request.copies},
        handle_{session.stream.get()},
        forward_plan_{s_, false, {handle_.get(), nullptr}} {
    if (backward_) {
      backward_plan_ = std::make_unique<AttentionPlan>(s_, true, PlanTarget{handle_.get(), nullptr});
    }
    allocate();
    for (std::int64_t copy = 0; copy < copies_; ++copy) {
      forward_bound_.push_back(forward_plan_.bind(tensors(copy), workspace_.at()));
      if (backward_) {
        backward_bound_.push_back(backward_plan_->bind(tensors(copy), workspace_.at()));
      }
    }
    // Backward needs output and statistics of every copy.
    for (std::int64_t copy = 0; copy < (backward_ ? copies_ : 1); ++copy) {
      forward_plan_.execute(handle_.get(), forward_bound_[static_cast<std::size_t>(copy)]);
    }
    session.stream.wait();
  }

  void enqueue(std::int64_t i, cudaStream_t stream) const {
    const auto copy = static_cast<std::size_t>(i % copies_);
    if (!backward_) {
      forward_plan_.execute(handle_.get(), forward_bound_[copy]);
      return;
    }
    if (zeroes_) {
      check(cudaMemsetAsync(dq_sums_.at(), 0, static_cast<std::size_t>(s_.query_numbers() * float_bytes), stream),
            "cudaMemsetAsync");
    }
    backward_plan_->execute(handle_.get(), backward_bound_[copy]);
  }

  /// Compares rows of the result with the host's. Throws Refused when they differ.
  void verify() {
    verify_forward();
    if (!backward_) {
      return;
    }
    // Some kernels clear their sums of dq and others do not. The sums are filled with wrong values, and zeroed before
    // every launch only when the result shows the need.
    check(fill_normal(dq_sums_.at(), s_.query_numbers(), Element::fp32, 5, session_->stream.get()), "fill kernel");
    enqueue(0, session_->stream.get());
    session_->stream.wait();
    if (!(dq_error() <= tolerance)) {
      zeroes_ = true;
      enqueue(0, session_->stream.get());
      session_->stream.wait();
    }
    judge(dq_error(), "gradient of a query");
    verify_keys();
  }

  [[nodiscard]] std::int64_t tried() const { return backward_ ? backward_plan_->tried() : forward_plan_.tried(); }

 private:
  // bf16 keeps 8 bits of every share, of its gradient and of the result; sums over many keys average the errors.
  static constexpr double tolerance = 0.04;

  void allocate() {
    const std::int64_t queries = s_.query_numbers() * half_bytes;
    const std::int64_t keys = s_.key_numbers() * half_bytes;
    q_ = Arrays{queries, copies_};
    k_ = Arrays{keys, copies_};
    v_ = Arrays{keys, copies_};
    o_ = Arrays{queries, copies_};
    statistics_ = Arrays{s_.statistics() * float_bytes, copies_};
    fill(q_, 1);
    fill(k_, 2);
    fill(v_, 3);
    std::int64_t workspace = forward_plan_.workspace();
    if (backward_) {
      dout_ = Arrays{queries, copies_};
      dq_ = Arrays{queries, copies_};
      dk_ = Arrays{keys, copies_};
      dv_ = Arrays{keys, copies_};
      fill(dout_, 4);
      row_sums_ = DeviceMemory{s_.statistics() * float_bytes};
      dq_sums_ = DeviceMemory{s_.query_numbers() * float_bytes};
      if (grouped(s_)) {
        dk_heads_ = DeviceMemory{queries};
        dv_heads_ = DeviceMemory{queries};
      }
      workspace = std::max(workspace, backward_plan_->workspace());
    }
    workspace_ = DeviceMemory{std::max<std::int64_t>(workspace, 1)};
    session_->stream.wait();
  }

  void fill(const Arrays& arrays, std::uint64_t seed) const {
    check(
        fill_normal(arrays.at(0), copies_ * arrays.stride() / half_bytes, Element::bf16, seed, session_->stream.get()),
        "fill kernel");
  }

  [[nodiscard]] AttentionTensors tensors(std::int64_t copy) const {
    AttentionTensors t;
    t.q = q_.at(copy);
    t.k = k_.at(copy);
    t.v = v_.at(copy);
    t.o = o_.at(copy);
    t.statistics = statistics_.at(copy);
    t.dout = dout_.at(copy);
    t.dq = dq_.at(copy);
    t.dk = dk_.at(copy);
    t.dv = dv_.at(copy);
    t.row_sums = row_sums_.at();
    t.dq_sums = dq_sums_.at();
    t.dk_heads = dk_heads_.at();
    t.dv_heads = dv_heads_.at();
    return t;
  }

  /// All tokens of one head in the first copy.
  [[nodiscard]] Rows head(const Arrays& arrays, std::int64_t heads, std::int64_t batch, std::int64_t which) const {
    const std::int64_t pitch = heads * s_.head_dim;
    const std::int64_t first = ((batch * s_.tokens * heads) + which) * s_.head_dim;
    return rows_at(static_cast<const char*>(arrays.at(0)) + (first * half_bytes), s_.tokens, s_.head_dim, pitch);
  }
  [[nodiscard]] std::vector<float> log_sums(std::int64_t batch, std::int64_t which) const {
    const std::int64_t first = ((batch * s_.heads) + which) * s_.tokens;
    return floats_at(static_cast<const char*>(statistics_.at(0)) + (first * float_bytes), s_.tokens);
  }
  [[nodiscard]] std::int64_t seen(std::int64_t row) const { return s_.causal ? row + 1 : s_.tokens; }
  [[nodiscard]] std::int64_t key_head(std::int64_t head) const { return head / (s_.heads / s_.kv_heads); }

  static void judge(double error, const char* what) {
    if (!(error <= tolerance)) {
      throw Refused{std::string{"attention is wrong: the "} + what + " is off by " + std::to_string(error) +
                    " of its size"};
    }
  }

  [[nodiscard]] static std::vector<float> row_of(const Rows& rows, std::int64_t row) {
    return {rows.at(row), rows.at(row) + rows.width};
  }

  void verify_forward() const {
    for (const auto& [batch, which] : {std::array<std::int64_t, 2>{0, 0}, {s_.batch - 1, s_.heads - 1}}) {
      const Rows q = head(q_, s_.heads, batch, which);
      const Rows k = head(k_, s_.kv_heads, batch, key_head(which));
      const Rows v = head(v_, s_.kv_heads, batch, key_head(which));
      const Rows o = head(o_, s_.heads, batch, which);
      const std::vector<float> logs = log_sums(batch, which);
      for (const std::int64_t row : {std::int64_t{0}, s_.tokens / 3, s_.tokens - 1}) {
        const AttendedRow right = attended(q.at(row), k, v, seen(row));
        judge(relative_error(row_of(o, row), right.output), "output");
        constexpr double log_tolerance = 0.01;
        if (!(std::abs(static_cast<double>(logs[static_cast<std::size_t>(row)]) - right.log_sum) <= log_tolerance)) {
          throw Refused{"attention is wrong: the statistics of the softmax are not the logarithm of its sum"};
        }
      }
    }
  }

  /// Largest error over some rows, never the first, whose gradient is zero under a causal mask.
  [[nodiscard]] double dq_error() const {
    double worst = 0.0;
    for (const auto& [batch, which] : {std::array<std::int64_t, 2>{0, 0}, {s_.batch - 1, s_.heads - 1}}) {
      const Rows q = head(q_, s_.heads, batch, which);
      const Rows k = head(k_, s_.kv_heads, batch, key_head(which));
      const Rows v = head(v_, s_.kv_heads, batch, key_head(which));
      const Rows dout = head(dout_, s_.heads, batch, which);
      const Rows dq = head(dq_, s_.heads, batch, which);
      for (const std::int64_t row : {s_.tokens / 3, s_.tokens - 1}) {
        const double error = relative_error(row_of(dq, row), query_gradient(q.at(row), dout.at(row), k, v, seen(row)));
        worst = error <= worst ? worst : error;  // also keeps NaN
      }
    }
    return worst;
  }

  void verify_keys() const {
    const std::int64_t batch = s_.batch - 1;
    const std::int64_t which = s_.kv_heads - 1;
    const std::int64_t group = s_.heads / s_.kv_heads;
    std::vector<ForwardHead> heads;
    for (std::int64_t i = which * group; i < (which + 1) * group; ++i) {
      heads.push_back({head(q_, s_.heads, batch, i), head(o_, s_.heads, batch, i), head(dout_, s_.heads, batch, i),
                       log_sums(batch, i)});
    }
    const Rows k = head(k_, s_.kv_heads, batch, which);
    const Rows v = head(v_, s_.kv_heads, batch, which);
    const Rows dk = head(dk_, s_.kv_heads, batch, which);
    const Rows dv = head(dv_, s_.kv_heads, batch, which);
    for (const std::int64_t row : {std::int64_t{0}, s_.tokens / 2}) {
      const KeyGradients right = key_gradients(heads, k.at(row), v.at(row), s_.causal ? row : 0);
      judge(relative_error(row_of(dv, row), right.value), "gradient of a value");
      judge(relative_error(row_of(dk, row), right.key), "gradient of a key");
    }
  }

  const Session* session_;
  AttentionSizes s_;
  bool backward_;
  std::int64_t copies_;
  bool zeroes_ = false;
  Handle handle_;
  AttentionPlan forward_plan_;
  std::unique_ptr<AttentionPlan> backward_plan_;
  Arrays q_, k_, v_, o_, statistics_, dout_, dq_, dk_, dv_;
  DeviceMemory row_sums_, dq_sums_, dk_heads_, dv_heads_, workspace_;
  std::vector<Descriptor> forward_bound_, backward_bound_;
};

}  // namespace

Prepared prepared_attention(const Session& session, const Request& request) {
  const auto problem = std::make_shared<AttentionProblem>(session, request);
  problem->verify();
  return {[problem](std::int64_t i, cudaStream_t stream) { problem->enqueue(i, stream); }, problem->tried(), 0.0};
}

#else

Prepared prepared_attention(const Session& /*session*/, const Request& /*request*/) {
  throw Refused{"this build had no cuDNN headers; build the probes where cudnn.h is found"};
}

#endif

Result measure_attention(const Session& session, const Request& request) {
  const Prepared kernel = prepared_attention(session, request);
  Result result = replayed_or_streamed_spans(session.stream, request, kernel.enqueue);
  result.algorithms = kernel.algorithms;
  return result;
}

}  // namespace headroom::probes
