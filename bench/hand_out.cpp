// SPDX-License-Identifier: Apache-2.0
#include "hand_out.hpp"

#include <headroom/core/real.hpp>
#include <headroom/scenarios/search/ledger.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace headroom {
namespace {

Seconds total(UnitTimes units) {
  return std::accumulate(units.begin(), units.end(), Seconds{});
}

/// When each unit ends if it begins as soon as what it waits for has ended; the latest of all.
Seconds chain(UnitTimes units, Seconds between) {
  std::vector<Seconds> ended(units.size());  // of unit i and those before it
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::uint64_t known = known_jobs(i);
    const Seconds begun = known > 0 ? ended[known - 1] : Seconds{};
    const Seconds own = begun + units[i] + between;
    ended[i] = i > 0 ? std::max(ended[i - 1], own) : own;
  }
  return units.empty() ? Seconds{} : ended.back();
}

}  // namespace

Seconds longest_chain(UnitTimes units) {
  return chain(units, Seconds{});
}

HandOutBounds hand_out_bounds(UnitTimes units, const HandOutCosts& costs, std::uint64_t ranks) {
  const double n = real(static_cast<std::int64_t>(ranks));
  const double count = real(static_cast<std::int64_t>(units.size()));
  const Seconds work = total(units) + count * costs.latency;
  const Seconds served = count * costs.each;
  return {costs.serial + std::max({(1.0 / n) * work, longest_chain(units), served}),
          costs.serial + (1.0 / n) * work + (1.0 - 1.0 / n) * chain(units, costs.latency) + served};
}

Seconds simulated_hand_out(UnitTimes units, const HandOutCosts& costs, std::uint64_t ranks) {
  struct Idle {
    Seconds since;
    std::uint64_t rank;
    bool operator>(const Idle& o) const { return o.since < since || (o.since == since && rank > o.rank); }
  };
  std::priority_queue<Idle, std::vector<Idle>, std::greater<>> idle;
  for (std::uint64_t rank = 0; rank < std::min<std::uint64_t>(ranks, units.size()); ++rank) {
    idle.push({Seconds{}, rank});
  }
  std::vector<Seconds> ended(units.size());  // of unit i and those before it
  Seconds rank0{};                           // is free again
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Idle next = idle.top();
    idle.pop();
    const std::uint64_t known = known_jobs(i);
    const Seconds can = known > 0 ? ended[known - 1] : Seconds{};
    rank0 = std::max({rank0, next.since, can}) + costs.each;
    const Seconds end = rank0 + units[i] + costs.latency;
    ended[i] = i > 0 ? std::max(ended[i - 1], end) : end;
    idle.push({end, next.rank});
  }
  return costs.serial + (units.empty() ? Seconds{} : ended.back());
}

}  // namespace headroom
