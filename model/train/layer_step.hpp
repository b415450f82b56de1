// SPDX-License-Identifier: Apache-2.0
// The time of one layer of a training step on one rank, by part: products, attention, passes over tensors, casts,
// collectives of its tensor, context and expert groups, and the host that launches it.
#pragma once

#include <headroom/hardware/device.hpp>
#include <headroom/model/cost/attention_training.hpp>
#include <headroom/model/cost/gemm.hpp>
#include <headroom/model/estimate.hpp>
#include <headroom/model/precision.hpp>
#include <headroom/model/train/confidence.hpp>
#include <headroom/model/train/input_pipeline.hpp>
#include <headroom/model/train/job_groups.hpp>
#include <headroom/model/train/memory.hpp>
#include <headroom/model/train/step_stack.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace headroom {

/// Terms that are left out of a price, as bits by Term.
class TermSet {
 public:
  constexpr void add(Term term) noexcept { bits_ |= 1U << static_cast<unsigned>(term); }
  [[nodiscard]] constexpr bool has(Term term) const noexcept {
    return (bits_ >> static_cast<unsigned>(term) & 1U) != 0;
  }

 private:
  std::uint32_t bits_ = 0;
};

/// "bubble" and so on as typed. ConfigError with a suggestion for a word that is none.
[[nodiscard]] TermSet parse_terms(std::span<const std::string> names);

/// Everything that prices layers and does not depend on the strategy.
struct StepRecipe {
  Architecture architecture;
  Device device;
  StepStack stack;  ///< the one for networks with experts where there are any
  StepPhysics physics;
  StepLevel level;
  SelectiveRecompute selective = SelectiveRecompute::core_attention;
  Precision precision = Precision::bf16;
  MemoryOptions options;
  double seq_len = 1.0;
  double gathered_bytes = 2.0;              ///< of a weight that sharded ranks gather
  std::optional<BytesPerSecond> host_link;  ///< of one GPU to its host, each way
  std::int64_t host_gpus = 1;               ///< GPUs that share a host
  std::optional<DataFeed> feed;
  MeasuredLevel measured;  ///< of the user's own runs
  TermSet without;
};

/// One pass over a layer of one micro-batch.
struct LayerPass {
  Seconds gemm{}, attention{}, elementwise{}, tp{}, cp{}, ep{};
  [[nodiscard]] constexpr Seconds total() const noexcept { return gemm + attention + elementwise + tp + cp + ep; }
  LayerPass& add(const LayerPass& other, double weight) noexcept;
};

struct LayerTimes {
  LayerPass forward, backward;
  Seconds weight_gradients{};  ///< of backward.gemm: what schedules that split the backward pass move
  Seconds recompute{};         ///< formed again before the backward pass
  Seconds host_forward{};      ///< what the GPU waits for its host
  Seconds host_backward{};
  Seconds accumulation{};  ///< of weight gradients, where there are several micro-batches
  Seconds ep_hidden{};     ///< of both passes' exchanges, beside another micro-batch's compute, less what that costs
  [[nodiscard]] constexpr Seconds total() const noexcept {
    return forward.total() + host_forward + backward.total() + recompute + host_backward;
  }
  LayerTimes& add(const LayerTimes& other, double weight) noexcept;
};

/// The last stage's end.
struct HeadTimes {
  Seconds product{};  ///< logits and their two gradients
  Seconds loss{};
};

class LayerPricer {
 public:
  /// ConfigError when the SKU has no peak for the recipe or no bandwidth.
  explicit LayerPricer(StepRecipe recipe);

  /// Per micro-batch, T = micro_batch seq_len / cp tokens a rank. `docs/train-model.md` has the equations in full.
  ///   products    [T,(a+2k)d/t,h] [T,h,a d/t] [T,(1+g)f/t,h] [T,h,f/t] by the fitted kernels without launch and droop,
  ///               times the SKU's clock and the stack's factor; weight gradients read and write fp32 results
  ///   attention   fused: the measured kernel of the software over its rate in a step; a context shard has 1/cp of it
  ///   passes      T (20 h/sigma + (4+2g) f/t + 4 (a+2k) d/t) / B, backward twice that
  ///   tp          two all-reduces of 2 T h bytes each way (Shoeybi et al. 2019, section 3), with sequence parallelism
  ///               as all-gathers and reduce-scatters (Korthikanti et al. 2022, section 4.2.2)
  ///   cp          a gather of keys and values of which a share is hidden; a ring's hops as far as attention does not
  ///               hide them (Liu et al. 2023, section 3.2); Ulysses' exchanges (Jacobs et al. 2023, section 3.2)
  ///   ep          four exchanges, less what other compute hides
  ///   host        max-norm of order 5 of the GPU's time and the host's; of graphs the gaps between their nodes
  [[nodiscard]] LayerTimes layer(const Block& block, const LayerKey& key, const JobGroups& groups) const;
  /// Where the key's ranks fall among the job's.
  [[nodiscard]] static RankGroups groups_of(const LayerKey& key, const JobGroups& groups) noexcept;
  [[nodiscard]] HeadTimes head(const LayerKey& key) const noexcept;

  [[nodiscard]] const StepRecipe& recipe() const noexcept { return recipe_; }
  /// Sustained in passes over tensors.
  [[nodiscard]] BytesPerSecond bandwidth() const noexcept { return bandwidth_; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  [[nodiscard]] const std::string& attention_why() const noexcept { return attention_why_; }

 private:
  struct Sizes;
  void add_product(LayerTimes& t, double m, double n, double k, double share = 1.0) const noexcept;
  void add_attention(LayerTimes& t, const Block& block, const Sizes& z) const noexcept;
  void add_mixer(LayerTimes& t, const Block& block, const Sizes& z) const noexcept;
  void add_mlp(LayerTimes& t, double ffn, const Sizes& z) const noexcept;
  void add_experts(LayerTimes& t, const Sizes& z, const JobGroups& groups) const;
  void add_passes(LayerTimes& t, const Block& block, const Sizes& z) const noexcept;
  void add_collectives(LayerTimes& t, const Block& block, const Sizes& z, const JobGroups& groups) const;
  void add_context(LayerTimes& t, const Block& block, const Sizes& z, const JobGroups& groups) const;
  void hide_exchanges(LayerTimes& t, const LayerKey& key) const noexcept;
  void add_recompute(LayerTimes& t, const Sizes& z) const noexcept;
  void add_host(LayerTimes& t, const Block& block, const Sizes& z) const noexcept;
  [[nodiscard]] Seconds exchange(const Sizes& z, const JobGroups& groups) const;
  [[nodiscard]] bool on(Term term) const noexcept { return !recipe_.without.has(term); }

  StepRecipe recipe_;
  std::string why_, attention_why_;  ///< filled while the models are made
  GemmModel narrow_, narrow_gradient_, wide_, wide_gradient_;
  TrainingAttentionModel fused_;
  double narrow_factor_ = 1.0, wide_factor_ = 1.0;
  FlopsPerSecond wide_peak_{};
  BytesPerSecond bandwidth_{};
  double element_ = 2.0;  ///< bytes of an activation
};

}  // namespace headroom
