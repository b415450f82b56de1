// SPDX-License-Identifier: Apache-2.0
// What no engine beats under a fixed load, where nobody measured kernels: the datasheet's bandwidth and peak alone.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/explain.hpp>
#include <headroom/model/serve/memory/serving.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// What keeps a bound's rate down.
enum class RateLimit : std::uint8_t {
  latency,      ///< of a request: its prompt, then its tokens one after another
  reading,      ///< weights and cache, weights shared by all that decode together
  multiplying,  ///< prompts and tokens
};
inline constexpr std::array<std::string_view, 3> rate_limit_names{"latency", "reading", "multiplying"};

struct ServingBound {
  Seconds prompt_alone{};                                  ///< of a first token, at least
  Seconds tpot{};                                          ///< at least, for a sequence that decodes alone
  double requests_per_s = 0.0, output_tokens_per_s = 0.0;  ///< of all replicas, at most
  RateLimit limit = RateLimit::latency;                    ///< what makes the rates what they are
};

/// Of a replica of g attention groups in pp stages that hold b sequences, each of isl tokens and n iterations after its
/// first token, n = (osl - 1) / t with t tokens of an iteration (more than 1 with a draft):
///
///   TTFT >= max(W / B, F / (pp P))                 every stage reads its weights; stages may share a prompt's chunks
///   TPOT >= max((W + K / g) / B, f / P) / t        a lone sequence; more together decode no sooner
///   rate <= 1 / max((TTFT + (osl - 1) TPOT) / b,   Little 1961: each of the b stays at least so long
///                   n (W / b + K / (g pp)) / B,    reading
///                   (F + n f) / (pp P))            multiplying
///
/// W: bytes of weights that an iteration reads on the ranks of a stage, summed over stages, without experts, of which a
/// rank may hold none that is met; K: cache that a sequence reads an iteration, the mean of its first and its last (no
/// more than the true mean, for windows make it concave); F, f: FLOP on a rank of a prompt and of an iteration of one
/// sequence (least_iteration.hpp); B, P: the datasheet's bandwidth and peak.
///
/// Reading: an iteration of k sequences keeps them for (W + k K / g) / B, and its stages as long in all. With S
/// iterations of a sequence a second, in N batches, W S + (K / g) sum k^2 <= b B and W N + (K / g) S <= pp B; as
/// sum k^2 >= S^2 / N, S <= B / (W / b + K / (g pp)). Prompts may ride in these iterations for nothing but their FLOP.
///
/// Left out is what an engine may hide or spare: launches, hosts, links, attention's products, prompts' cache. No bytes
/// are taken to stay in caches on the chip from one iteration to the next, and no prompt to share a prefix. b is what
/// the engine lets in and, at the high end of its interval, what the cache holds.
///
/// It says what is impossible and orders neither SKUs nor layouts. ConfigError where the SKU lacks the peak of the
/// weights' format. Precondition: memory is feasible.
[[nodiscard]] ServingBound serving_bound(const Architecture& architecture,
                                         const Device& device,
                                         const ServingWorkload& work,
                                         const ServingEstimate& memory,
                                         ExplainRecorder* recorder = nullptr);

}  // namespace headroom
