// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/screen/session_hits.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

/// Probability that the pause of a turn and its queue end within `kept`.
double in_time(const SessionFlow& flow, double kept) noexcept {
  const double left = kept - flow.queue.raw();
  if (left < 0.0) {
    return 0.0;
  }
  return flow.think.raw() > 0.0 ? -std::expm1(-left / flow.think.raw()) : 1.0;
}

/// Tokens that sessions leave in the cache if each block stays for `kept`, and no longer than until the next turn.
double left_behind(std::span<const SessionFlow> flows, double kept) noexcept {
  double tokens = 0.0;
  for (const SessionFlow& flow : flows) {
    const double sessions_per_s = flow.turns_per_s.raw() / static_cast<double>(flow.turns);
    const double turn = flow.prompt + flow.output;
    const auto n = static_cast<double>(flow.turns);
    const double answer = flow.answers_kept ? 0.0 : flow.output;   // what S_k goes without
    const double between = (n - 1.0) * (0.5 * n * turn - answer);  // S_1 to S_(n-1)
    const double think = flow.think.raw();
    const double queue = std::min(flow.queue.raw(), kept);
    tokens += sessions_per_s * (between * (queue + think * in_time(flow, kept)) + (n * turn - answer) * kept);
  }
  return tokens;
}

}  // namespace

SessionHits session_hits(std::span<const SessionFlow> flows, double spare) noexcept {
  constexpr double longest = 1e9;  // seconds
  double low = 0.0;
  double high = longest;
  if (left_behind(flows, longest) <= spare) {
    low = std::numeric_limits<double>::infinity();
  }
  for (int i = 0; i < 80 && low < high; ++i) {
    const double middle = 0.5 * (low + high);
    (left_behind(flows, middle) <= spare ? low : high) = middle;
  }
  double found = 0.0;
  double asked = 0.0;
  for (const SessionFlow& flow : flows) {
    const auto n = static_cast<double>(flow.turns);
    const double earlier = 0.5 * (n - 1.0) * (flow.prompt + flow.output);
    // The last token of an answer is never computed, and where no answers are kept none of the last one is found.
    const double missing = flow.answers_kept ? 1.0 : flow.output;
    const double left = std::max(0.0, earlier - missing * (n - 1.0) / n);
    asked += flow.turns_per_s.raw() * (earlier + flow.prompt);
    found += flow.turns_per_s.raw() * left * in_time(flow, low);
  }
  return {Seconds{low}, asked > 0.0 ? found / asked : 0.0};
}

}  // namespace headroom
