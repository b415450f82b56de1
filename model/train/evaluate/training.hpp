// SPDX-License-Identifier: Apache-2.0
// One training question, compiled: the numbers an evaluation needs and nothing it would have to look up.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/explain.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/model/train/step/input_pipeline.hpp>
#include <headroom/model/train/step/step_table.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace headroom {

class JobGroups;
class StepModel;
struct RoughStack;

struct TrainingWorkload {
  TrainingShape shape;
  Precision precision = Precision::bf16;
  StateBytes states;
  MemoryOptions options;
  std::optional<BytesPerSecond> host_link;  ///< of one GPU to its host, each way
  std::int64_t host_gpus = 1;               ///< GPUs that share a host
  std::optional<DataFeed> feed;             ///< nothing: data is taken not to bind
  MeasuredLevel measured;                   ///< of the user's own runs
  double clock = 1.0;                       ///< of products, over that without a power cap
};

/// Sources that `explain` prints beside the compiled numbers.
struct TrainingSources {
  std::string architecture, peak, sustained, capacity;
};

struct CompiledTraining {
  // Shape
  double hidden = 0, vocab = 0, seq_len = 0, layers = 0;
  double parameters = 0, active_parameters = 0;
  // FLOP of one token and one layer, forward (means over dense and MoE layers)
  Flops gemm_per_token{}, attention_per_token{}, head_per_token{};
  Flops score_flops{};  ///< scores and values of a mean layer and token over the whole sequence
  /// Model FLOP of one token, forward and backward, causal attention not halved (Chowdhery et al. 2022, appendix B).
  Flops model_flops_per_token{};
  double gemm_backward = 2.0;       ///< backward / forward FLOP of layer GEMMs: 2; 1 with frozen weights
  double attention_backward = 2.0;  ///< 2.5 for fused kernels, which form the scores again (Dao 2023, section 3.1)
  // Rates
  FlopsPerSecond gemm_peak{}, gemm_rate{}, wide_rate{};  ///< wide: attention and head, never below 16 bit
  bool timed = false;  ///< false: compiled for memory; at one FLOP/s steps rank strategies and mean nothing else
  std::shared_ptr<const StepModel> step;  ///< prices steps; none: the rough form, a sustained share of the peak
  Bytes capacity{};
  CompiledMemory memory;
  TrainingWorkload work;
  Architecture architecture;
  TrainingSources sources;
};

/// On a job's groups, with the parameters of the software and of steps at large. ConfigError when the SKU lacks the
/// peak of the recipe or its bandwidth, or for a recurrent mixer.
[[nodiscard]] CompiledTraining compile(const Architecture& architecture,
                                       const Device& device,
                                       std::shared_ptr<const JobGroups> groups,
                                       const MemoryStack& software,
                                       const TrainingWorkload& work,
                                       TermSet without = {},
                                       const StepParameters& parameters = step_parameters());

/// In the rough form, which `headroom fit` regenerates for serving and networks of ops. Throws ConfigError when the SKU
/// lacks the peak, or the stack the sustained share, that the recipe needs.
[[nodiscard]] CompiledTraining compile(const Architecture& architecture,
                                       const Device& device,
                                       const RoughStack& stack,
                                       const MemoryStack& software,
                                       const TrainingWorkload& work);

/// The same for memory alone: needs no peak and no share.
[[nodiscard]] CompiledTraining compile_for_memory(const Architecture& architecture,
                                                  const Device& device,
                                                  const MemoryStack& software,
                                                  const TrainingWorkload& work);

[[nodiscard]] LayerKey key_of(const Strategy& strategy) noexcept;

/// Costs of one layer and one micro-batch on one rank.
struct LayerTable {
  StepTable step;
  // The rough form
  Seconds gemm{}, attention{}, recompute{};  ///< forward and backward together; recompute apart
  Seconds head{};                            ///< on the last stage
  MemoryTable memory;
};
[[nodiscard]] LayerTable tabulate(const CompiledTraining& compiled, const LayerKey& key);

/// Prices one strategy: legality first, then memory, then time. Never allocates.
[[nodiscard]] Estimate evaluate(const CompiledTraining& compiled,
                                const LayerTable& table,
                                const Strategy& strategy) noexcept;
/// The same in two halves, for searches that time only what fits: legality and memory, which need no groups of ranks in
/// the table; then the step. Nothing is timed where a rule is broken, which leaves the memory zero.
[[nodiscard]] Estimate evaluate_memory(const CompiledTraining& compiled,
                                       const LayerTable& table,
                                       const Strategy& strategy) noexcept;
void evaluate_time(const CompiledTraining& compiled,
                   const LayerTable& table,
                   const Strategy& strategy,
                   Estimate& estimate) noexcept;
/// The same evaluation with every term recorded; equal to evaluate() bit for bit.
[[nodiscard]] Estimate explain(const CompiledTraining& compiled,
                               const LayerTable& table,
                               const Strategy& strategy,
                               ExplainRecorder& recorder);

}  // namespace headroom
