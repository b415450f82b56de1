// SPDX-License-Identifier: Apache-2.0
// What a server of one network sustains when requests come at random and may not wait longer than a limit.
#pragma once

#include <headroom/scenarios/measured/network_row.hpp>

namespace headroom {

/// Of one GPU at the highest rate of Poisson arrivals at which 99 % of the requests are answered within the limit.
struct ServedWithin {
  double rate = 0.0;      ///< samples a second
  Seconds mean{}, p99{};  ///< of an answer
};

/// The queue of MLPerf's Server scenario (Reddi et al. 2020, section IV): whatever waits is called together, at most
/// the largest of the call's batches. The rate is that of the simulated queue times `served` of the engine, its
/// harness's share of the queue's rate. A call that takes longer than the limit alone is answered with a rate of 0.
[[nodiscard]] ServedWithin served_within(const NetworkRowCall& call,
                                         const CallRates& rates,
                                         const NetworkEngine& engine,
                                         Seconds limit);

}  // namespace headroom
