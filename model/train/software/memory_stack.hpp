// SPDX-License-Identifier: Apache-2.0
// What a training software keeps in memory beside the weights: bytes per parameter, copies at the loss, buffers, slack.
// One TOML a software (model/stacks/train/*.toml); the published column `framework` picks it.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/model/train/strategy/strategy.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Moments beyond `StateBytes::optimizer`, in bytes a parameter, of tensors that an optimizer treats apart.
struct MomentsApart {
  double embedding = 0.0;
  double head = 0.0;  ///< untied; a tied table is the embedding
  double norms = 0.0;
};

/// Bytes per parameter that the recipe keeps beside the weights.
struct StateBytes {
  double weights = 2.0;
  double gradients = 2.0;
  double optimizer = 12.0;
  double buckets = 0.0;  ///< gradients on their way through DDP: none on a lone data rank
  MomentsApart apart{};
  [[nodiscard]] constexpr double total() const noexcept { return weights + gradients + optimizer; }
};

/// What is meant by a published "memory" figure: three numbers that differ by up to a third.
enum class MemoryKind : std::uint8_t { live, reserved, device };
inline constexpr std::array<std::string_view, 3> memory_kind_names{"live", "reserved", "device"};

/// Which tensors `recompute = "selective"` forms again in the backward pass.
enum class SelectiveRecompute : std::uint8_t {
  core_attention,       ///< the score matrices (Korthikanti et al. 2022, section 5); nothing where attention is fused
  every_second_matmul,  ///< all but every second matmul and the attention (torchtitan's per-op default)
  activation_in_8_bit,  ///< the nonlinearity's input is stored in 8 bit by 8-bit recipes (NeMo)
};
inline constexpr std::array<std::string_view, 3> selective_names{"core_attention", "every_second_matmul",
                                                                 "activation_in_8_bit"};

/// How layers that do not divide by the stages are placed.
enum class UnevenSplit : std::uint8_t {
  ends_count,  ///< embedding and loss stand for a layer each where that makes it even (Megatron-Core)
  early,       ///< early stages take one more
};
inline constexpr std::array<std::string_view, 2> uneven_split_names{"ends_count", "early"};

/// Tensor ranks of an expert when nobody states them.
enum class ExpertTensor : std::uint8_t {
  as_tp,             ///< as many as of the rest (Megatron-Core)
  one,               ///< experts are whole (DeepSpeed, Megatron-Bridge recipes)
  as_tp_without_ep,  ///< as tp while the experts are not spread, else whole (torchtitan)
};
inline constexpr std::array<std::string_view, 3> expert_tensor_names{"tp", "one", "tp_without_ep"};

/// What a blank key of a scenario, or a blank cell of a measured row, means with a software.
struct StackDefaults {
  int zero = 1;
  bool sequence_parallel = true;  ///< where tp > 1
  bool flash_attention = true;
  bool fused_loss = false;
  std::uint16_t zero_group = 0;      ///< ranks that share the states of a measured run; 0: all
  bool interleaves = false;          ///< a pipeline whose chunks are not stated ran as many as were fastest
  bool offload_checkpoints = false;  ///< what full recomputation keeps goes to the host
  ExpertTensor expert_tensor = ExpertTensor::as_tp;
  CpForm cp_form = CpForm::unstated;
  std::int64_t vocabulary = 50257;  ///< of a model whose own is not known; GPT-2's tokenizer
  std::string source;
  [[nodiscard]] std::uint16_t expert_tensor_ranks(std::uint16_t tp, std::uint16_t ep) const noexcept;
};

/// What DeepSpeed allocates beside states, in elements of the compute precision.
struct StackBuffers {
  double live_parameters = 0.0;  ///< gathered at once under ZeRO 3, if the stage has as many
  double reduce_bucket = 0.0;    ///< elements of one bucket, whatever the model
  double zero2_buckets = 0.0, zero3_buckets = 0.0;
};

/// A recipe's state bytes, for some precisions and device generations; an empty list means any.
struct StateRow {
  std::vector<std::string> precisions;
  std::vector<std::string> generations;
  StateBytes bytes;
};

struct MemoryStack {
  std::string id, name, file, source;
  std::vector<std::string> frameworks;  ///< how rows and users call it, with or without a version behind
  std::vector<StateRow> states;         ///< the first that matches counts
  // Bytes of a logit at the loss: the output, its fp32 copy, log-softmax and gradients, as far as the loss keeps them
  double logit_bytes = 14.0;              ///< loss run op by op
  double logit_bytes_compiled = 14.0;     ///< with the model compiled
  double logit_bytes_fused = 2.0;         ///< fused cross-entropy
  double reduce_bytes = 4.0;              ///< of a gradient on its way to its shard: fp32, or 16 bit
  bool dummy_gradients = false;           ///< 16-bit stand-ins for each weight shape where accumulation is fused (TE)
  bool fp8_saved_inputs = false;          ///< GEMM inputs are saved in 8 bit by 8-bit recipes
  bool fp8_gathers = false;               ///< sharded weights are gathered in 8 bit
  bool gradients_are_late = false;        ///< zero_grad(set_to_none): none exist at the first micro-batch's loss
  bool copies_attention_output = false;   ///< a second attention output under context parallelism (all-to-all)
  bool dropout = false;                   ///< hidden dropout unless stated, with plain MLPs
  bool pipeline_keeps_gradients = false;  ///< sharded stacks with pp: whole compute copy and fp32 gradients of a stage
  bool gathers = true;                    ///< ZeRO 3 gathers unit by unit
  bool micro_batches_follow_stages = false;               ///< a blank micro-batch means pp micro-batches
  std::vector<std::int64_t> zero_stages;                  ///< that it knows; empty: all
  std::vector<std::int64_t> zero_stages_with_pp;          ///< the same with pipeline stages; empty: as without
  bool offloads_optimizer = false;                        ///< moments and master copy can live on the host
  std::vector<Schedule> schedules{usual_schedule};        ///< that its pipelines can run
  std::vector<RankOrder> orders{RankOrder::tp_cp_dp_pp};  ///< in which its ranks can fill hosts
  SelectiveRecompute selective = SelectiveRecompute::core_attention;
  UnevenSplit uneven = UnevenSplit::ends_count;
  double expert_imbalance = 1.0;  ///< tokens of the fullest expert rank over the mean
  // reserved - live = a x activations + w x workspace, or (r - 1) x (live - states)
  double reserve_activations = 0.0, reserve_workspace = 0.0;
  double reserve_ratio = 0.0, reserve_ratio_tp = 0.0;  ///< without and with tensor parallelism; 0: the form above
  Bytes fixed{};                                       ///< live on every rank: cuBLAS workspace and counters
  Bytes outside{};                                     ///< of the allocator: context, communicators, bucket buffers
  Bytes communicators{};                               ///< of `outside`, what a lone GPU does without
  StackBuffers buffers;
  MemoryKind measured = MemoryKind::reserved;  ///< what the software prints
  StackDefaults defaults;
  StepStacks time;        ///< what the software adds to a step
  double interval = 0.3;  ///< 80 % of what was measured lies within a factor of 1 + interval
  std::string interval_source;

  /// Whether the software shards states as a ZeRO stage does. A remedy must be something it can do.
  [[nodiscard]] bool shards(int zero, bool pipeline) const noexcept;
  [[nodiscard]] StateBytes states_of(Precision precision, std::string_view generation) const noexcept;
};

[[nodiscard]] MemoryStack read_memory_stack(const ConfigValue& document,
                                            const std::string& file,
                                            Diagnostics& diagnostics);

/// Every stack known, user folders first; parsed once. ConfigError when one is broken.
class MemoryStacks {
 public:
  [[nodiscard]] static MemoryStacks standard();
  explicit MemoryStacks(std::vector<MemoryStack> stacks) : stacks_{std::move(stacks)} {}
  /// By id. ConfigError with a suggestion when unknown.
  [[nodiscard]] const MemoryStack& find(std::string_view id) const;
  /// By the longest `frameworks` entry that `framework` starts with, whatever the case; nullptr when none does.
  [[nodiscard]] const MemoryStack* of_framework(std::string_view framework) const noexcept;
  [[nodiscard]] const std::vector<MemoryStack>& all() const noexcept { return stacks_; }
  /// Other parameters of the step for a stack that there is.
  void set_time(std::string_view id, const StepStacks& time) noexcept;

 private:
  std::vector<MemoryStack> stacks_;
};

}  // namespace headroom
