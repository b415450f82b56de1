// SPDX-License-Identifier: Apache-2.0
// What a layer key decides about the time of a step: numbers alone, for all who hold a table and do not make one.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/train/software/expert_recipe.hpp>

namespace headroom {

class GroupCollectives;

/// One pass over a layer of one micro-batch.
struct LayerPass {
  Seconds gemm{}, attention{}, scan{}, elementwise{}, tp{}, cp{}, ep{};
  [[nodiscard]] constexpr Seconds total() const noexcept {
    return gemm + attention + scan + elementwise + tp + cp + ep;
  }
  LayerPass& add(const LayerPass& other, double weight) noexcept;
};

struct LayerTimes {
  LayerPass forward, backward;
  Seconds weight_gradients{};  ///< of backward.gemm: what schedules that split the backward pass move
  Seconds recompute{};         ///< formed again before the backward pass
  Seconds host_forward{};      ///< what the GPU waits for its host
  Seconds host_backward{};
  Seconds sync{};          ///< what it waits for more where the host reads back how many tokens its experts got
  Seconds accumulation{};  ///< of weight gradients, where there are several micro-batches
  Seconds ep_hidden{};     ///< of both passes' exchanges, beside another micro-batch's compute, less what that costs
  Seconds ep_paired{};     ///< the same where the schedule itself pairs the passes, >= ep_hidden
  /// What a pair of passes of two micro-batches waits for its host beyond `host_forward`, `host_backward` and `sync` of
  /// the passes alone, beside `ep_hidden` and beside `ep_paired`; below zero: less.
  Seconds wait_hidden{}, wait_paired{};
  ExpertDispatcher dispatcher = ExpertDispatcher::alltoall;  ///< that exchanges
  [[nodiscard]] constexpr Seconds total() const noexcept {
    return forward.total() + host_forward + sync + backward.total() + recompute + host_backward;
  }
  /// What a pair of passes takes less than the passes alone; below zero where launching the pair takes more.
  /// `pairs`: the schedule's own passes are pairs.
  [[nodiscard]] constexpr Seconds pair_gain(bool pairs) const noexcept {
    return pairs ? ep_paired - wait_paired : ep_hidden - wait_hidden;
  }
  LayerTimes& add(const LayerTimes& other, double weight) noexcept;
};

/// The last stage's end.
struct HeadTimes {
  Seconds product{};  ///< logits and their two gradients
  Seconds loss{};
  Seconds host{};  ///< what the GPU waits for its host
  [[nodiscard]] constexpr Seconds total() const noexcept { return product + loss + host; }
};

/// Parameters that one rank trains of a layer, and of the ends of the network.
struct RankParameters {
  double dense = 0.0, experts = 0.0;  ///< weights that it holds
  double trained_dense = 0.0, trained_experts = 0.0;
};

/// What a layer key decides about time. Times are of one micro-batch on one rank, means over the kinds of layers.
struct StepTable {
  LayerTimes layer;
  HeadTimes head;
  RankParameters of_layer;
  double embedding = 0.0, head_parameters = 0.0;  ///< of the rank
  Seconds newton_schulz{};                        ///< Muon's, of a layer
  double boundary = 0.0;                          ///< bytes of the activation between stages
  const GroupCollectives* data = nullptr;         ///< dense gradients: dp cp ranks, tp apart
  const GroupCollectives* experts = nullptr;      ///< expert gradients
  const GroupCollectives* shard = nullptr;        ///< that share sharded states
  const GroupCollectives* stages = nullptr;       ///< the pipeline
  const GroupCollectives* replicas = nullptr;     ///< of shards (HSDP)
  /// What tables of other layers on the same ranks share.
  void take_groups(const StepTable& other) noexcept {
    data = other.data;
    experts = other.experts;
    shard = other.shard;
    stages = other.stages;
    replicas = other.replicas;
  }
  Seconds passes{};  ///< of the pipeline up to a flush, simulated for one strategy (step_trace.hpp); 0: by closed form
};

/// What the groups of a strategy's ranks take, whatever its schedule and the split of its layers.
struct StepTraffic {
  Seconds gather{}, scatter{};  ///< of sharded layers, one each
  Seconds reduction{};          ///< gradients and weights over data ranks, once a step
  Seconds broadcasts{};         ///< of it, of weights that ranks have updated
  Seconds last{};               ///< of it, of the last bucket, where there are buckets
  Seconds send{};               ///< one activation to the next stage
};

}  // namespace headroom
