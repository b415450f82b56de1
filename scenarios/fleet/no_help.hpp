// SPDX-License-Identifier: Apache-2.0
// Why more replicas do not keep what is promised, and what does.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/tail_objective.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class NoHelpCause : std::uint8_t {
  datasheet,   ///< the promise lies below what the GPU's datasheet allows
  idle,        ///< a replica with nobody else on it misses the promise
  refused,     ///< the KV cache of a replica refuses too many requests as too long
  unanswered,  ///< a replica with nobody else on it answers in no time that is simulated
  prefill,     ///< the stated replicas for prompts are too few
  burst        ///< a burst is over before a replica that is ordered in it serves
};
inline constexpr std::array<std::string_view, 6> no_help_names{"datasheet",  "idle_replica",     "kv_cache",
                                                               "unanswered", "prefill_replicas", "burst"};

struct NoHelp {
  NoHelpCause cause = NoHelpCause::idle;
  // Of a promise that is missed: datasheet, idle, refused, unanswered.
  TailObjective promise;
  double probability = 0.0;  ///< with which it would have to be kept; 0: at the middle
  Seconds reached{};         ///< by an idle replica, or the datasheet's bound
  double refused = 0.0;      ///< share (0 to 1) of the requests
  // Of replicas that would help: prefill, and those that are warm before a burst.
  std::int64_t stated = 0;  ///< for prompts as stated; that serve when the burst begins
  std::int64_t enough = 0;  ///< for prompts that keep the promises; warm ones that keep them in the burst
  // Of a burst.
  std::int64_t warm_for_wait = 0;  ///< warm replicas whose backlog waits within the promised time (burst_need())
  Seconds at{}, length{}, cold_start{};
  Hertz before{}, peak{};  ///< rates
};

/// "not even an idle replica keeps ttft_p95 of 100 ms: it takes 200 ms".
[[nodiscard]] std::string cause_text(const NoHelp& why);
/// "more replicas will not help, because ...; wider replicas would (strategy.tp, ...)".
[[nodiscard]] std::string no_help_text(const NoHelp& why);
/// Keys of the question that do help, the nearest first.
[[nodiscard]] std::vector<std::string_view> helping_keys(const NoHelp& why);

}  // namespace headroom
