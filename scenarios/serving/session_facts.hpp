// SPDX-License-Identifier: Apache-2.0
// Sessions of several turns on a fleet: how many are open, how long they are, and what should be found of them.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/screen/session_hits.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

struct PoolCounters;
struct ServingMetrics;
struct ServingTraffic;

/// Of one class.
struct SessionFacts {
  std::string name;  ///< of the class, empty where there is one
  std::int64_t turns = 1;
  Seconds think{};
  Hertz sessions_per_s{};
  double open = 0.0;  ///< sessions between their first prompt and the end of their last answer, on the mean
  double new_prompt = 1.0, prompt = 1.0;  ///< mean tokens that a turn brings, and of its whole prompt
  bool caches = false;                    ///< whether replicas keep prefixes
  Seconds kept{};      ///< how long a block stays in the cache after its last use, by session_hits(); may be infinite
  double found = 0.0;  ///< share of the tokens of all prompts that is found, by session_hits()
  /// "traffic.turns = 8: 1.25 sessions/s, of which 60 are open at a time, ...".
  [[nodiscard]] std::string text() const;
};

/// What a class sends to one of `replicas` replicas, of requests that wait `queue` for their look-up; `answers_kept`:
/// as SessionFlow's.
[[nodiscard]] std::vector<SessionFlow> session_flows(const ServingTraffic& traffic,
                                                     double replicas,
                                                     Seconds queue,
                                                     bool answers_kept);

/// Of the classes with several turns, at the `offered` rate of all, as simulated on the engines that compute prompts,
/// which keep answers (`answers_kept`) if they decode too.
[[nodiscard]] std::vector<SessionFacts> session_facts(const ServingTraffic& traffic,
                                                      Hertz offered,
                                                      const ServingMetrics& metrics,
                                                      const PoolCounters& engines,
                                                      std::int64_t block_tokens,
                                                      bool answers_kept);

}  // namespace headroom
