// SPDX-License-Identifier: Apache-2.0
// Training memory of one GPU: what is live at the peak of a pipeline stage, what the allocator holds, what the device
// shows. Tables are built once a layer key; one stage then costs a few dozen additions.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/collectives/gradient_compression.hpp>
#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/estimate/explain.hpp>
#include <headroom/model/train/software/expert_recipe.hpp>
#include <headroom/model/train/software/memory_stack.hpp>
#include <headroom/model/train/strategy/strategy.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace headroom {

struct LayerOp;

/// What is trained of the weights. LoRA freezes the base: gradients and optimizer states are the adapters' alone.
enum class Method : std::uint8_t { full, lora, qlora };
inline constexpr std::array<std::string_view, 3> method_names{"full", "lora", "qlora"};

/// Moments that an optimizer keeps, without the master copy of 16-bit weights.
enum class Optimizer : std::uint8_t {
  adamw,
  adamw_bf16,
  adamw_8bit,
  momentum,
  sgd,
  lion,
  muon,
  adafactor,
  paged_adamw,
  paged_adamw_8bit
};
inline constexpr std::array<std::string_view, 10> optimizer_names{
    "adamw", "adamw-bf16", "adamw-8bit", "momentum",    "sgd",
    "lion",  "muon",       "adafactor",  "paged-adamw", "paged-adamw-8bit"};
/// Whether its moments move to the host where the device is short (Dettmers et al. 2023, section 3: unified memory).
[[nodiscard]] constexpr bool is_paged(Optimizer optimizer) noexcept {
  return optimizer == Optimizer::paged_adamw || optimizer == Optimizer::paged_adamw_8bit;
}
/// Bytes per parameter: Adam two fp32 moments (Kingma and Ba 2015, algorithm 1), 2 in bf16, 2 x 8 bit (Dettmers et al.
/// 2022, section 2), one moment for momentum, Lion (Chen et al. 2023) and Muon's matrices (Jordan et al. 2024), rows
/// and columns only for Adafactor (Shazeer and Stern 2018, section 3).
[[nodiscard]] double moment_bytes(Optimizer optimizer) noexcept;
/// What it keeps beyond that: Muon is for hidden matrices and leaves embedding, head and norms to AdamW (Jordan et al.
/// 2024, reference implementation); bitsandbytes keeps an embedding's moments in 32 bit (its documentation, 8-bit
/// optimizers, stable embedding layer; Dettmers et al. 2022, section 2.3).
[[nodiscard]] MomentsApart moments_apart(Optimizer optimizer) noexcept;

/// Adam with fp32 moments: 8 bytes, and 4 more for the master copy of 16-bit weights; gradients as the weights
/// (Rajbhandari et al. 2020, section 3.1: 2 + 2 + 12).
[[nodiscard]] StateBytes adam_states(Precision precision) noexcept;

/// Of LoRA's adapters as the software's recipes keep them, else in the compute format with fp32 states: 2 + 2 + 12 in
/// 16 bit (Hu et al. 2022, section 4.1). In fp32 and tf32 all is fp32 whatever the software.
[[nodiscard]] StateBytes states_of_adapters(const MemoryStack& stack,
                                            Precision precision,
                                            std::optional<Optimizer> optimizer) noexcept;

/// Bytes of weights, gradients and optimizer states on one GPU under a ZeRO stage over `ranks` data ranks:
/// z0 (w+g+o)P, z1 (w+g)P + oP/n, z2 wP + (g+o)P/n, z3 (w+g+o)P/n (Rajbhandari et al. 2020, section 5, figure 1).
struct StateMemory {
  Bytes weights{}, gradients{}, optimizer{};
  [[nodiscard]] constexpr Bytes total() const noexcept { return weights + gradients + optimizer; }
};
[[nodiscard]] StateMemory state_memory(double parameters, const StateBytes& bytes, int zero, double ranks) noexcept;

/// One layer and micro-batch on one rank. Widths are of the whole layer; `tp` divides what it splits.
struct ActivationShape {
  double micro_batch = 1, seq_len = 1, hidden = 1, heads = 1, ffn = 1;
  double queries = 0, keys = 0, values = 0, output = 0;  ///< of all heads
  double head_dim = 0;  ///< with more tp ranks than KV heads a rank still holds one; 0: no such floor
  double latent = 0;    ///< compressed queries, keys and values together; 0: none are compressed
  double rope = 0;      ///< the rotary key that all heads share
  double tp = 1, cp = 1;
  double element_bytes = 2;  ///< of an activation: 4 in fp32 and tf32
  double input_bytes = 2;    ///< of a saved GEMM input: 1 where 8-bit recipes save the cast copy
  bool gated = false, sequence_parallel = false, flash_attention = true, dropout = false;
  bool two_outputs = false;  ///< a second copy of the attention output (all-to-all context parallelism)
  /// Inputs of the experts' activation in 8 bit and the attention's output in 12 (E5M6), beside inputs of products in 8
  /// (DeepSeek-AI 2024, DeepSeek-V3, section 3.3.3).
  bool narrow_saved = false;
  double parts = 2;               ///< mixer and feed-forward, each behind a norm
  bool narrow_attention = false;  ///< queries, keys, values and the output in 8 bit
  bool dropped_inputs = false;    ///< frozen matrices with adapters keep no input
  bool frozen_mlp = false;  ///< its matrices form no gradients and have no adapters: nobody needs their inputs again
  Recompute recompute = Recompute::none;
  RecomputeParts again{};  ///< what is not kept, for it runs again
  // Mixture of experts: `ffn` is unused, a token fills `routed` expert buffers on average
  double experts = 0, routed = 0, expert_ffn = 0, shared_ffn = 0;
  double expert_input = 0;  ///< width of a row that an expert reads
  double etp = 1;  ///< ranks that share an expert's width; with sequence parallelism each sees the tokens of all
};
/// Bytes kept for the backward pass (Korthikanti et al. 2022, equations 1 to 4, extended to grouped queries, gated
/// MLPs, context parallelism, fused attention, latent attention and experts; see the .cpp for the terms).
[[nodiscard]] Bytes layer_activations(const ActivationShape& shape) noexcept;

/// How tokens meet their experts, where a job states it.
struct ExpertTraffic {
  /// On their way to the experts tokens, and gradients backward, are in 8 bit with a scale of 4 bytes each 128
  /// elements; results come back in the compute format (DeepSeek-AI 2024, DeepSeek-V3, section 3.3.3).
  bool narrow_dispatch = false;
  std::int64_t domains = 0;  ///< scale-up domains that the experts of one token lie in at most; 0: no limit
  std::int64_t units = 0;    ///< multiprocessors of a GPU that exchanges keep from compute; 0: those of the usual share
  // Unstated: as the recipe of the software (expert_recipe.hpp).
  std::optional<ExpertLaunch> launch;
  std::optional<ExpertDispatcher> dispatcher;
  std::optional<bool> fused_products;
  double capacity = 0.0;       ///< rows that an expert computes over the mean, dropping and padding; 0: those that come
  double rank_capacity = 0.0;  ///< rows that the buffers of a rank hold over the mean; 0: those that come
  bool paged = false;          ///< what is kept of experts lies in pages of the rows that came (paged stash)
  /// Whether weight gradients run beside overlapped exchanges too (--delay-wgrad-compute); unstated: they do.
  std::optional<bool> delays_weight_gradients;
};

/// A moving average of the weights, in fp32 and sharded as the optimizer's states are.
enum class WeightAverage : std::uint8_t { none, gpu, host };
inline constexpr std::array<std::string_view, 3> weight_average_names{"none", "gpu", "host"};
/// Bytes a parameter.
inline constexpr double average_bytes = 4.0;

/// What a run keeps beyond what its software does by habit. Empty: the habit.
struct MemoryOptions {
  std::optional<bool> dropout;
  bool flash_attention = true;
  std::optional<bool> narrow_attention;  ///< fused attention multiplies in 8 bit; unstated: NarrowAttention
  double document_tokens = 0.0;    ///< mean of the documents packed into a sequence, which see themselves; 0: one does
  std::optional<bool> fused_loss;  ///< unstated and no habit: unfused, and the range says so
  bool overlapped = true;          ///< communication runs beside compute as far as the software can
  bool async_tp = false;           ///< tensor-parallel collectives are cut up and run beside their products
  bool compiled = false;
  bool row_scales = false;  ///< 8-bit casts of a scale a row: weights are gathered as they are
  Method method = Method::full;
  std::int64_t lora_rank = 16;
  std::optional<bool> double_quant;    ///< of QLoRA's base; unstated: the software's habit
  std::optional<Optimizer> optimizer;  ///< unstated: the software's; its bytes in full training are `StateBytes`
  bool offload_optimizer = false;      ///< moments and master copy in host memory
  bool offload_parameters = false;     ///< the ZeRO 3 shard of weights too, and all states beside it
  bool offload_activations = false;    ///< saved layer inputs in host memory; one layer's stay
  bool offload_checkpoints = false;    ///< the same, but only what full recomputation keeps
  std::int64_t vocab_multiple = 1;     ///< tables are padded to a multiple of this times tp; 1: not at all
  RecomputeParts recompute_parts{};    ///< of selective recomputation
  std::optional<bool> narrow_saved;    ///< activations are kept in 8 bit; unstated: as the software saves them
  WeightAverage average = WeightAverage::none;
  ExpertTraffic experts{};
  bool narrow_gather = false;                         ///< of 8-bit recipes: updated weights are gathered in 8 bit
  std::optional<GradientCompression> sent_gradients;  ///< over data ranks; unstated: as the software sends them
  Bytes bucket{};  ///< of data-parallel collectives once a step; zero: those of a group at once
};

/// Whether fused attention multiplies in 8 bit, and keeps what it multiplies in 8 bit.
struct NarrowAttention {
  bool whole = false, split = false;  ///< over whole sequences; over context ranks
  [[nodiscard]] constexpr bool narrow(std::int64_t context_ranks) const noexcept {
    return context_ranks > 1 ? split : whole;
  }
};
/// As stated; unstated as the software's recipes of adapters do in 8 bit on that generation, else not.
[[nodiscard]] NarrowAttention narrow_attention_of(const MemoryStack& stack,
                                                  const MemoryOptions& options,
                                                  Precision precision,
                                                  std::string_view generation) noexcept;
/// Whether the software's recipes drop out what adapters read.
[[nodiscard]] inline bool drops_inputs(const MemoryStack& stack, const MemoryOptions& options) noexcept {
  return options.method != Method::full && stack.adapters && stack.adapters->drops_inputs;
}
/// Whether the loss is fused, and a 4-bit base doubly quantised: as stated, else by the software's habit.
[[nodiscard]] bool is_fused(const MemoryStack& stack, const MemoryOptions& options) noexcept;
[[nodiscard]] bool doubly_quantised(const MemoryStack& stack, const MemoryOptions& options) noexcept;

/// Whether masks are kept when nobody says: a software's habit holds for plain MLPs. Gated
/// networks pretrain without dropout (Chowdhery et al. 2022, section 5).
[[nodiscard]] bool dropout_by_habit(const MemoryStack& stack, const Architecture& architecture) noexcept;

/// Parameters of the LoRA adapters of a layer: r (in + out) on every target (Hu et al. 2022, section 4.1). Those of
/// routed experts are spread as the experts are.
struct LoraParameters {
  double dense = 0.0, experts = 0.0;
  double kept = 0.0;    ///< elements a token: what the first matrices of the pairs give the second
  double inputs = 0.0;  ///< elements a token that all pairs read
  double read = 0.0;    ///< of which distinct: matrices side by side have one input
  [[nodiscard]] constexpr double total() const noexcept { return dense + experts; }
};
[[nodiscard]] LoraParameters lora_parameters(const Architecture& architecture,
                                             const Block& block,
                                             double rank,
                                             AdapterTargets targets = AdapterTargets::every_matrix) noexcept;
/// The matrices that the software's recipes give adapters; all where it has no recipe.
[[nodiscard]] inline AdapterTargets targets_of(const MemoryStack& stack) noexcept {
  return stack.adapters ? stack.adapters->targets : AdapterTargets::every_matrix;
}
/// Whether an op's matrices have adapters.
[[nodiscard]] bool has_adapters(const LayerOp& op, AdapterTargets targets) noexcept;
/// Parameters of the largest single matrix of a layer.
[[nodiscard]] double largest_matrix(const Architecture& architecture, const Block& block) noexcept;

/// One kind of layer in numbers.
struct LayerKind {
  Block block;
  BlockParameters parameters;
  LoraParameters adapters{};
  double largest_matrix = 0.0;                   ///< parameters; what QLoRA holds dequantised at a time
  std::uint32_t mixer_group = 0, ffn_group = 0;  ///< kinds of one group have the same weight shapes
};

/// A network, a software and a recipe as memory sees them.
struct CompiledMemory {
  static constexpr std::size_t most_kinds = 32;
  std::vector<LayerKind> kinds;
  std::vector<std::uint16_t> before;  ///< kinds x (layers + 1): layers of a kind in front of a layer
  std::int64_t layers = 1;
  std::int64_t uniform_from = 0;  ///< all layers from this one on are of one kind
  double hidden = 0, vocab = 0, seq_len = 0;
  double embedding = 0, head = 0, final_norm = 0;  ///< parameters of the ends; head with its matrix even when tied
  bool tied = false;
  // Multi-token prediction modules beside the head (DeepSeek-AI 2024, DeepSeek-V3, section 2.2): a layer
  // of the last kind, a projection from two hidden vectors to one, norms; embedding and head are shared.
  double mtp = 0;       ///< modules, as often as they run
  double mtp_held = 0;  ///< of which the weights are held
  std::size_t mtp_kind = 0;
  double mtp_projection = 0, mtp_norms = 0;  ///< parameters of one
  StateBytes states;
  StateBytes adapter_states;          ///< LoRA: of the adapters
  double frozen_embedding_bytes = 0;  ///< QLoRA: ends stay in the compute format; 0: as `states`
  double paged_share = 0;             ///< of the optimizer's bytes
  double logit_bytes_tp = 0;          ///< over tensor ranks; 0: as over one
  double logit_bytes = 0, gather_bytes = 2, element_bytes = 2, input_bytes = 2;
  double part_bytes = 0, part_tokens = 0;  ///< of a logit and tokens of the part of a fused loss that stands unfused
  bool dropout = false;
  NarrowAttention attention;
  MemoryOptions options;
  MemoryStack stack;
  Architecture architecture;
  Bytes capacity{};
};
/// Bytes of a logit at the loss over `tp` tensor ranks.
[[nodiscard]] inline double logit_bytes_of(const CompiledMemory& c, double tp) noexcept {
  return tp > 1.0 && c.logit_bytes_tp > 0.0 ? c.logit_bytes_tp : c.logit_bytes;
}
/// Bytes that the update takes beside the states for each parameter that the rank updates; nothing where the host
/// updates.
[[nodiscard]] inline double update_bytes_of(const CompiledMemory& c, const Strategy& s) noexcept {
  const bool away = c.options.offload_optimizer || c.options.offload_parameters;
  return away ? 0.0 : c.stack.update.bytes + (s.zero < 3 ? c.stack.update.flat : 0.0);
}
/// ConfigError when the network has more than `most_kinds` kinds of layers.
[[nodiscard]] CompiledMemory compile_memory(const Architecture& architecture,
                                            const MemoryStack& stack,
                                            const StateBytes& states,
                                            Precision precision,
                                            const MemoryOptions& options,
                                            std::int64_t seq_len,
                                            Bytes capacity);

/// The axes that layer tables depend on: one table serves every pp, vpp and ZeRO stage; of an order with stages inside
/// other axes, one pp. Memory's part needs no data ranks; time's part holds the groups that they form.
struct LayerKey {
  std::uint16_t tp = 1, cp = 1, ep = 1, etp = 1, micro_batch = 1;
  bool sequence_parallel = false;
  Recompute recompute = Recompute::none;
  std::uint32_t dp = 1;
  std::uint16_t shard_ranks = 0;
  CpForm cp_form = CpForm::unstated;
  bool cuda_graphs = false, overlap_experts = false;  ///< of time alone
  RankOrder order = RankOrder::tp_cp_dp_pp;           ///< of time alone
  std::uint16_t pp = 0;    ///< of time alone, where the order has stages inside other axes; 0: what the job leaves
  RecomputeParts parts{};  ///< of selective recomputation; empty: as the job says
};

/// Bytes and parameters of one layer of each kind on one rank, and of the ends.
struct MemoryTable {
  struct Row {
    double dense = 0;            ///< parameters
    double experts = 0;          ///< parameters
    double norms = 0;            ///< parameters of `dense`
    double dense_adapters = 0;   ///< parameters
    double expert_adapters = 0;  ///< parameters
    double activations = 0;      ///< kept per micro-batch; under full recomputation what would be without
    double formed_again = 0;     ///< by the backward pass of a recomputed layer, beyond what was kept of it
    double workspace = 0;        ///< gradients inside one layer's backward, one dequantised matrix
    double mixer_dummies = 0;    ///< stand-in weight gradients of each group
    double ffn_dummies = 0;
  };
  std::vector<Row> kinds;  ///< of the network, for searches make tables by the hundred thousand
  /// Over the network's layers: parameters of the smallest and of the mean one, activations of the smallest.
  struct LayerShare {
    double dense = 0, experts = 0;
  };
  LayerShare least, mean;
  double least_activations = 0;
  double embedding = 0, head = 0, final_norm = 0;  ///< parameters
  double saved_input = 0;                          ///< of a layer: what full recomputation keeps
  double loss = 0;                                 ///< the head phase's bytes without gathers
  double mtp_projection = 0, mtp_saved = 0;        ///< of one prediction module: parameters, bytes beside its layer
};
[[nodiscard]] MemoryTable tabulate_memory(const CompiledMemory& compiled, const LayerKey& key) noexcept;

/// Parameters that one rank of a stage holds before data ranks share them: layers and ends over tp, experts over ep
/// etp.
struct StageParameters {
  double dense = 0.0, experts = 0.0;
  double embedding = 0.0, head = 0.0, norms = 0.0;  ///< of the dense ones
  double ends = 0.0;                                ///< embedding and head
  double dense_adapters = 0.0, expert_adapters = 0.0;
  double largest_layer = 0.0;
  double updated = 0.0;  ///< by the optimizer of this rank: trained ones over the ranks that share its states
};

struct StageMemory {
  MemoryBreakdown bytes;
  PeakMoment moment = PeakMoment::layer_backward;
  StageParameters parameters;
  double layers = 0.0;     ///< of this rank; two ways: of both directions
  double in_flight = 1.0;  ///< micro-batches whose activations are kept, in full stages
  Bytes wanted_slack{};    ///< what the allocator would hold beyond live on a device without limit
  Bytes frozen{};          ///< of the weights
  HostMemory host;
  [[nodiscard]] constexpr Bytes live() const noexcept { return bytes.allocated(); }
  [[nodiscard]] constexpr Bytes reserved() const noexcept { return bytes.total() - bytes[MemoryTerm::framework]; }
  [[nodiscard]] constexpr Bytes device() const noexcept { return bytes.total(); }
  /// What the device would show if it had no limit.
  [[nodiscard]] constexpr Bytes wanted() const noexcept { return live() + wanted_slack + bytes[MemoryTerm::framework]; }
};
/// Memory of one pipeline stage; stage 0 holds the embedding, the last the head. Of a folded model stage 0 holds both
/// (Qi et al. 2023, section 6); where it runs from both ends at once every rank holds its stage and the mirrored one,
/// the first and the last rank both ends (DeepSeek-AI 2024, DeepSeek-V3, section 3.2.1).
[[nodiscard]] StageMemory stage_memory(const CompiledMemory& compiled,
                                       const MemoryTable& table,
                                       const Strategy& strategy,
                                       double micro_batches,
                                       std::int64_t stage) noexcept;

/// The fullest stage, its index, and what the host holds of the stage that offloads most.
struct FullestStage {
  StageMemory memory;
  std::int32_t stage = 0;
  HostMemory host;
  /// The upper end of the fullest stage's interval is no lower; known, and above `room`, only of a stage that stands
  /// for a fuller one.
  Bytes at_least{};
};
/// No memory, that is all of it.
inline constexpr Bytes any_room{std::numeric_limits<double>::infinity()};
/// `room`: a stage that alone shows that the upper end of the fullest one's interval is beyond it may stand for that.
[[nodiscard]] FullestStage fullest_stage(const CompiledMemory& compiled,
                                         const MemoryTable& table,
                                         const Strategy& strategy,
                                         double micro_batches,
                                         Bytes room = any_room) noexcept;

/// What the device shows, as an interval. The software's interval belongs to the number that its logs print; what lies
/// beyond that number was seen to differ by up to a factor of 1.5 between runs (reserve 1.03 to 1.09 of live, 2.4 to
/// 6.75 GiB outside the allocator). The upper end counts the slack that the allocator would hold without a limit, and
/// widens only what stands beside frozen weights: they are bytes of a file.
[[nodiscard]] Interval<Bytes> device_interval(const StageMemory& memory, const MemoryStack& software) noexcept;

/// Micro-batches' worth of activations that a stage keeps under the strategy's schedule, in full stages.
[[nodiscard]] double micro_batches_in_flight(const Strategy& strategy, double stage, double micro_batches) noexcept;

/// Adds the stage's memory line by line to `recorder`.
void record_memory(const CompiledMemory& compiled,
                   const std::string& architecture_source,
                   const std::string& capacity_source,
                   const Strategy& strategy,
                   const FullestStage& fullest,
                   ExplainRecorder& recorder);

/// Time for `bytes` to cross the host link once, each way, before any overlap (Ren et al. 2021, ZeRO-Offload, section
/// 4).
[[nodiscard]] constexpr Seconds offload_time(Bytes bytes, BytesPerSecond link) noexcept {
  return bytes / link;
}

/// Bytes per parameter of a 4-bit NormalFloat base: 4 bits and an fp32 scale per block of 64; doubly quantised 8 bits
/// of scale, and an fp32 scale of those per 256 blocks: 0.5 and 0.127 bits (Dettmers et al. 2023, sections 2 and 3).
[[nodiscard]] constexpr double nf4_bytes(bool double_quant) noexcept {
  return 0.5 + (double_quant ? 1.0 / 64.0 + 4.0 / (64.0 * 256.0) : 4.0 / 64.0);
}
/// Of a norm's weight beside a 4-bit base, which is kept in fp32 (peft, prepare_model_for_kbit_training).
inline constexpr double frozen_norm_bytes = 4.0;

}  // namespace headroom
