// SPDX-License-Identifier: Apache-2.0
// A bound that no engine beats under a fixed load, from datasheet bandwidth and peak; needs no measured kernels.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/explain.hpp>
#include <headroom/model/serve/memory/serving.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// What limits the rate of a bound.
enum class RateLimit : std::uint8_t {
  latency,      ///< latency of a request: its prompt, then its tokens one after another
  reading,      ///< reading weights and cache; sequences that decode together share the weights
  multiplying,  ///< multiplying prompts and tokens
};
inline constexpr std::array<std::string_view, 3> rate_limit_names{"latency", "reading", "multiplying"};

struct ServingBound {
  Seconds prompt_alone{};                                  ///< lower bound of the time to first token
  Seconds tpot{};                                          ///< lower bound for a sequence that decodes alone
  double requests_per_s = 0.0, output_tokens_per_s = 0.0;  ///< upper bounds, of all replicas
  RateLimit limit = RateLimit::latency;                    ///< what limits the rates
};

/// For a replica of g attention groups in pp stages that holds b sequences of isl tokens, each with n = (osl - 1) / t
/// iterations after its first token and t tokens per iteration (more than 1 with a draft):
/// @code
/// TTFT >= max(W / B, F / (pp P))                 every stage reads its weights; stages may share a prompt's chunks
/// TPOT >= max((W + K / g) / B, f / P) / t        a lone sequence; several together decode no faster
/// rate <= 1 / max((TTFT + (osl - 1) TPOT) / b,   latency: Little 1961, each of the b stays at least that long
///                 n (W / b + K / (g pp)) / B,    reading
///                 (F + n f) / (pp P))            multiplying
/// @endcode
///
/// W: bytes of weights that an iteration reads on the ranks of a stage, summed over stages, without experts (a rank may
/// hold none that is used). K: cache that a sequence reads per iteration, the mean of the first and the last iteration
/// (at most the true mean, because windows make it concave). F, f: FLOP on a rank of a prompt and of one sequence's
/// iteration (least_iteration.hpp). B, P: the datasheet's bandwidth and peak.
///
/// Reading: an iteration of k sequences occupies them for (W + k K / g) / B, and its stages for the same time in total.
/// With S sequence iterations per second in N batches, W S + (K / g) sum k^2 <= b B and W N + (K / g) S <= pp B; since
/// sum k^2 >= S^2 / N, S <= B / (W / b + K / (g pp)). Prompts may join these iterations at the cost of their FLOP only.
///
/// Omitted because an engine may hide or avoid it: launches, hosts, links, attention's products, prompts' cache.
/// Assumed: no bytes stay in on-chip caches between iterations, and no prompts share a prefix. b is what the engine
/// admits and, at the high end of its interval, what the cache holds.
///
/// The bound shows what is impossible; it must not be used to rank SKUs or layouts. ConfigError if the SKU lacks the
/// peak of the weights' format. Precondition: memory is feasible.
[[nodiscard]] ServingBound serving_bound(const Architecture& architecture,
                                         const Device& device,
                                         const ServingWorkload& work,
                                         const ServingEstimate& memory,
                                         ExplainRecorder* recorder = nullptr);

}  // namespace headroom
