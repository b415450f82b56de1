// SPDX-License-Identifier: Apache-2.0
// The time of one layer of a training step on one rank, by part: products, attention, passes over tensors, casts,
// collectives of its tensor, context and expert groups, and the host that launches it.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/software/expert_recipe.hpp>
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/model/train/step/input_pipeline.hpp>
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/model/train/step/rank_conduct.hpp>
#include <headroom/model/train/step/step_parts.hpp>
#include <headroom/model/train/step/step_table.hpp>
#include <headroom/model/workload/layer_ops.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Everything that prices layers and does not depend on the strategy.
struct StepRecipe {
  Architecture architecture;
  Device device;
  StepStack stack;  ///< the one for networks with experts where there are any
  StepPhysics physics;
  StepLevel level;
  SelectiveRecompute selective = SelectiveRecompute::core_attention;
  RecomputeEnd recompute_end = RecomputeEnd::whole;
  Precision precision = Precision::bf16;
  MemoryOptions options;
  ExpertHabits experts;                       ///< as stated or as the software does
  std::vector<ExpertDispatcher> dispatchers;  ///< of which layers take the fastest; empty: that of `experts`
  double seq_len = 1.0;
  AdapterTargets targets = AdapterTargets::every_matrix;
  bool drops_inputs = false;  ///< of adapters, for each matrix
  NarrowAttention attention;
  double gathered_bytes = 2.0;                ///< of a weight that sharded ranks gather, of QLoRA's base as it lies
  std::optional<BytesPerSecond> host_link;    ///< of one GPU to its host, each way
  std::int64_t host_gpus = 1;                 ///< GPUs that share a host
  std::optional<BytesPerSecond> host_memory;  ///< peak bandwidth of the host's memory, where it is known
  std::optional<DataFeed> feed;
  MeasuredLevel measured;  ///< of the user's own runs
  RankConduct conduct;     ///< of host and ranks, where it is stated
  TermSet without;
};

/// Products of one layer on one rank, with the casts, unpacking and adapters beside them: alike for all strategies that
/// give a rank as many tokens, columns and experts.
struct LayerProducts {
  LayerTimes all;            ///< products and passes of both directions, nothing else
  Seconds experts{};         ///< forward, of the grouped ones
  Seconds shared_forward{};  ///< of shared experts that run beside exchanges
  Seconds shared_backward{};
  Seconds shared_weight_gradients{};  ///< of shared_backward
  Seconds up{}, up_casts{};           ///< forward, of those from latents
};

/// Bytes of an 8-bit element on its way to an expert, with a scale of 4 bytes each 128 of them.
inline constexpr double narrow_element = 1.0 + 4.0 / 128.0;

/// Share of a pair of passes' exchanges that runs beside their compute with overlapped experts. `pairs`: the schedule's
/// passes are pairs, of kernels that were ordered for each other.
[[nodiscard]] double exchanges_beside(const StepRecipe& recipe, bool pairs) noexcept;

class LayerPricer {
 public:
  /// ConfigError when the SKU has no peak for the recipe or no bandwidth.
  LayerPricer(const ModelData& data, StepRecipe recipe);

  /// Per micro-batch, T = micro_batch seq_len / cp tokens a rank. `docs/train-model.md` has the equations in full.
  ///   products    [T,(a+2k)d/t,h] [T,h,a d/t] [T,(1+g)f/t,h] [T,h,f/t] by the fitted kernels without launch and droop,
  ///               times the SKU's clock and the stack's factor; weight gradients read and write fp32 results
  ///   attention   fused: the measured kernel of the software over its rate in a step; a context shard has 1/cp of it
  ///   scan        states of a recurrent mixer by the kernels of its library (model/kernels/scan.hpp)
  ///   passes      T (20 h/sigma + (4+2g) f/t + 4 (a+2k) d/t) / B, backward twice that; 10 h of a layer that has a
  ///   mixer
  ///               or a feed-forward alone; 4 c/t + 6 i/t of the convolution and the gated norm of a recurrent mixer
  ///   tp          two all-reduces of 2 T h bytes each way (Shoeybi et al. 2019, section 3), with sequence parallelism
  ///               as all-gathers and reduce-scatters (Korthikanti et al. 2022, section 4.2.2)
  ///   cp          a gather of keys and values of which a share is hidden; a ring's hops as far as attention does not
  ///               hide them (Liu et al. 2023, section 3.2); Ulysses' exchanges (Jacobs et al. 2023, section 3.2)
  ///   ep          four exchanges, less what other compute hides; two of them in 8 bit where the job says so
  ///   host        max-norm of order 5 of the GPU's time and the host's; of graphs the gaps between their nodes; half
  ///   of
  ///               it of a mixer, the rest of the feed-forward
  [[nodiscard]] LayerTimes layer(const Block& block, const LayerKey& key, const JobGroups& groups) const;
  /// The same with another dispatcher than the recipe's.
  [[nodiscard]] LayerTimes layer(const Block& block,
                                 const LayerKey& key,
                                 const JobGroups& groups,
                                 ExpertDispatcher dispatcher) const;
  /// The same of products that are known.
  [[nodiscard]] LayerTimes layer(const Block& block,
                                 const LayerKey& key,
                                 const JobGroups& groups,
                                 ExpertDispatcher dispatcher,
                                 const LayerProducts& products) const;
  /// In two parts: kernels and collectives of a layer as they are, then what hides, what is formed again and what waits
  /// for the host. Keys that differ in recomputation and in what exchanges run beside share the first. `ops`: those of
  /// the block over the key's tensor ranks.
  [[nodiscard]] LayerTimes bare_layer(const Block& block,
                                      const LayerOps& ops,
                                      const LayerKey& key,
                                      const JobGroups& groups,
                                      ExpertDispatcher dispatcher,
                                      const LayerProducts& products) const;
  [[nodiscard]] LayerTimes whole_layer(const LayerTimes& bare,
                                       const Block& block,
                                       const LayerOps& ops,
                                       const LayerKey& key,
                                       const LayerProducts& products) const noexcept;
  [[nodiscard]] LayerOps ops_of(const Block& block, double tensor_ranks) const noexcept {
    return layer_ops(recipe_.architecture, block, LayerForm::training, tensor_ranks);
  }
  /// The search for their tiles is most of the work on a layer.
  [[nodiscard]] LayerProducts products(const Block& block, const LayerKey& key) const;
  /// Where the key's ranks fall among the job's.
  [[nodiscard]] static RankGroups groups_of(const LayerKey& key, const JobGroups& groups) noexcept;
  [[nodiscard]] HeadTimes head(const LayerKey& key) const noexcept;
  /// What a pass through embedding and head waits for its host: table look-up, norm, product, and the loss op by op are
  /// as many launches as a dense layer's (Megatron-LM, vocab_parallel_cross_entropy: 16 forward, 9 backward).
  [[nodiscard]] Seconds head_wait(const HeadTimes& head, const LayerKey& key) const noexcept;
  /// Of a prediction module beside its layer and its pass through the head: the product that joins hidden state and
  /// next embedding, [T,h,2h] and its gradients (DeepSeek-AI 2024, DeepSeek-V3, equation 21).
  [[nodiscard]] Seconds prediction(const LayerKey& key) const noexcept;
  /// Sent by a rank over its tensor group for a layer and a micro-batch: two all-reduces of T h elements each way
  /// (Shoeybi et al. 2019, section 3), or as many bytes as all-gathers and reduce-scatters; those of the forward pass
  /// once more where whole layers are formed again.
  [[nodiscard]] Bytes tensor_bytes(const Block& block, const LayerKey& key) const;
  /// The same over the context group: what layer() prices of keys and values, queries and outputs, forward, backward
  /// and where whole layers are formed again.
  [[nodiscard]] Bytes context_bytes(const Block& block, const LayerKey& key) const;
  /// The same over the expert group: dispatch and combine each way; copies to hosts and from there to their ranks with
  /// a dispatcher that sends once a host. Zero without such a group.
  [[nodiscard]] Bytes expert_bytes(const Block& block,
                                   const LayerKey& key,
                                   const JobGroups& groups,
                                   ExpertDispatcher dispatcher) const;
  /// Muon's update of a layer's matrices: five Newton-Schulz steps A = X X^T, B = b A + c A A, X = a X + B X, in 16 bit
  /// (Jordan et al. 2024). Each rank does its share over tp and ep; matrices side by side are taken as alike.
  [[nodiscard]] Seconds newton_schulz(const Block& block, const LayerKey& key) const noexcept;

  [[nodiscard]] const StepRecipe& recipe() const noexcept { return recipe_; }
  /// Sustained in passes over tensors.
  [[nodiscard]] BytesPerSecond bandwidth() const noexcept { return kernels_.bandwidth(); }
  [[nodiscard]] const std::string& why() const noexcept { return kernels_.wide_why(); }
  [[nodiscard]] const std::string& attention_why() const noexcept { return kernels_.attention_why(); }
  [[nodiscard]] const ScanNumbers& scan() const noexcept { return kernels_.scan().numbers(); }

 private:
  /// Widths of one rank's share.
  struct Sizes {
    const LayerKey& key;
    const Block& block;
    double tokens = 1.0;  ///< a rank's, of its context shard
    double t = 1.0;       ///< tensor ranks
    double hidden = 1.0;
    RankGroups ranks{};
    ExpertDispatcher dispatcher = ExpertDispatcher::alltoall;
    const LayerProducts* products = nullptr;
  };
  /// m x n from m x k; `wide`: the share of such matrices that a narrow recipe leaves in 16 bit.
  /// `eight`: the rest of it stays in 8 bit in 4-bit recipes.
  void add_product(LayerTimes& t,
                   double m,
                   double n,
                   double k,
                   double wide,
                   double share = 1.0,
                   bool casts = true,
                   bool eight = false) const noexcept;
  /// Of an op's matrices, the share that the software's recipe leaves in 16 bit, in [0, 1]: those of the last layers,
  /// of prediction modules, or of attention and of the projections around the experts, which every rank holds whole.
  [[nodiscard]] double wide_share(const Block& block, const LayerOp& op) const noexcept;
  /// A recurrent mixer's output projection, where a 4-bit recipe leaves those in 8 bit.
  [[nodiscard]] bool stays_eight_bit(const Block& block, const LayerOp& op) const noexcept;
  /// QLoRA unpacks a matrix before each product with it: 4 bits are read, an activation's format is written, which the
  /// product then reads (Dettmers et al. 2023, equation 5).
  void add_unpacking(LayerTimes& t, double weights) const noexcept;
  /// A pair of adapters of a k x n matrix, in the activations' format: forward x is read for the first and the second's
  /// result written and added to the matrix's own, e (k + 4 n) bytes a token; backward the gradient is read for both
  /// products with the second, x for the first's own, and what goes to x is added, e (5 k + 2 n) (Hu et al. 2022,
  /// equation 3). Where x is dropped out it is read, and its copy and a mask of a byte an element are written, and
  /// backward the same: (2 e + 1) k each way (Srivastava et al. 2014). Their products wait for these bytes.
  void add_adapters(LayerTimes& t, double rows, double n, double k) const noexcept;
  void add_attention(LayerTimes& t, const LayerOp& op, const Sizes& z) const noexcept;
  void add_scan(LayerTimes& t, const LayerOp& op, const Sizes& z, const JobGroups& groups) const;
  void add_experts(LayerTimes& t, const LayerOp& op, const Sizes& z) const noexcept;
  /// Rows that reach the experts of a rank, which sees the tokens of all that share an expert with it.
  [[nodiscard]] double expert_rows(const LayerOp& op, const Sizes& z) const noexcept;
  /// Rows that experts compute over those that the router sends them.
  [[nodiscard]] double kept_rows() const noexcept;
  /// Bytes a routed row in 16 bit of the activation, and with the permutation around the exchange.
  [[nodiscard]] double activation_width(const LayerOp& op, const Sizes& z) const noexcept;
  [[nodiscard]] double expert_width(const LayerOp& op, const Sizes& z) const noexcept;
  [[nodiscard]] Seconds expert_time(const LayerOps& ops, const Sizes& z, Seconds exchanges) const noexcept;
  [[nodiscard]] ExpertLaunch launch_of(const LayerKey& key) const noexcept;
  void add_passes(LayerTimes& t, const LayerOps& ops, const Sizes& z) const noexcept;
  /// Of a router's forward pass: its recipe's, else the software's.
  [[nodiscard]] double router_launches() const noexcept {
    return recipe_.experts.router_launches.value_or(recipe_.stack.router_launches);
  }
  /// Launches of a router go over the scores of all experts, in fp32 but for its maps.
  void add_scores(LayerTimes& t, const LayerOp& router, double tokens) const noexcept;
  void add_reduction(LayerTimes& t, double reductions, const Sizes& z, const JobGroups& groups) const;
  void add_context(LayerTimes& t, const LayerOp& op, const Sizes& z, const JobGroups& groups) const;
  void hide_exchanges(LayerTimes& t, const LayerKey& key, const LayerProducts& products) const noexcept;
  /// A pair of passes is launched while its compute runs, and what is left of its exchanges: launches do not hide
  /// beside exchanges that compute hides. `launches`: the host's time for the pair. Counts of tokens are read back
  /// while the GPU runs the other micro-batch's experts, so that the host loses its lead and no more.
  void add_pair_waits(LayerTimes& t, const LayerKey& key, Seconds launches) const noexcept;
  /// Of selective recomputation: the key's, else the job's; empty: as the software does it.
  [[nodiscard]] RecomputeParts recomputed_parts(const LayerKey& key) const noexcept {
    return key.parts.any() ? key.parts : recipe_.options.recompute_parts;
  }
  [[nodiscard]] Seconds passes(double tokens, double width) const noexcept;
  void add_recompute(LayerTimes& t, const LayerOps& ops, const Sizes& z) const noexcept;
  /// Of a block's forward pass, what its second one leaves out (RecomputeEnd): the residual's sum and the way back from
  /// experts without latents.
  [[nodiscard]] Seconds not_again(const LayerTimes& t, const LayerOps& ops, const Sizes& z) const noexcept;
  [[nodiscard]] Seconds parts_again(const LayerTimes& t, const LayerOps& ops, const Sizes& z) const noexcept;
  /// How much longer products and attention take on the multiprocessors that exchanges leave them.
  [[nodiscard]] double crowding(const LayerKey& key) const noexcept;
  void leave_to_exchanges(LayerTimes& t, const LayerKey& key) const noexcept;
  /// Launches of a forward pass's exchanges beyond those of a flexible dispatcher.
  [[nodiscard]] double dispatch_launches(ExpertLaunch launch, const Sizes& z) const noexcept;
  void add_host(LayerTimes& t, const LayerOps& ops, const Sizes& z) const noexcept;
  /// What a rank sends in one exchange: to every expert's rank a row, or once to a rank and a domain.
  struct Exchanged {
    Bytes buffer{};             ///< of an all-to-all
    Bytes inside{}, outside{};  ///< once a rank
  };
  [[nodiscard]] Exchanged exchanged(const Sizes& z, const GroupView& view, double element) const;
  [[nodiscard]] Seconds exchange(const Sizes& z, const JobGroups& groups, double element) const;
  [[nodiscard]] Sizes sizes_of(const Block& block, const LayerKey& key) const noexcept;
  [[nodiscard]] bool on(Term term) const noexcept { return !recipe_.without.has(term); }

  StepRecipe recipe_;
  StepKernels kernels_;
  double element_ = 2.0;       ///< bytes of an activation
  bool wide_modules_ = false;  ///< prediction modules stay in 16 bit, and no layer is a block like theirs
};

}  // namespace headroom
