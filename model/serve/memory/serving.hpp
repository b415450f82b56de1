// SPDX-License-Identifier: Apache-2.0
// A serving question and its memory as the engine divides it.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/estimate/explain.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/serve/engine/client_facts.hpp>
#include <headroom/model/serve/engine/weight_kernels.hpp>
#include <headroom/model/serve/memory/draft_memory.hpp>
#include <headroom/model/serve/memory/memory.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace headroom {

/// Which phases a replica computes: of a disaggregated deployment a pool has prompts or decodes alone.
enum class ServingPool : std::uint8_t { both, prefill, decode };
inline constexpr std::array<std::string_view, 3> serving_pool_names{"both", "prefill", "decode"};

struct ServingWorkload {
  std::int64_t gpus = 1;
  ServingLayout layout;
  std::int64_t isl = 1, osl = 1;
  std::int64_t concurrency = 1;  ///< requests in flight over all replicas
  Precision weights = Precision::bf16;
  Precision kv = Precision::bf16;
  WeightKernels weight_kernels = WeightKernels::fused;
  double memory_fraction = 0.9;  ///< in the engine's meaning
  std::int64_t max_num_seqs = 256;
  std::int64_t max_num_tokens = 8192;
  std::int64_t max_seq_len = 0;  ///< 0: isl + osl
  ServingPool pool = ServingPool::both;
  double clock = 1.0;                      ///< of products, over that without a power cap
  std::shared_ptr<const DraftPlan> draft;  ///< null: no speculation
  ClientFacts client;
  double range_ratio = 1.0;           ///< lengths are uniform from this share of isl and osl to all of them
  std::int64_t distinct_prompts = 0;  ///< prompts that are sent again and again; 0: all are new
  /// Mean length over isl or osl.
  [[nodiscard]] double mean_length() const noexcept { return 0.5 * (1.0 + range_ratio); }
  [[nodiscard]] ServingLimits limits() const noexcept {
    return {memory_fraction, max_num_seqs, max_num_tokens, max_seq_len > 0 ? max_seq_len : isl + osl};
  }
};

/// Memory of the workload's replica, its draft with it. Precondition: check_layout() finds no problem.
[[nodiscard]] CompiledServingMemory served_memory(const Architecture& architecture,
                                                  const Device& device,
                                                  const EngineMemory& engine,
                                                  const ServingWorkload& work);

/// Sequences that one replica has to run for the asked concurrency.
[[nodiscard]] std::int64_t sequences_asked(const ServingWorkload& work) noexcept;

/// The first rule that the layout breaks, or its draft's.
[[nodiscard]] LayoutProblem check_layout(const Architecture& architecture, const ServingWorkload& work) noexcept;

struct ServingEstimate {
  Verdict verdict = Verdict::feasible;
  double broke = 0.0;
  double limit = 0.0;
  std::int64_t replicas = 1;
  std::int64_t batch = 1;  ///< sequences decoding together on one replica
  Bytes kv_per_token{};    ///< of the whole model, and of its draft's
  ServingMemory memory;
  Bytes kv_in_use{};  ///< of the binding GPU's pool, by the batch
};

/// Layout and memory alone: needs no peak and no bandwidth. Without heap after compile_serving_memory().
[[nodiscard]] ServingEstimate serve_memory(const Architecture& architecture,
                                           const Device& device,
                                           const ServingStack& engine,
                                           const ServingWorkload& work,
                                           ExplainRecorder* recorder = nullptr);

/// Replicas that have a request: fewer requests than replicas leave some of those idle.
[[nodiscard]] double serving_replicas(const ServingWorkload& work, const ServingEstimate& memory) noexcept;

/// The format that GEMMs with such weights multiply in: their own where the device has its rate, else 16 bit, for
/// kernels unpack narrow weights on the way (weight-only quantisation; Frantar et al. 2024, MARLIN).
[[nodiscard]] Precision compute_precision(const Device& device, Precision weights) noexcept;

/// What products multiply in: the weights' own format where the device has its rate and the format carries activations
/// too, else 16 bit.
[[nodiscard]] Precision activation_precision(const Device& device, Precision weights) noexcept;

/// Bytes of the weights as served.
[[nodiscard]] Bytes weight_bytes(double parameters, Precision precision) noexcept;

/// GPUs that hold `bytes` when each gives `fraction` of its capacity; at least 1.
[[nodiscard]] std::int64_t gpus_to_hold(Bytes bytes, Bytes capacity, double fraction) noexcept;

/// KV bytes of `sequences` of `tokens` each.
[[nodiscard]] Bytes kv_bytes(const Architecture& architecture,
                             double bytes_per_element,
                             double sequences,
                             double tokens);

}  // namespace headroom
