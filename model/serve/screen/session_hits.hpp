// SPDX-License-Identifier: Apache-2.0
// What a prefix cache keeps of sessions between their turns, in closed form.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <span>

namespace headroom {

/// Sessions of one kind on one replica. Tokens are means.
struct SessionFlow {
  Hertz turns_per_s{};
  std::int64_t turns = 1;
  double prompt = 1.0, output = 1.0;  ///< new tokens of a turn, and of its answer
  Seconds think{};                    ///< mean of the exponential pause before a turn
  Seconds queue{};                    ///< from a turn's arrival to the look-up of its prefix
  bool answers_kept = true;           ///< false where prompts are computed apart: a turn leaves its prompt alone
};

/// `kept`: how long a block that nobody uses stays in the cache, infinite if none is ever evicted; `found`: the share
/// (0 to 1) of the tokens of all prompts that is found.
struct SessionHits {
  Seconds kept{};
  double found = 0.0;
};

/// An LRU cache whose blocks stay for one time t after their last use, at which what is kept of idle sessions is the
/// cache (Che, Tung and Wang 2002, eq. 5): after its k-th turn a session leaves S_k tokens for min(pause, t), after its
/// last one for t. A turn finds all of S_k if its pause and its queue are shorter than t, else nothing. `spare`: tokens
/// of the KV pool that running requests leave.
[[nodiscard]] SessionHits session_hits(std::span<const SessionFlow> flows, double spare) noexcept;

}  // namespace headroom
