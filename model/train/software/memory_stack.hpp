// SPDX-License-Identifier: Apache-2.0
// Memory that a training software uses besides the weights: bytes per parameter, copies at the loss, buffers, slack.
// One TOML per software (model/stacks/train/*.toml), selected by the published column `framework`.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/train/software/expert_recipe.hpp>
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/model/train/strategy/strategy.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// Bytes per parameter of moments beyond `StateBytes::optimizer`, for tensors that an optimizer treats separately.
struct MomentsApart {
  double embedding = 0.0;
  double head = 0.0;  ///< untied head; a tied table counts as embedding
  double norms = 0.0;
};

/// Bytes per parameter of a recipe's states.
struct StateBytes {
  double weights = 2.0;
  double gradients = 2.0;
  double optimizer = 12.0;
  double buckets = 0.0;  ///< gradients in DDP's buckets; not used with one data rank
  MomentsApart apart{};
  [[nodiscard]] constexpr double total() const noexcept { return weights + gradients + optimizer; }
};

/// The meaning of a published "memory" figure; the three differ by up to a third.
enum class MemoryKind : std::uint8_t { live, reserved, device };
inline constexpr std::array<std::string_view, 3> memory_kind_names{"live", "reserved", "device"};

/// The tensors that `recompute = "selective"` recomputes in the backward pass.
enum class SelectiveRecompute : std::uint8_t {
  core_attention,       ///< the score matrices (Korthikanti et al. 2022, section 5); none with fused attention
  every_second_matmul,  ///< all but every second matmul and the attention (torchtitan's per-op default)
  activation_in_8_bit,  ///< 8-bit recipes store the nonlinearity's input in 8 bit instead (NeMo)
};
inline constexpr std::array<std::string_view, 3> selective_names{"core_attention", "every_second_matmul",
                                                                 "activation_in_8_bit"};

/// What a block's second forward pass leaves out under full recomputation.
enum class RecomputeEnd : std::uint8_t {
  whole,     ///< nothing: a checkpoint of Megatron, DeepSpeed, or torch's reentrant one
  exchange,  ///< what follows the last tensor that the backward pass reads: the way back from experts, a residual's sum
};
inline constexpr std::array<std::string_view, 2> recompute_end_names{"whole", "exchange"};

/// How layers are placed if the stages do not divide them.
enum class UnevenSplit : std::uint8_t {
  ends_count,  ///< embedding and loss count as a layer each if that divides evenly (Megatron-Core)
  early,       ///< early stages take one layer more
};
inline constexpr std::array<std::string_view, 2> uneven_split_names{"ends_count", "early"};

/// Tensor ranks of an expert if they are not stated.
enum class ExpertTensor : std::uint8_t {
  as_tp,             ///< tp, as for the dense layers (Megatron-Core)
  one,               ///< one: experts are whole (DeepSpeed, Megatron-Bridge recipes)
  as_tp_without_ep,  ///< tp if the experts are not spread, else one (torchtitan)
};
inline constexpr std::array<std::string_view, 3> expert_tensor_names{"tp", "one", "tp_without_ep"};

/// The meaning of a blank key of a scenario, or a blank cell of a measured row, for a software.
struct StackDefaults {
  int zero = 1;
  bool sequence_parallel = true;  ///< applies if tp > 1
  bool flash_attention = true;
  bool fused_loss = false;
  std::uint16_t zero_group = 0;      ///< ranks that share the states of a measured run; 0: all
  bool interleaves = false;          ///< a pipeline without stated chunks is assumed to use the fastest number of them
  bool balances_stages = false;      ///< takes any layers for the end stages, so that plans balance the stages
  bool stages_recompute = false;     ///< a measured run with stages that does not say recomputes whole blocks
  bool offload_checkpoints = false;  ///< full recomputation keeps its inputs on the host
  ExpertTensor expert_tensor = ExpertTensor::as_tp;
  CpForm cp_form = CpForm::unstated;
  std::int64_t vocabulary = 50257;  ///< vocabulary of a model that states none; GPT-2's tokenizer
  std::int64_t vocab_multiple = 1;  ///< tables are padded to a multiple of this times tp
  double tuning_documents = 0.0;    ///< tokens of a document in the packed sequences of its tuning runs; 0: not packed
  std::optional<Precision> precision;  ///< of a measured run that does not state its format; nothing: not known
  std::string reduce_bucket;           ///< a bucket of data-parallel collectives, in words; empty: not known
  std::string source;
  [[nodiscard]] std::uint16_t expert_tensor_ranks(std::uint16_t tp, std::uint16_t ep) const noexcept;
};

/// Buffers allocated besides states, in elements of the compute precision.
struct StackBuffers {
  double live_parameters = 0.0;  ///< elements gathered at once under ZeRO 3, at most those of the stage
  double reduce_bucket = 0.0;    ///< elements of one bucket
  double zero1_buckets = 0.0;    ///< flat copies of gradients that are reduced, at most those of the stage
  double zero2_buckets = 0.0, zero3_buckets = 0.0;  ///< number of buckets, whole for any model
};

/// What a pipeline stage keeps of what it sends and receives.
enum class StageBuffers : std::uint8_t {
  none,
  /// A tensor rank's part of each output in flight; in a backward pass one output and its gradient whole (DeepSpeed).
  parts,
  /// Outputs in flight, and a buffer of each micro-batch of the step for its input and for its output's gradient
  /// (torch.distributed.pipelining).
  micro_batches,
};
inline constexpr std::array<std::string_view, 3> stage_buffers_names{"none", "parts", "micro_batches"};

/// Axes whose ranks form a communicator.
struct CommunicatorGroup {
  bool tp = false, cp = false, dp = false, pp = false;
};

/// What stands beside the states while the optimizer updates: bytes per parameter that the rank updates.
struct StackUpdate {
  double bytes = 0.0;  ///< fp32 gradients and what the optimizer's formula takes between
  double flat = 0.0;   ///< a copy of the gradients in one piece; not under ZeRO 3
};

/// The matrices that the software's recipes give adapters.
enum class AdapterTargets : std::uint8_t { every_matrix, attention };
inline constexpr std::array<std::string_view, 2> adapter_targets_names{"all", "attention"};

/// What the software's recipes of LoRA and QLoRA do: table [adapters].
struct StackAdapters {
  double weights = 2.0, gradients = 2.0;  ///< bytes a trained parameter
  double moments = 8.0;                   ///< of the optimizer that its recipes take; a stated one has its own
  double master = 4.0;                    ///< copy in fp32, where the adapters are in 16 bit
  bool fused_loss = false;
  bool stages = true;          ///< its recipes cut networks into pipeline stages
  bool double_quant = false;   ///< scales of a 4-bit base are in 8 bit themselves
  bool copies_inputs = false;  ///< each pair keeps a copy of its input, cast to its own format or dropped out
  /// A matrix's input is dropped out for its pair or pairs: a copy and a mask of a byte an element are kept, and the
  /// frozen matrix keeps nothing.
  bool drops_inputs = false;
  /// Generations on which 8-bit recipes multiply attention in 8 bit too, over whole sequences and over context ranks.
  std::vector<std::string> narrow_attention, narrow_split_attention;
  AdapterTargets targets = AdapterTargets::every_matrix;
  std::string source;
};

/// A recipe's bytes of states, for some precisions and device generations; an empty list means any.
struct StateRow {
  std::vector<std::string> precisions;
  std::vector<std::string> generations;
  StateBytes bytes;
};

struct MemoryStack {
  std::string id, name, file, source;
  std::string base;                      ///< id of the stack that its file extends; empty: none
  std::vector<std::string> frameworks;   ///< how rows and users call it, with or without a version behind
  std::vector<std::string> generations;  ///< of GPUs on which rows call it so; empty: any
  std::string successor;                 ///< id of what the same name means on others
  std::vector<StateRow> states;          ///< the first that matches counts
  // Bytes of a logit at the loss: the output, its fp32 copy, log-softmax and gradients, as far as the loss keeps them
  double logit_bytes = 14.0;           ///< loss run op by op
  double logit_bytes_compiled = 14.0;  ///< with the model compiled
  double logit_bytes_fused = 2.0;      ///< fused cross-entropy, or one taken in parts that all keep so much
  double logit_bytes_fused_compiled = 2.0;
  double logit_bytes_tp = 0.0;      ///< loss run op by op over tensor ranks, compiled model or not; 0: as over one
  double loss_tokens = 0.0;         ///< of a part of a fused loss that stands unfused while it is taken; 0: none does
  double reduce_bytes = 4.0;        ///< of a gradient on its way to its shard: fp32, or 16 bit
  bool dummy_gradients = false;     ///< 16-bit stand-ins for each weight shape where accumulation is fused (TE)
  bool fp8_saved_inputs = false;    ///< GEMM inputs are saved in 8 bit by 8-bit recipes
  bool fp8_gathers = false;         ///< sharded weights are gathered in 8 bit
  bool gradients_are_late = false;  ///< zero_grad(set_to_none): none exist at the first micro-batch's loss
  bool copies_attention_output = false;   ///< a second attention output under context parallelism (all-to-all)
  bool dropout = false;                   ///< hidden dropout unless stated, with plain MLPs
  bool pipeline_keeps_gradients = false;  ///< sharded stacks with pp: whole compute copy and fp32 gradients of a stage
  bool gathers = true;                    ///< ZeRO 3 gathers unit by unit
  bool keeps_ends_gathered = false;       ///< embedding and head are the root's unit, which stays from pass to pass
  bool micro_batches_follow_stages = false;  ///< a blank micro-batch means pp micro-batches
  /// Under sequence parallelism gathered inputs of products are kept, not gathered again for the backward pass.
  bool keeps_gathered_inputs = false;
  StageBuffers stage_buffers = StageBuffers::none;
  std::vector<std::int64_t> zero_stages;                  ///< that it knows; empty: all
  std::vector<std::int64_t> zero_stages_with_pp;          ///< the same with pipeline stages; empty: as without
  bool offloads_optimizer = false;                        ///< moments and master copy can live on the host
  bool offloads_parameters = false;                       ///< so can the shards of the weights at ZeRO 3
  std::vector<Schedule> schedules{usual_schedule};        ///< that its pipelines can run
  std::vector<RankOrder> orders{RankOrder::tp_cp_dp_pp};  ///< in which its ranks can fill hosts
  std::vector<ExpertDispatcher> dispatchers;              ///< of experts' tokens that it can run
  bool overlap_needs_chunks = false;                      ///< overlapped experts of a pipeline run interleaved alone
  bool overlap_keeps_inputs = false;                      ///< overlapped experts go without full recomputation
  bool overlap_alone = false;                             ///< before Blackwell overlapped experts go without tp and cp
  std::vector<RecomputePart> recompute_parts;             ///< that its selective recomputation can be told
  std::vector<Recompute> recompute_modes;                 ///< that a blank one is taken from; empty: all
  SelectiveRecompute selective = SelectiveRecompute::core_attention;
  RecomputeEnd recompute_end = RecomputeEnd::whole;
  UnevenSplit uneven = UnevenSplit::ends_count;
  double expert_imbalance = 1.0;  ///< tokens of the fullest expert rank over the mean
  // reserved - live = a x activations + w x workspace, or (r - 1) x (live - states)
  double reserve_activations = 0.0, reserve_workspace = 0.0;
  double reserve_ratio = 0.0, reserve_ratio_tp = 0.0;  ///< r without and with tensor parallelism; 0: use a and w
  Bytes fixed{};                                       ///< live bytes on every rank: cuBLAS workspace and counters
  Bytes outside{};                        ///< bytes outside the allocator: context, communicators, bucket buffers
  Bytes communicators{};                  ///< part of `outside` that a lone GPU does not use: one communicator
  std::vector<CommunicatorGroup> groups;  ///< a rank opens a communicator of each with more ranks; empty: one in all
  StackUpdate update;
  StackBuffers buffers;
  std::optional<StackAdapters> adapters;       ///< nothing: as any, in the compute format with fp32 states
  MemoryKind measured = MemoryKind::reserved;  ///< the memory figure that the software prints
  StackDefaults defaults;
  std::vector<ExpertRule> experts;  ///< how its recipes run layers of experts; the first that holds counts
  StepStacks time;                  ///< parameters of the step's time
  double interval = 0.3;            ///< 80 % of measurements lie within a factor of 1 + interval
  std::string interval_source;

  /// Whether the software can shard states at a ZeRO stage, with or without a pipeline. Remedies must satisfy this.
  [[nodiscard]] bool shards(int zero, bool pipeline) const noexcept;
  /// Whether its recipes of adapters multiply attention in 8 bit, `split` over context ranks or not.
  [[nodiscard]] bool narrows_attention(std::string_view generation, bool split) const noexcept;
  /// Whether the loss is fused when nobody says.
  [[nodiscard]] bool fuses_loss(bool adapted) const noexcept {
    return adapted && adapters ? adapters->fused_loss : defaults.fused_loss;
  }
  [[nodiscard]] StateBytes states_of(Precision precision, std::string_view generation) const noexcept;
};

[[nodiscard]] MemoryStack read_memory_stack(const ConfigValue& document,
                                            const std::string& file,
                                            Diagnostics& diagnostics);

class MemoryStacks {
 public:
  explicit MemoryStacks(std::vector<MemoryStack> stacks) : stacks_{std::move(stacks)} {}
  /// Finds a stack by id. ConfigError with a suggestion if it is unknown.
  [[nodiscard]] const MemoryStack& find(std::string_view id) const;
  /// The stack with the longest `frameworks` entry that `framework` starts with, ignoring case, or what its name means
  /// on GPUs of that generation (empty: of any); nullptr: none. ConfigError for a successor that is none.
  [[nodiscard]] const MemoryStack* of_framework(std::string_view framework, std::string_view generation) const;
  [[nodiscard]] const std::vector<MemoryStack>& all() const noexcept { return stacks_; }
  /// Replaces the time parameters of an existing stack.
  void set_time(std::string_view id, const StepStacks& time) noexcept;

 private:
  std::vector<MemoryStack> stacks_;
};

/// The stack, then those that its file is based on, nearest first.
[[nodiscard]] std::vector<std::string> lineage_of(const MemoryStacks& stacks, const MemoryStack& stack);

/// All stacks of `data`. ConfigError if one is invalid.
[[nodiscard]] const MemoryStacks& memory_stacks(const ModelData& data);

}  // namespace headroom
