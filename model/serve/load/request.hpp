// SPDX-License-Identifier: Apache-2.0
// A client's request to a fleet, and the times of its answer.
#pragma once

#include <headroom/model/serve/load/prompt_prefixes.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace headroom {

/// A time that is never reached, beyond all simulated time.
inline constexpr Picoseconds never = Picoseconds::end();

/// One request. Numbers of tokens are at least 1.
struct Request {
  Picoseconds arrival{};
  std::int32_t prompt_tokens = 1;
  std::int32_t output_tokens = 1;
  std::int32_t cached_tokens = 0;  ///< prompt tokens found in a prefix cache; at least one token is computed anyway
  std::int32_t service_class = 0;  ///< index of the service objective that applies
};

/// Sessions: requests that are sent when the answer to another has been read. All vectors are by request, in the load's
/// order; empty: no request waits for another. A turn stands behind the one before it.
struct SessionTurns {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> previous;  ///< the turn before; none: the request opens a session
  std::vector<std::uint32_t> next;      ///< the turn after; none: the last one
  std::vector<Picoseconds> pause;       ///< from the end of the answer before to the request
  [[nodiscard]] bool empty() const noexcept { return next.empty(); }
};

/// An open load sends each request at its arrival. A closed load sends `concurrency` requests at time 0, and one more
/// `think` after each finish; it ignores arrivals. A turn of a session is sent a pause after the answer before it: in
/// an open load whatever its arrival, which is then only the one that was planned; in a closed load by the next client
/// that is free, before new sessions are opened.
struct RequestLoad {
  std::vector<Request> requests;  ///< requests in order of arrival
  std::int64_t concurrency = 0;   ///< clients of a closed load; 0: open
  Picoseconds think{};
  PromptPrefixes prefixes;  ///< prefixes of the requests, in their order; requests with ids ignore cached_tokens
  SessionTurns turns;
  /// The first requests, sent while fewer sessions are open than later on.
  std::int64_t filling = 0;
  /// Drops all requests but the first `count`.
  void keep(std::size_t count);
};

/// Times of one request. Those that were not reached are `never`.
struct RequestTimes {
  Picoseconds arrival = never;      ///< time at which the client sends the request
  Picoseconds started = never;      ///< start of the first iteration with part of its prompt
  Picoseconds first_token = never;  ///< first token at the client
  Picoseconds finished = never;     ///< last token at the client
  std::int32_t replica = -1;        ///< replica that gives the last token
  std::int32_t preemptions = 0;
  bool refused = false;  ///< refused because it exceeds a whole KV pool
};

/// Tokens of a prompt with ids that were found at its first admission.
struct PrefixHits {
  static constexpr std::size_t most_tiers = 3;
  std::int32_t pool = 0;                          ///< tokens found in the KV pool
  std::array<std::int32_t, most_tiers> tiers{};   ///< useful tokens found in each tier below the pool
  std::array<std::int32_t, most_tiers> loaded{};  ///< tokens loaded from each tier, useful or not
  Picoseconds loading{};                          ///< time from arrival at the replica until all were loaded
  /// `in_pool` of the `found` tokens were in the pool; loaded tokens are useful for the rest, the lowest tier's first.
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
