// SPDX-License-Identifier: Apache-2.0
// What a client asks of a fleet, and when it was answered.
#pragma once

#include <headroom/model/serve/load/prompt_prefixes.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

/// A time that never comes: beyond all that is simulated.
inline constexpr Picoseconds never = Picoseconds::end();

/// One request. Tokens are at least 1.
struct Request {
  Picoseconds arrival{};
  std::int32_t prompt_tokens = 1;
  std::int32_t output_tokens = 1;
  std::int32_t cached_tokens = 0;  ///< of the prompt, found in a prefix cache; one at least is computed all the same
  std::int32_t service_class = 0;  ///< index of the objective that holds for it
};

/// What clients send. Open: each request at its arrival. Closed: `concurrency` requests at time 0 and one more whenever
/// one finishes, after `think`; their arrivals are then not read.
struct RequestLoad {
  std::vector<Request> requests;  ///< by arrival
  std::int64_t concurrency = 0;   ///< 0: open
  Picoseconds think{};
  PromptPrefixes prefixes;  ///< of the requests, in their order; cached_tokens of one with ids are not read
};

/// What became of one request. Times that were not reached are `never`.
struct RequestTimes {
  Picoseconds arrival = never;      ///< at the client
  Picoseconds started = never;      ///< of the first iteration that holds some of its prompt
  Picoseconds first_token = never;  ///< at the client
  Picoseconds finished = never;     ///< at the client
  std::int32_t replica = -1;        ///< that gave the last token, or was to give it
  std::int32_t preemptions = 0;
  bool refused = false;  ///< longer than a whole KV pool
};

/// What of a prompt with ids was found when it was admitted first, in tokens.
struct PrefixHits {
  static constexpr std::size_t most_tiers = 3;
  std::int32_t pool = 0;                          ///< in the KV pool
  std::array<std::int32_t, most_tiers> tiers{};   ///< in tiers below it, and of use
  std::array<std::int32_t, most_tiers> loaded{};  ///< from them, of use or not
  Picoseconds loading{};                          ///< from its arrival at the replica until all had come
  /// `in_pool` of the `found` tokens were in the pool; what was loaded besides is of use behind them.
  void settle(std::int64_t in_pool, std::int64_t found) noexcept {
    pool = static_cast<std::int32_t>(in_pool);
    auto left = static_cast<std::int32_t>(found - in_pool);
    for (std::size_t i = most_tiers; i > 0; --i) {
      tiers[i - 1] = left < loaded[i - 1] ? left : loaded[i - 1];
      left -= tiers[i - 1];
    }
  }
};

}  // namespace headroom
