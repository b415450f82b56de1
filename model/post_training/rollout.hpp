// SPDX-License-Identifier: Apache-2.0
// The rollout of one engine: its share of a batch of answers, from the first prompt to the last token.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <functional>
#include <span>

namespace headroom {

/// What one engine is to sample.
struct RolloutShare {
  std::span<const double> lengths;  ///< tokens of each answer, in the order in which the engine gets them
  double prompt = 1.0;              ///< tokens of a prompt
  std::int64_t group = 1;           ///< answers of one prompt, which follow each other and share its cache
  bool shares_prefix = true;        ///< whether a group's prompt is computed once (prefix caching)
  std::int64_t slots = 1;           ///< answers that decode together at most
  bool whole_batches = false;       ///< whether the next begin only when all of them are there
  double step_tokens = 1.0;         ///< tokens of an answer in one iteration; above 1 with accepted drafts
  Seconds turn{};                   ///< that an answer waits for its environment and tools in all, its slot held
};

/// What an engine's iterations take, from its tables or a law.
struct RolloutClock {
  /// One iteration of `batch` answers over `keys` keys of all of them.
  std::function<Seconds(double batch, double keys)> decode;
  Seconds prompt{};  ///< that one prompt takes of the engine's time
};

struct RolloutTimes {
  Seconds whole{};         ///< until the last answer
  Seconds prompts{};       ///< of them, prompts
  Seconds half{}, most{};  ///< until half and 90 % of the answers are there
  /// Until the first answer ends for which no other waits: from then on the engine empties.
  Seconds full{};
  double tokens = 0.0;      ///< sampled
  double mean_batch = 0.0;  ///< of decodes, over time
  /// Share of slot-time that is empty while the engine runs, of the slots that it ever fills.
  double empty = 0.0;
};

/// Answers start as slots are free, decode one token each an iteration, and end at their lengths; the next of a queue
/// follows at once. Between two ends the batch does not change, so that an iteration of the mean keys stands for each:
///   t += d / k decode(b, b p + sum of tokens there + b d / 2), d tokens until the next end, k = step_tokens.
/// Linear in answers times log of slots. Precondition: lengths are positive, slots at least 1.
[[nodiscard]] RolloutTimes simulate_rollout(const RolloutShare& share, const RolloutClock& clock);

}  // namespace headroom
