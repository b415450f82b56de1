// SPDX-License-Identifier: Apache-2.0
// Attention of a training step as a graph of cuDNN's backend API, in the pattern that its fused kernels recognise
// (NVIDIA, cuDNN graph API, "Fused attention"; Dao et al. 2022, algorithms 1 and 4).
#pragma once

#include <headroom/calibrate/probes/cudnn_library.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headroom::probes {

/// Sizes of one call; `tokens` is the number of queries and of keys. Tensors are [batch, tokens, heads, head_dim] in
/// bf16, statistics (logarithms of the softmax's sums) [batch, heads, tokens] in fp32.
struct AttentionSizes {
  std::int64_t batch = 1, tokens = 1, heads = 1, kv_heads = 1, head_dim = 64;
  bool causal = true;

  [[nodiscard]] std::int64_t query_numbers() const { return batch * tokens * heads * head_dim; }
  [[nodiscard]] std::int64_t key_numbers() const { return batch * tokens * kv_heads * head_dim; }
  [[nodiscard]] std::int64_t statistics() const { return batch * tokens * heads; }
};

#ifdef HEADROOM_HAVE_CUDNN

/// Target of a plan: the device of a handle, or a described device (cuDNN 9.8, "deviceless ahead-of-time compilation"),
/// for which any machine can plan but not run.
struct PlanTarget {
  cudnnHandle_t handle = nullptr;
  const Descriptor* described = nullptr;
};

/// Pointers of one call. Forward reads q, k, v and writes o and statistics. Backward reads these five and dO and writes
/// dq, dk and dv through fp32 sums of dq, which are zeroed before the launch if the plan needs it.
struct AttentionTensors {
  void *q = nullptr, *k = nullptr, *v = nullptr, *o = nullptr, *statistics = nullptr;
  void *dout = nullptr, *dq = nullptr, *dk = nullptr, *dv = nullptr;
  void *row_sums = nullptr, *dq_sums = nullptr, *dk_heads = nullptr, *dv_heads = nullptr;
};

/// A graph with cuDNN's first plan for it that finalizes.
class AttentionPlan {
 public:
  /// Throws Refused with cuDNN's reason when no plan is found.
  AttentionPlan(const AttentionSizes& sizes, bool backward, const PlanTarget& target);

  [[nodiscard]] std::int64_t workspace() const noexcept { return workspace_; }
  /// Plans tried until one finalized, that one included.
  [[nodiscard]] std::int64_t tried() const noexcept { return tried_; }
  /// Arguments for a launch of the plan; must live while launches are enqueued.
  [[nodiscard]] Descriptor bind(const AttentionTensors& tensors, void* workspace) const;
  void execute(cudnnHandle_t handle, const Descriptor& bound) const;

 private:
  void choose(const Descriptor& graph, const PlanTarget& target);

  AttentionSizes sizes_;
  bool backward_;
  std::vector<Descriptor> kept_;  ///< all descriptors that the plan refers to
  Descriptor plan_;
  std::int64_t workspace_ = 0;
  std::int64_t tried_ = 0;
  float scale_ = 1.0F;
  float masked_ = 0.0F;
};

/// Whether gradients of keys and values are summed over the query heads of a group after the products.
[[nodiscard]] constexpr bool grouped(const AttentionSizes& s) noexcept {
  return s.heads != s.kv_heads;
}

#endif

}  // namespace headroom::probes
