// SPDX-License-Identifier: Apache-2.0
// The bounds of handing out hold for its events, whatever the units.
#include <headroom/scenarios/search/ranks/hand_out.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <numeric>

using namespace headroom;

TEST_CASE("no hand-out is faster or slower than its bounds, and one rank takes the sum") {
  CHECK(rc::check([] {
    std::vector<Seconds> units;
    for (const int ms : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 5000))) {
      units.emplace_back(1e-3 * ms);
    }
    const HandOutCosts costs{Seconds{1e-3 * *rc::gen::inRange(0, 1000)}, Seconds{1e-3 * *rc::gen::inRange(0, 50)},
                             Seconds{1e-3 * *rc::gen::inRange(0, 50)}};
    const auto ranks = static_cast<std::uint64_t>(*rc::gen::inRange(1, 200));
    const double took = simulated_hand_out(units, costs, ranks).raw();
    const HandOutBounds bounds = hand_out_bounds(units, costs, ranks);
    const double slack = 1e-9 * (1.0 + took);  // sums in another order
    RC_ASSERT(took >= bounds.least.raw() - slack);
    RC_ASSERT(took <= bounds.most.raw() + slack);
    const double alone = simulated_hand_out(units, costs, 1).raw();
    const double each = (costs.each + costs.latency).raw();
    const double sum = std::accumulate(units.begin(), units.end(), Seconds{}).raw();
    RC_ASSERT(std::abs(alone - costs.serial.raw() - sum - each * static_cast<double>(units.size())) <=
              slack + 1e-9 * alone);
    RC_ASSERT(took <= alone + slack);
  }));
}
