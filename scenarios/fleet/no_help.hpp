// SPDX-License-Identifier: Apache-2.0
// The reason why more replicas do not keep a promise, and the keys that would.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/tail_objective.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Why no number of replicas keeps a promise.
enum class NoHelpCause : std::uint8_t {
  datasheet,   ///< the promised time is below the bound that the GPU's datasheet sets
  idle,        ///< a replica without any other request misses the promised time
  refused,     ///< a replica's KV cache is too small for too many of the requests, which are refused
  unanswered,  ///< a replica without any other request does not finish within the time that is simulated
  prefill,     ///< the stated number of prefill replicas is too small
  burst        ///< a burst ends before a replica that is started in it is ready
};
inline constexpr std::array<std::string_view, 6> no_help_names{"datasheet",  "idle_replica",     "kv_cache",
                                                               "unanswered", "prefill_replicas", "burst"};

/// The cause with the numbers that show it. Members that a cause does not name are zero.
struct NoHelp {
  NoHelpCause cause = NoHelpCause::idle;
  TailObjective promise;     ///< the missed promise; causes datasheet, idle, refused and unanswered
  double probability = 0.0;  ///< probability with which the promise must be kept; 0 means at the middle of the interval
  Seconds reached{};         ///< time of an idle replica, or the datasheet's bound
  double refused = 0.0;      ///< share of the requests that are refused, 0 to 1
  std::int64_t stated = 0;   ///< prefill replicas as stated, or replicas that are ready when the burst begins
  std::int64_t enough = 0;   ///< prefill replicas, or ready replicas, that would keep the promise
  std::int64_t warm_for_wait = 0;        ///< ready replicas with which the queue stays within the promised time
  Seconds at{}, length{}, cold_start{};  ///< start and length of the burst, and time until a new replica is ready
  Hertz before{}, peak{};                ///< requests per second before and in the burst
};

/// "not even an idle replica keeps ttft_p95 of 100 ms: it takes 200 ms".
[[nodiscard]] std::string cause_text(const NoHelp& why);
/// "more replicas will not help, because ...; wider replicas would (strategy.tp, ...)".
[[nodiscard]] std::string no_help_text(const NoHelp& why);
/// The keys of the question that would help, the one that is easiest to change first.
[[nodiscard]] std::vector<std::string_view> helping_keys(const NoHelp& why);

}  // namespace headroom
