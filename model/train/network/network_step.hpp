// SPDX-License-Identifier: Apache-2.0
// The time of one training step of a network given as an op list, on one rank of a data-parallel job: every op forward
// and backward, segments recomputed, what the host adds, gradients and weights on their way, the update.
#pragma once

#include <headroom/model/estimate/explain.hpp>
#include <headroom/model/train/network/network_memory.hpp>
#include <headroom/model/train/step/layer_step.hpp>
#include <headroom/model/train/step/step_parts.hpp>

#include <memory>
#include <string>
#include <vector>

namespace headroom {

/// What prices an op list beside the list itself.
struct NetworkRecipe {
  Device device;
  StepStack stack;
  StepPhysics physics;
  StepLevel level;
  Precision precision = Precision::bf16;
  NetworkTraining training;
  double global_batch = 1.0;                ///< samples
  std::optional<BytesPerSecond> host_link;  ///< of one GPU to its host, each way
  std::int64_t host_gpus = 1;               ///< GPUs that share a host
  std::optional<DataFeed> feed;             ///< nothing: data is taken not to bind
  TermSet without;
};

/// One op of one block, one micro-batch, all passes of its samples at once.
struct OpTime {
  Term term = Term::elementwise;  ///< gemm (convolutions too), attention or elementwise
  Seconds forward{}, backward{};
  Seconds casts_forward{}, casts_backward{};  ///< of 8-bit products: passes over tensors, beside those
};

/// One step, and what of it explanations tell. Times of a pass are of one micro-batch and the whole network.
struct NetworkStepTime {
  Breakdown time;
  double micro_batches = 1.0;
  LayerPass forward, backward;
  Seconds recompute{};
  Seconds host_forward{}, host_backward{};  ///< what the GPU waits for its host
  Seconds launches{};                       ///< the host's own time of a forward pass
  double ops = 0.0;                         ///< launched forward, all blocks
  Seconds gather{}, scatter{};              ///< ZeRO 2 and 3, of all blocks and one micro-batch
  Seconds reduction{};                      ///< gradients and weights at the end of the step, all of it
  Seconds hidden{};                         ///< of the reduction beside the last micro-batch
  Seconds traffic{};                        ///< of data parallelism in a step, before any overlap
  double updated = 0.0;                     ///< parameters of the rank's update
  double sharers = 1.0;                     ///< GPUs that stragglers are drawn from
  FedStep fed;                              ///< by storage, host and copies
  double samples = 0.0;                     ///< of one host in a step
  [[nodiscard]] Seconds step() const noexcept { return time.total(); }
  /// Share of the traffic that does not lengthen the step, net of what it takes from compute; 0 without traffic.
  [[nodiscard]] double hidden_share() const noexcept;
  /// Of the step in which the GPU runs the network's own kernels: not waiting for traffic, host or other ranks.
  [[nodiscard]] double computing_share() const noexcept;
};

/// FLOP of one sample's forward and backward pass that count as the model's own: products, convolutions and attention
/// three times their forward, causal attention not halved, nothing recomputed (Chowdhery et al. 2022, appendix B).
[[nodiscard]] Flops model_flops(const Network& network) noexcept;
/// Of those kinds of ops, what one sample's recomputed blocks run once more.
[[nodiscard]] Flops recomputed_flops(const Network& network, const SegmentRecompute& recompute) noexcept;

/// Ops whose kernels no curve describes, each with why: "dw1: a depthwise convolution ...". Empty: all can be priced.
[[nodiscard]] std::vector<std::string> ops_without_kernels(const Network& network);

class NetworkStep {
 public:
  /// ConfigError when the SKU lacks the recipe's peak, bandwidth or units. Precondition: ops_without_kernels() is
  /// empty.
  NetworkStep(Network network, NetworkRecipe recipe, std::shared_ptr<const JobGroups> groups);

  /// m = global batch / (ranks b) micro-batches of b samples; B = `bandwidth` x the memory's; sums over all blocks:
  ///   op        products, convolutions and attention by the kernels of a training step (step_parts.hpp); all else
  ///             x bytes / B forward and twice that backward, x the stack's in parts that attend, for it was fitted on
  ///             transformers, and 1 in all others
  ///   recompute one forward more of every recomputed block (Chen et al. 2016, section 4)
  ///   host      (GPU^5 + H^5)^(1/5) - GPU of each pass; H = ops x host / 11, 11 the ops of a dense layer
  ///   dp_comm   ZeRO 0, 1: R - hid + sig hid, hid = min(o R, 0.8 of the last micro-batch); ZeRO 2, 3: of a block
  ///             ov(f, G), ov(b, G + S) as of a layer in StepModel (Rajbhandari et al. 2020, section 7)
  ///   optimizer 40 bytes a local parameter / B and a fixed part
  ///   straggler c log2(max(N / 8, 1)) of the rest + board_wait(N) of compute
  ///   data      what the step then waits for its samples (input_pipeline.hpp)
  [[nodiscard]] NetworkStepTime time() const;

  /// An op of a stage's block.
  [[nodiscard]] OpTime op_time(const Stage& stage, const Op& op) const;

  [[nodiscard]] const Network& network() const noexcept { return network_; }
  [[nodiscard]] const NetworkRecipe& recipe() const noexcept { return recipe_; }
  [[nodiscard]] const JobGroups& groups() const noexcept { return *groups_; }
  [[nodiscard]] BytesPerSecond bandwidth() const noexcept { return kernels_.bandwidth(); }
  [[nodiscard]] const std::string& why() const noexcept { return kernels_.narrow_why(); }
  [[nodiscard]] const std::string& attention_why() const noexcept { return kernels_.attention_why(); }

 private:
  struct Block;
  [[nodiscard]] Block block_of(const Stage& stage) const;
  void add_blocks(const std::vector<Block>& blocks, NetworkStepTime& t) const noexcept;
  void add_host(const std::vector<Block>& blocks, NetworkStepTime& t) const noexcept;
  void add_sharded(const std::vector<Block>& blocks, NetworkStepTime& t) const;
  void add_reduction(NetworkStepTime& t) const;
  void add_rest(NetworkStepTime& t) const noexcept;
  void add_data(NetworkStepTime& t) const noexcept;
  void product_time(const Op& op, double passes, bool first, OpTime& t) const noexcept;
  void conv_times(const Op& op, double passes, bool first, OpTime& t) const noexcept;
  void attention_times(const Op& op, double passes, OpTime& t) const noexcept;
  /// Bytes that passes of a part move over those of its ops as listed.
  [[nodiscard]] double passes_over_listed(const Stage& stage) const;
  [[nodiscard]] Bytes moved(const Op& op, double passes) const noexcept;
  [[nodiscard]] Seconds reaches(Collective collective, double bytes) const noexcept;
  [[nodiscard]] bool on(Term term) const noexcept { return !recipe_.without.has(term); }

  Network network_;
  NetworkRecipe recipe_;
  std::shared_ptr<const JobGroups> groups_;
  StepKernels kernels_;
  std::vector<std::string> attending_;      ///< parts with attention
  double element_ = 2.0;                    ///< bytes of an activation
  const GroupCollectives* data_ = nullptr;  ///< all ranks; none on one GPU
};

/// Adds the step's terms line by line to `recorder`.
void record_network_step(const NetworkStep& step, const NetworkStepTime& time, ExplainRecorder& recorder);

}  // namespace headroom
