// SPDX-License-Identifier: Apache-2.0
// A first serving estimate: weights, KV cache, and the weight-read and compute bounds of prefill and decode.
#pragma once

#include <headroom/hardware/device.hpp>
#include <headroom/model/cost/rough_stack.hpp>
#include <headroom/model/estimate.hpp>
#include <headroom/model/explain.hpp>
#include <headroom/model/precision.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <cstdint>

namespace headroom {

struct ServingWorkload {
  std::int64_t gpus = 1;
  std::int64_t tp = 1, pp = 1;
  std::int64_t isl = 1, osl = 1;
  std::int64_t concurrency = 1;  ///< requests in flight over all replicas
  Precision weights = Precision::bf16;
  Precision kv = Precision::bf16;
  double memory_fraction = 0.9;  ///< of the device's memory that the engine may take
};

struct ServingEstimate {
  Verdict verdict = Verdict::feasible;
  double broke = 0.0;
  double limit = 0.0;
  std::int64_t replicas = 1;
  std::int64_t batch = 1;          ///< sequences decoding together on one replica
  std::int64_t max_sequences = 0;  ///< a replica's KV cache holds, at isl + osl tokens each
  Bytes kv_per_token{};            ///< of the whole model
  MemoryBreakdown memory;          ///< of one GPU
  Seconds ttft{};                  ///< one prompt alone
  Seconds tpot{};                  ///< one decode step of the batch
  bool decode_memory_bound = true;
  double output_tokens_per_s = 0.0;  ///< whole system, at the concurrency
  double requests_per_s = 0.0;
};

/// weights / (tp pp) + KV against the memory fraction; ttft = 2 N isl / (tp R) + 4 L s q / 2 terms; tpot = max of the
/// bytes read (weights and the KV of the batch) over bandwidth and the FLOP over rate (Pope et al. 2022, section 2).
[[nodiscard]] ServingEstimate serve(const Architecture& architecture,
                                    const Device& device,
                                    const RoughStack& stack,
                                    const ServingWorkload& work,
                                    ExplainRecorder* recorder);

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
