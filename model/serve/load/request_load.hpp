// SPDX-License-Identifier: Apache-2.0
// Loads: arrivals combined with lengths, from distributions or a trace.
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

/// Prompts that start alike: system prompts, tools, few-shot examples. The prompts of a group share their first
/// `tokens` tokens; shorter prompts share all of theirs.
struct SharedPrefixes {
  std::int64_t groups = 0;  ///< number of groups; 0: prompts share nothing
  std::int64_t tokens = 0;
  double share = 1.0;  ///< share (0 to 1) of the requests that belong to a group
  double zipf = 0.0;   ///< group k (from 1) is chosen in proportion to k^-zipf; 0: all equally
  /// Tokens per id; the blocks of all engines divide it.
  static constexpr std::int64_t id_tokens = 64;
};

struct TrafficClass {
  ArrivalProcess arrivals;
  LengthLaw prompt, output;
  double cached_share = 0.0;  ///< share (0 to 1) of each prompt that a prefix cache holds
  /// If not empty, lengths are drawn from these requests with replacement instead of the laws.
  std::vector<Request> lengths;
  SharedPrefixes prefixes;
};

/// Every problem of the classes, with its value and the way out.
[[nodiscard]] std::vector<std::string> problems(std::span<const TrafficClass> classes);

/// The first `count` requests of all classes in order of arrival; class i has service_class i. Each class has its own
/// random streams, so that it does not depend on the others. Precondition: problems() is empty.
[[nodiscard]] RequestLoad open_load(std::span<const TrafficClass> classes, std::int64_t count, std::uint64_t seed);

/// `count` requests of `concurrency` clients, each of which sends its next request after an answer. The class's
/// arrivals are ignored.
[[nodiscard]] RequestLoad closed_load(const TrafficClass& traffic,
                                      std::int64_t concurrency,
                                      std::int64_t count,
                                      std::uint64_t seed);

/// The requests of a trace with gaps scaled to the mean rate `rate`, repeated `times` times with a mean gap between
/// copies. Precondition: requests in order of arrival, rate above 0.
[[nodiscard]] RequestLoad trace_load(std::span<const Request> trace, Hertz rate, std::int64_t times = 1);

/// Requests per second from the first to the last arrival of a trace; infinite if all arrive at once.
[[nodiscard]] Hertz rate_of(std::span<const Request> trace) noexcept;

}  // namespace headroom
