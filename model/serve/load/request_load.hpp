// SPDX-License-Identifier: Apache-2.0
// Loads: arrivals and lengths put together, from distributions or from a trace.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/arrivals.hpp>
#include <headroom/model/serve/load/lengths.hpp>
#include <headroom/model/serve/load/request.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// Prompts that begin as others do: system prompts, tools, few-shot examples. A prompt of a group has its first
/// `tokens` in common with the others of it; a shorter one all of itself.
struct SharedPrefixes {
  std::int64_t groups = 0;  ///< 0: no prompt shares anything
  std::int64_t tokens = 0;
  double share = 1.0;  ///< of the requests, that belong to a group
  double zipf = 0.0;   ///< group k, counted from 1, is chosen in proportion to k^-zipf; 0: all alike
  /// Tokens that an id stands for: blocks of all engines are whole parts of it.
  static constexpr std::int64_t id_tokens = 64;
};

/// Requests of one class.
struct TrafficClass {
  ArrivalProcess arrivals;
  LengthLaw prompt, output;
  double cached_share = 0.0;     ///< of each prompt that a prefix cache holds, 0 to 1
  std::vector<Request> lengths;  ///< when not empty, tokens are drawn from these instead of the laws, with replacement
  SharedPrefixes prefixes;
};

/// What is wrong with classes, each with its value and the way out.
[[nodiscard]] std::vector<std::string> problems(std::span<const TrafficClass> classes);

/// The first `count` requests of all classes together, by arrival; the i-th class has service_class i. Every class
/// draws from streams of its own, so that one is the same whatever the others are. Precondition: no problems().
[[nodiscard]] RequestLoad open_load(std::span<const TrafficClass> classes, std::int64_t count, std::uint64_t seed);

/// `concurrency` clients, `count` requests in all, each client sends its next when one is answered. The class's
/// arrivals are not read.
[[nodiscard]] RequestLoad closed_load(const TrafficClass& traffic,
                                      std::int64_t concurrency,
                                      std::int64_t count,
                                      std::uint64_t seed);

/// The requests of a trace with gaps scaled so that the mean rate is `rate`; `times` over, each copy after the one
/// before it by a mean gap. Precondition: requests by arrival, rate above 0.
[[nodiscard]] RequestLoad trace_load(std::span<const Request> trace, Hertz rate, std::int64_t times = 1);

/// Requests per second of a trace from its first arrival to its last; infinite when all come at once.
[[nodiscard]] Hertz rate_of(std::span<const Request> trace) noexcept;

}  // namespace headroom
