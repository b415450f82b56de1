// SPDX-License-Identifier: Apache-2.0
// How a serving replica is spread over GPUs.
#pragma once

#include <cstdint>

namespace headroom {

/// With ep <= tp, experts are divided among ep groups of the tp ranks. With ep = n tp, attention is data parallel over
/// n groups of tp ranks (attention-DP), each with its own KV cache.
struct ServingLayout {
  std::int64_t tp = 1, pp = 1, ep = 1;
  std::int64_t redundant = 0;  ///< experts of a layer that are held beside one of each, so that hot ones have several
  bool balanced = false;       ///< experts lie where their loads even out over the ranks (EPLB)
  bool two_batches = false;    ///< halves of a batch take turns: one's exchanges run beside the other's compute
  /// Under attention-DP every rank holds a slice of each expert, in place of whole ones; `ep` counts the ranks all the
  /// same.
  bool cut_experts = false;
  [[nodiscard]] constexpr std::int64_t attention_groups() const noexcept { return ep > tp ? ep / tp : 1; }
  [[nodiscard]] constexpr std::int64_t gpus() const noexcept { return tp * pp * attention_groups(); }
};

}  // namespace headroom
