// SPDX-License-Identifier: Apache-2.0
// Requests of several tenants on one card, one by one: how long each waits and how much each is slowed by the others.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/queue/batching.hpp>
#include <headroom/model/serve/time/time_histogram.hpp>
#include <headroom/model/sharing/shared_card.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

/// One tenant: a queue of its own, whose oldest requests are called together as soon as its last call is done.
struct SharedLoad {
  double rate = 0.0;    ///< requests a second, Poisson; 0: a call follows the other, as in a training
  CallCurve curve;      ///< of a call alone on the card, or on the tenant's slice
  double spread = 0.0;  ///< standard deviation of a call's time over its mean, gamma
  double busy = 1.0;    ///< share of a call in which its kernels run, alone
};

struct SharedOutcome {
  FineTimeHistogram latency;  ///< wait and call of the requests that were answered after the start
  double seconds = 0.0;       ///< of the same, all latencies together
  std::int64_t requests = 0;  ///< of the same
  double mean_batch = 0.0;    ///< requests of a call
  double under_way = 0.0;     ///< share of the time in which it has a call under way
  double work = 0.0;          ///< seconds of calls as alone that are done a second
  bool falls_behind = false;  ///< its queue grows without end
  /// Of its speed alone, while it has a call under way.
  [[nodiscard]] double speed() const noexcept { return under_way > 0.0 ? work / under_way : 1.0; }
};

/// Tenants at most: the way to share is asked of every set of them that is under way.
inline constexpr std::size_t most_tenants = 12;

/// While the tenants of a set A have calls under way each goes on at the speed that `sharing` leaves it among them
/// (shared_speeds()). Simulates until the tenants with a rate have brought about `requests` together, the rarest at
/// least a hundredth of them; a twentieth of the time is not counted, for all begin idle. Tenants of rate 0 alone: what
/// they do follows from the speeds, and nothing is drawn. Preconditions: 1 to most_tenants, rates not negative.
[[nodiscard]] std::vector<SharedOutcome> simulate_shared(std::span<const SharedLoad> tenants,
                                                         CardSharing sharing,
                                                         std::int64_t requests,
                                                         std::uint64_t seed);

}  // namespace headroom
