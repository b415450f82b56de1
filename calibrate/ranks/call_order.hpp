// SPDX-License-Identifier: Apache-2.0
// Collectives of ranks played as they were issued: which end, and who waits for whom when nothing moves on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// A collective that a rank enters and leaves only when all members of the group have entered the same.
struct OrderedCall {
  std::size_t group = 0;
  std::int64_t number = 0;  ///< among the calls of its group on this rank
  std::string what;         ///< op, size and type; calls that differ in it do not meet
};

/// What a rank still has before it.
struct CallSequence {
  std::vector<OrderedCall> calls;    ///< in the order of the program
  std::vector<std::int64_t> passed;  ///< per group, the last number that it has left behind; -1: none
};

struct CallPlay {
  std::vector<std::size_t> left;                    ///< per rank, how many of its calls ended
  std::vector<std::vector<std::size_t>> waits_for;  ///< per rank, whom its next call waits for; empty: it is through
  [[nodiscard]] bool all_end() const noexcept;
};

/// Plays until nothing ends any more. A rank that has no calls left never enters one. NCCL asks for one order of all
/// communicators on all ranks, because a kernel of one may hold what the other needs (NCCL User Guide, "Using multiple
/// NCCL communicators concurrently"): one call at a time stands for that. `members`: ranks of each group. Time is
/// linear in calls times members.
[[nodiscard]] CallPlay play_calls(std::span<const CallSequence> ranks,
                                  std::span<const std::vector<std::size_t>> members);

/// Ranks that wait for each other in a circle, each for the next and the last for the first; the shortest from the
/// lowest rank that is in one; empty: there is none.
[[nodiscard]] std::vector<std::size_t> waiting_circle(std::span<const std::vector<std::size_t>> waits_for);

}  // namespace headroom
