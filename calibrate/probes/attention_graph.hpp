// SPDX-License-Identifier: Apache-2.0
// Attention of a training step as a graph of cuDNN's backend API: the operations that its fused kernels know as one
// pattern (NVIDIA, cuDNN graph API, "Fused attention"; Dao et al. 2022, algorithms 1 and 4).
#pragma once

#include <headroom/calibrate/probes/cudnn_library.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headroom::probes {

/// Sizes of one call; tokens are those of queries and keys alike. Tensors lie as [batch, tokens, heads, head_dim] in
/// bf16, statistics (logarithms of the softmax's sums) as [batch, heads, tokens] in fp32.
struct AttentionSizes {
  std::int64_t batch = 1, tokens = 1, heads = 1, kv_heads = 1, head_dim = 64;
  bool causal = true;

  [[nodiscard]] std::int64_t query_numbers() const { return batch * tokens * heads * head_dim; }
  [[nodiscard]] std::int64_t key_numbers() const { return batch * tokens * kv_heads * head_dim; }
  [[nodiscard]] std::int64_t statistics() const { return batch * tokens * heads; }
};

#ifdef HEADROOM_HAVE_CUDNN

/// What a graph is planned for: a handle's device, or one that a description stands for (cuDNN 9.8, "deviceless
/// ahead-of-time compilation"), which can be planned for on any machine but not run.
struct PlanTarget {
  cudnnHandle_t handle = nullptr;
  const Descriptor* described = nullptr;
};

/// Pointers of one call. A forward reads q, k, v and writes o and statistics; a backward reads all five and dO and
/// writes dq, dk and dv through fp32 sums of dq, which are zeroed beforehand where the plan asks for it.
struct AttentionTensors {
  void *q = nullptr, *k = nullptr, *v = nullptr, *o = nullptr, *statistics = nullptr;
  void *dout = nullptr, *dq = nullptr, *dk = nullptr, *dv = nullptr;
  void *row_sums = nullptr, *dq_sums = nullptr, *dk_heads = nullptr, *dv_heads = nullptr;
};

/// A graph with the first of cuDNN's plans for it that finalizes.
class AttentionPlan {
 public:
  /// Throws Refused with cuDNN's reason when no plan is found.
  AttentionPlan(const AttentionSizes& sizes, bool backward, const PlanTarget& target);

  [[nodiscard]] std::int64_t workspace() const noexcept { return workspace_; }
  /// Plans that were tried before one finalized, itself included.
  [[nodiscard]] std::int64_t tried() const noexcept { return tried_; }
  /// What a launch of the plan needs besides; it must live as long as launches are enqueued.
  [[nodiscard]] Descriptor bind(const AttentionTensors& tensors, void* workspace) const;
  void execute(cudnnHandle_t handle, const Descriptor& bound) const;

 private:
  void choose(const Descriptor& graph, const PlanTarget& target);

  AttentionSizes sizes_;
  bool backward_;
  std::vector<Descriptor> kept_;  ///< everything that the plan refers to
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
