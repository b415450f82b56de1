// SPDX-License-Identifier: Apache-2.0
// One training question, compiled: the numbers an evaluation needs and nothing it would have to look up.
#pragma once

#include <headroom/hardware/device.hpp>
#include <headroom/model/cost/rough_stack.hpp>
#include <headroom/model/explain.hpp>
#include <headroom/model/precision.hpp>
#include <headroom/model/train/strategy.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <cstdint>
#include <string>

namespace headroom {

/// What is trained of the weights. LoRA freezes the base: no weight gradients, no optimizer states for it.
enum class Method : std::uint8_t { full, lora, qlora };
inline constexpr std::array<std::string_view, 3> method_names{"full", "lora", "qlora"};

/// Bytes per parameter that the recipe keeps beside the weights.
struct StateBytes {
  double weights = 2.0;
  double gradients = 2.0;
  double optimizer = 12.0;
  [[nodiscard]] constexpr double total() const noexcept { return weights + gradients + optimizer; }
};
/// Adam with fp32 moments: 8 bytes, and 4 more for the master copy of 16-bit weights; gradients as the weights
/// (Rajbhandari et al. 2020, section 3.1: 2 + 2 + 12).
[[nodiscard]] StateBytes adam_states(Precision precision) noexcept;
/// What training stacks really keep: Megatron-style data parallelism accumulates 16-bit gradients in fp32 (2 + 4 + 12;
/// Narayanan et al. 2021, section 4); fully sharded stacks keep fp32 shards of weight, gradient and moments (16 again).
[[nodiscard]] StateBytes usual_states(Precision precision, int zero) noexcept;

struct TrainingWorkload {
  TrainingShape shape;
  Precision precision = Precision::bf16;
  StateBytes states;
  Method method = Method::full;
  bool flash_attention = true;  ///< fused: scores never stored, causal half skipped
  bool dropout = false;         ///< masks stored, as GPT-style recipes do
};

/// Sources that `explain` prints beside the compiled numbers.
struct TrainingSources {
  std::string architecture, peak, sustained, capacity, fragmentation, framework;
};

struct CompiledTraining {
  // Shape
  double hidden = 0, query_width = 0, kv_width = 0, heads = 0, ffn = 0, vocab = 0, seq_len = 0;
  double layers = 0;
  bool gated = false, tied = false;
  // Parameters: of a mean layer split over tp, whole on every rank, in experts; of the ends; of everything
  double split_parameters = 0, whole_parameters = 0, expert_parameters = 0;
  double embedding_parameters = 0, head_parameters = 0, parameters = 0, active_parameters = 0;
  // FLOP of one token and one layer, forward (means over dense and MoE layers)
  Flops gemm_per_token{}, attention_per_token{}, head_per_token{};
  Flops score_flops{};  ///< scores and values of a mean layer and token over the whole sequence
  /// Model FLOP of one token, forward and backward, causal attention not halved (Chowdhery et al. 2022, appendix B).
  Flops model_flops_per_token{};
  double gemm_backward = 2.0;       ///< backward / forward FLOP of layer GEMMs: 2; 1 with frozen weights
  double attention_backward = 2.0;  ///< 2.5 for fused kernels, which form the scores again (Dao 2023, section 3.1)
  // Rates
  FlopsPerSecond gemm_peak{}, gemm_rate{}, wide_rate{};  ///< wide: attention and head, never below 16 bit
  Bytes capacity{};
  double fragmentation = 0.0;
  Bytes framework{};
  TrainingWorkload work;
  Architecture architecture;
  TrainingSources sources;
};

/// Throws ConfigError when the SKU lacks the peak, or the stack the sustained share, that the recipe needs.
[[nodiscard]] CompiledTraining compile(const Architecture& architecture,
                                       const Device& device,
                                       const RoughStack& stack,
                                       const TrainingWorkload& work);

/// The axes that layer costs depend on: one table serves every dp, pp, vpp and ZeRO stage.
struct LayerKey {
  std::uint16_t tp = 1, cp = 1, ep = 1, etp = 1, micro_batch = 1;
  bool sequence_parallel = false;
  Recompute recompute = Recompute::none;
};
[[nodiscard]] LayerKey key_of(const Strategy& strategy) noexcept;

/// Costs of one layer and one micro-batch on one rank.
struct LayerTable {
  Seconds gemm{}, attention{}, recompute{};  ///< forward and backward together; recompute apart
  Seconds head{};                            ///< on the last stage
  Bytes activations{};                       ///< kept per layer and micro-batch in flight
  Bytes workspace{};                         ///< one recomputed layer in full
  Bytes logits{};
  double layer_parameters = 0;  ///< of one rank and mean layer, experts apart
  double expert_parameters = 0;
  double embedding_parameters = 0, head_parameters = 0;
};
[[nodiscard]] LayerTable tabulate(const CompiledTraining& compiled, const LayerKey& key) noexcept;

/// Prices one strategy: legality first, then memory, then time. Never allocates.
[[nodiscard]] Estimate evaluate(const CompiledTraining& compiled,
                                const LayerTable& table,
                                const Strategy& strategy) noexcept;
/// The same evaluation with every term recorded; equal to evaluate() bit for bit.
[[nodiscard]] Estimate explain(const CompiledTraining& compiled,
                               const LayerTable& table,
                               const Strategy& strategy,
                               ExplainRecorder& recorder);

/// Bytes of weights, gradients and optimizer states on one GPU under a ZeRO stage over `ranks` data ranks:
/// z0 (w+g+o)P, z1 (w+g)P + oP/n, z2 wP + (g+o)P/n, z3 (w+g+o)P/n (Rajbhandari et al. 2020, section 5, figure 1).
struct StateMemory {
  Bytes weights{}, gradients{}, optimizer{};
  [[nodiscard]] constexpr Bytes total() const noexcept { return weights + gradients + optimizer; }
};
[[nodiscard]] StateMemory state_memory(double parameters, const StateBytes& bytes, int zero, double ranks) noexcept;

/// Activations of one layer and micro-batch, with the switches of Korthikanti et al. 2022, equations 1 to 4, extended
/// to grouped queries, gated MLPs and context parallelism; see the .cpp for the terms.
struct ActivationShape {
  double micro_batch = 1, seq_len = 1, hidden = 1, query_width = 1, kv_width = 1, heads = 1, ffn = 1;
  double tp = 1, cp = 1;
  bool gated = false, sequence_parallel = false, flash_attention = true, dropout = false;
  Recompute recompute = Recompute::none;
};
[[nodiscard]] Bytes layer_activations(const ActivationShape& shape) noexcept;

}  // namespace headroom
