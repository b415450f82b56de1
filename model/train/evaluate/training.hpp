// SPDX-License-Identifier: Apache-2.0
// One training question, compiled to the numbers that an evaluation needs, without further look-ups.
#pragma once

#include <headroom/core/real.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/explain.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/model/train/step/input_pipeline.hpp>
#include <headroom/model/train/step/rank_conduct.hpp>
#include <headroom/model/train/step/step_table.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace headroom {

class HeldStages;
class JobGroups;
class StepModel;
struct RoughStack;

struct TrainingWorkload {
  TrainingShape shape;
  Precision precision = Precision::bf16;
  StateBytes states;
  MemoryOptions options;
  std::optional<BytesPerSecond> host_link;    ///< rate of one GPU to its host, each way
  std::int64_t host_gpus = 1;                 ///< GPUs that share a host
  std::optional<BytesPerSecond> host_memory;  ///< peak bandwidth of the host's memory; nullopt: not known
  std::optional<DataFeed> feed;               ///< nullopt: data loading is assumed fast enough
  MeasuredLevel measured;                     ///< correction from the user's own runs
  std::string release;                        ///< of the software, whose recipes of experts depend on it; empty: any
  double clock = 1.0;   ///< clock of products over the clock without a power cap and as the SKU states it
  RankConduct conduct;  ///< of host and ranks, where it is stated
  /// What does not change the numbers of a network and nobody states is taken as fastest, as far as the software has
  /// it: what exchanges the tokens of experts.
  bool open_recipe = false;
  /// Layers of the end stages that nobody states make the slowest stage the shortest, where the software can do so.
  bool balances_stages = false;
};

/// Sources of the compiled numbers, printed by `explain`.
struct TrainingSources {
  std::string architecture, peak, sustained, capacity;
};

struct CompiledTraining {
  double hidden = 0, vocab = 0, seq_len = 0, layers = 0;
  double parameters = 0, active_parameters = 0;
  // FLOP of one token and one layer, forward (means over dense and MoE layers)
  Flops gemm_per_token{}, attention_per_token{}, head_per_token{};
  Flops score_flops{};  ///< FLOP of scores and values of a mean layer and token over the whole sequence
  /// Model FLOP of one token, forward and backward, causal attention not halved (Chowdhery et al. 2022, appendix B).
  Flops model_flops_per_token{};
  double gemm_backward = 2.0;  ///< backward / forward FLOP of layer GEMMs: 2, or 1 with frozen weights
  /// Backward / forward FLOP of attention; 2.5 for fused kernels (Dao 2023, section 3.1).
  double attention_backward = 2.0;
  FlopsPerSecond gemm_peak{}, gemm_rate{}, wide_rate{};  ///< `wide`: rate of attention and head, never below 16 bit
  bool timed = false;  ///< false: compiled for memory only; step times at 1 FLOP/s merely rank strategies
  std::shared_ptr<const StepModel> step;  ///< prices steps; nullptr: the rough form, a sustained share of the peak
  Bytes capacity{};
  bool balances_stages = false;  ///< end stages that nobody states hold as many layers as balance the stages
  CompiledMemory memory;
  TrainingWorkload work;
  Architecture architecture;
  TrainingSources sources;
};

/// Compiles a question on a job's groups of ranks, with the parameters of the software and of steps in general.
/// ConfigError if the SKU lacks the recipe's peak or its bandwidth.
[[nodiscard]] CompiledTraining compile(const Architecture& architecture,
                                       const Device& device,
                                       std::shared_ptr<const JobGroups> groups,
                                       const MemoryStack& software,
                                       const TrainingWorkload& work,
                                       const StepParameters& parameters,
                                       TermSet without = {});

/// Compiles a question in the rough form, which `headroom fit` regenerates for serving and networks of ops. ConfigError
/// if the SKU lacks the peak, or the stack the sustained share, that the recipe needs.
[[nodiscard]] CompiledTraining compile(const Architecture& architecture,
                                       const Device& device,
                                       const RoughStack& stack,
                                       const MemoryStack& software,
                                       const TrainingWorkload& work);

/// How a job runs its experts: as it states, else as the software's recipe for it. Nothing of a dense network.
[[nodiscard]] ExpertHabits expert_habits_of(const MemoryStack& software,
                                            const TrainingWorkload& work,
                                            const Architecture& architecture,
                                            const Device& device);

/// Compiles a question for memory alone, without need of a peak or a share.
[[nodiscard]] CompiledTraining compile_for_memory(const Architecture& architecture,
                                                  const Device& device,
                                                  const MemoryStack& software,
                                                  const TrainingWorkload& work);

[[nodiscard]] LayerKey key_of(const Strategy& strategy) noexcept;

/// Costs of one layer and one micro-batch on one rank.
struct LayerTable {
  StepTable step;
  // The rough form
  Seconds gemm{}, attention{}, recompute{};  ///< forward and backward together; recompute separately
  Seconds head{};                            ///< time of the head, on the last stage
  MemoryTable memory;
};
[[nodiscard]] LayerTable tabulate(const CompiledTraining& compiled, const LayerKey& key);

/// Prices one strategy: legality first, then memory, then time. Never allocates heap memory.
[[nodiscard]] Estimate evaluate(const CompiledTraining& compiled,
                                const LayerTable& table,
                                const Strategy& strategy) noexcept;
/// First half of evaluate(), for searches that time only what fits: legality and memory, without groups of ranks in the
/// table. evaluate_time() is the second half. A broken rule leaves memory and time zero. Of what surely needs more than
/// `room` no more may be told than a device's upper end above it.
[[nodiscard]] Estimate evaluate_memory(const CompiledTraining& compiled,
                                       const LayerTable& table,
                                       const Strategy& strategy,
                                       Bytes room = any_room) noexcept;
/// The same of a strategy whose rules are checked and whose stages are among those that are held alike.
[[nodiscard]] Estimate evaluate_memory(const CompiledTraining& compiled,
                                       const Legality& legality,
                                       HeldStages& held,
                                       const Strategy& strategy,
                                       Bytes room = any_room);
void evaluate_time(const CompiledTraining& compiled,
                   const LayerTable& table,
                   const Strategy& strategy,
                   Estimate& estimate) noexcept;
/// The same where the traffic is known: of all splits and schedules of a strategy it is alike.
void evaluate_time(const CompiledTraining& compiled,
                   const LayerTable& table,
                   const Strategy& strategy,
                   const StepTraffic& traffic,
                   Estimate& estimate) noexcept;
[[nodiscard]] StepTraffic traffic_of(const CompiledTraining& compiled,
                                     const LayerTable& table,
                                     const Strategy& strategy) noexcept;
[[nodiscard]] inline double micro_batches_of(const CompiledTraining& compiled, const Strategy& s) noexcept {
  return real(compiled.work.shape.global_batch) / (static_cast<double>(s.dp) * s.micro_batch);
}
/// Runs evaluate() with every term recorded; the result is equal bit for bit.
[[nodiscard]] Estimate explain(const CompiledTraining& compiled,
                               const LayerTable& table,
                               const Strategy& strategy,
                               ExplainRecorder& recorder);

}  // namespace headroom
