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

/// Time of an answer's token where no replica says it (session_pace.cpp knows it of planned ones). A nominal value of
/// no measurement, which this header owns: between the 10 and 100 ms that services promise per token. It sets how many
/// sessions are open when a load begins, and no time of a request.
inline constexpr Seconds usual_token{0.03};

/// Requests of one kind. With `turns` above 1 they come in sessions: the prompt of a turn is all that was asked and
/// answered before it and `prompt` new tokens, the rate is that of turns, and the arrivals are those of sessions, a
/// turn in `turns`.
struct TrafficClass {
  ArrivalProcess arrivals;
  LengthLaw prompt, output;
  std::int64_t turns = 1;
  Seconds think{};             ///< mean of the exponential pause between an answer and the next turn
  Seconds token{usual_token};  ///< of an answer, by which the next turns of open sessions are planned
  double cached_share = 0.0;   ///< share (0 to 1) of each prompt that a prefix cache holds
  /// If not empty, lengths are drawn from these requests with replacement instead of the laws.
  std::vector<Request> lengths;
  SharedPrefixes prefixes;
};

/// Every problem of the classes, with its value and the way out.
[[nodiscard]] std::vector<std::string> problems(std::span<const TrafficClass> classes);

/// The first `count` requests of all classes in order of arrival; class i has service_class i. Each class has its own
/// random streams, so that it does not depend on the others. Sessions begin at time 0: beside `count` requests come
/// those that are sent until as many sessions end as begin (RequestLoad::filling), no more than `most_filling`; turns
/// are in the order in which they would be sent if answers took `token` of their class for each token. Precondition:
/// problems() is empty.
[[nodiscard]] RequestLoad open_load(std::span<const TrafficClass> classes, std::int64_t count, std::uint64_t seed);
inline constexpr std::int64_t most_turns = 1000;  ///< of a session
inline constexpr Seconds most_think{86400.0};     ///< of a mean pause, so that none is beyond what is simulated
inline constexpr std::int64_t most_filling = 1'000'000;

/// The mean requests until as many sessions of a class end as begin: half of what comes in the time of a session.
[[nodiscard]] double filling_of(const TrafficClass& traffic) noexcept;

/// At least `count` requests at time 0, session by session, for loads whose clients wait for answers. The arrivals of
/// the classes only say in which order sessions are opened. Of the first `clients` sessions as many are at each turn,
/// as if they had begun before. Precondition: as of open_load().
[[nodiscard]] RequestLoad whole_sessions(std::span<const TrafficClass> classes,
                                         std::int64_t count,
                                         std::uint64_t seed,
                                         std::int64_t clients = 0);

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
