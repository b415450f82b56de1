// SPDX-License-Identifier: Apache-2.0
// How a run's host and ranks behave where somebody states it: a host that reads numbers back, ranks that differ in
// speed. Where nothing is stated the host runs ahead and ranks differ as those of measured runs do.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/estimate.hpp>

#include <optional>

namespace headroom {

struct RankConduct {
  double sync_every = 0.0;          ///< steps between two reads of the GPU by its host, above 0; 0: none
  std::optional<Seconds> dispatch;  ///< of the host, to send a step; unset: the launches of the software's layers
  std::optional<double> spread;     ///< standard deviation of the ranks' time over its mean; unset: as fitted
  double slow_rank = 0.0;           ///< what one rank takes more than the others, as a share of their time

  [[nodiscard]] bool states_ranks() const noexcept { return spread || slow_rank > 0.0; }
};

/// What a host that reads back every n steps adds to a step on average: it sends the next step only when the GPU has
/// run dry, so that once in n steps the time to send one is exposed, h / n. `exposed`: what of h the GPU waits for
/// anyway. An upper end: a host that sends in pieces lets the GPU begin with the first.
[[nodiscard]] Seconds synced_wait(Seconds dispatch, Seconds exposed, double every) noexcept;

/// What a step of n ranks that wait for one another takes beyond the mean rank, as a share: ranks with independent
/// normal times wait for the largest of n, s k(n) with k after Blom 1958 (largest_of()); one that is slower by a share
/// x makes all slower by it where that is more. `fitted`: the share where no spread is stated.
[[nodiscard]] double slowest_share(const RankConduct& conduct, double fitted, double n) noexcept;

/// What the stated conduct does to a step that has been priced.
struct ConductCost {
  Seconds sync{};                ///< what reading back adds, the counts of experts' tokens with it
  double sync_throughput = 0.0;  ///< change of the throughput for it, -0.259 of 13.5 ms in place of 10; 0: none
  double slowest = 0.0;          ///< what the slowest rank takes beyond the mean, as a share
};
[[nodiscard]] ConductCost conduct_cost(const RankConduct& conduct, const Breakdown& time) noexcept;

}  // namespace headroom
