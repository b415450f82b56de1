// SPDX-License-Identifier: Apache-2.0
// Memory of one GPU of a serving replica as its engine divides it: weights, activations, CUDA graphs, framework, and a
// KV pool that takes the rest of the engine's share.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/serve/engine/layout.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace headroom {

/// The first rule that the layout breaks; `gpus` in all.
struct LayoutProblem {
  Verdict verdict = Verdict::feasible;
  std::int64_t broke = 0, limit = 0;
};
[[nodiscard]] LayoutProblem check(const Architecture& architecture,
                                  const ServingLayout& layout,
                                  std::int64_t gpus) noexcept;

/// What one pipeline stage keeps on one GPU.
struct ServingStage {
  Bytes weights{};
  Bytes experts{};          ///< of them, the routed experts
  Bytes cache_per_token{};  ///< of the layers that look at everything
  struct Window {
    double tokens = 0.0;
    Bytes per_token{};
  };
  std::array<Window, 4> windows{};  ///< layers that look back no further; more kinds join the next wider one
  Bytes state_per_sequence{};       ///< recurrent layers
  /// Bytes of a sequence of `tokens`, in whole blocks (Kwon et al. 2023, section 4.1).
  [[nodiscard]] Bytes sequence(double tokens, double block_tokens) const noexcept;
};

/// Everything that does not depend on the limits: fixed size, made once.
struct CompiledServingMemory {
  EngineMemory engine;
  Bytes device{};  ///< what a program sees
  ServingLayout layout;
  std::array<ServingStage, 3> stages{};  ///< first, fullest of the middle, last
  int stage_count = 1;
  Bytes activation_per_token{};     ///< peak, per scheduled token
  Bytes activation_per_sequence{};  ///< the sampler's, per running sequence
  /// c + d log2(n) over the n ranks of the replica: tensor, pipeline and expert ranks all hold communicators.
  [[nodiscard]] Bytes framework() const noexcept;
};

/// Weights: GEMMs as stored, with their block scales; embedding, head, norms and router in 16 bit (32 with fp32). mxfp4
/// holds the experts alone where there are any (OpenAI 2025, gpt-oss). Key and value projections and caches are
/// replicated when tp exceeds the KV heads, redundant experts spread as the others are; the latent of MLA is whole on
/// every rank. Recurrent state in 16 bit.
[[nodiscard]] CompiledServingMemory compile_serving_memory(const Architecture& architecture,
                                                           const Device& device,
                                                           const EngineMemory& engine,
                                                           const ServingLayout& layout,
                                                           Precision weights,
                                                           Precision kv);

/// Adds another model's stage to every stage: a draft on the same GPUs.
void add_model(const ServingStage& other, CompiledServingMemory& compiled) noexcept;

struct ServingLimits {
  double memory_fraction = 0.9;
  std::int64_t max_num_seqs = 1;
  std::int64_t max_num_tokens = 1;
  std::int64_t sequence_tokens = 1;  ///< what a sequence may grow to: isl + osl, or the engine's max_seq_len
};

struct ServingMemory {
  /// Feasible when even the low end of the pool holds a sequence.
  Verdict verdict = Verdict::feasible;
  double broke = 0.0;     ///< bytes needed, or of one sequence
  double limit = 0.0;     ///< bytes there are, or of the pool
  MemoryBreakdown terms;  ///< of the binding stage's GPU; kv_cache is the whole pool
  int stage = 0;
  Bytes pool{};
  Bytes sequence{};                ///< KV of one sequence on that GPU
  double tokens = 0.0;             ///< that the replica's pool holds in sequences of that length
  std::int64_t capacity = 0;       ///< sequences that the replica's KV pools hold
  std::int64_t capacity_low = 0;   ///< the same when the pool is smaller by the stack's uncertainty,
  std::int64_t capacity_high = 0;  ///< and when it is larger
  std::int64_t max_sequences = 0;  ///< capacity, and no more than max_num_seqs per attention group
  /// Whether sequences take memory at all; without, the capacities stand for any number.
  [[nodiscard]] constexpr bool bounded() const noexcept { return sequence.raw() > 0.0; }
};

/// total:  pool = f D - weights - activations - framework                      (vLLM)
/// free:   pool = f (D - weights - activations - framework - graphs)           (TensorRT-LLM)
/// static: pool = f (D - framework) - weights; the rest has to hold the others (SGLang)
/// with D what a program sees; sequences = floor(pool / sequence). The stage with the fewest sequences binds.
[[nodiscard]] ServingMemory serving_memory(const CompiledServingMemory& compiled, const ServingLimits& limits) noexcept;

/// `memory`, which serving_memory() gave for `limits`, with a KV pool of so many bytes on the binding stage's GPU.
[[nodiscard]] ServingMemory with_pool(const CompiledServingMemory& compiled,
                                      const ServingLimits& limits,
                                      ServingMemory memory,
                                      Bytes pool) noexcept;

/// The KV pool of a GPU that several engines of one kind share, each with its weights, activations, graphs and
/// framework: the sum of the pools that they would have alone, less (n - 1) f D, whatever f is a fraction of. Below
/// zero when the rest does not fit. Precondition: layouts of one stage.
[[nodiscard]] Bytes shared_pool(std::span<const ServingMemory> alone, Bytes device, double fraction) noexcept;

/// The largest sequence length of which the pools hold `sequences`; 0 when they hold none of one token, nullopt when
/// any length fits: a cache of windows and recurrent states stops growing.
[[nodiscard]] std::optional<std::int64_t> longest_sequence(const CompiledServingMemory& compiled,
                                                           const ServingLimits& limits,
                                                           std::int64_t sequences) noexcept;

/// Data-parallel replicas while the weights fit `fraction` of one GPU, else the least power of two of tp that holds
/// them.
struct ReplicaLayout {
  std::int64_t tp = 1;
  std::int64_t replicas = 1;  ///< of `gpus`
};
[[nodiscard]] ReplicaLayout replica_layout(Bytes weights, Bytes capacity, double fraction, std::int64_t gpus) noexcept;

/// Share of a contiguous reservation that a mean sequence leaves empty: 1 - mean / reserved.
[[nodiscard]] double contiguous_waste(double reserved_tokens, double mean_tokens) noexcept;
/// The same with blocks, at worst all but one slot of the last block (Kwon et al. 2023, section 4.1).
[[nodiscard]] double paged_waste(double block_tokens, double mean_tokens) noexcept;

}  // namespace headroom
