// SPDX-License-Identifier: Apache-2.0
// How long handing out takes, on cases small enough for a pencil.
#include <headroom/scenarios/search/ranks/hand_out.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace headroom;

namespace {

std::vector<Seconds> seconds(std::initializer_list<double> values) {
  std::vector<Seconds> result;
  for (const double value : values) {
    result.emplace_back(value);
  }
  return result;
}

}  // namespace

TEST_CASE("seven units on two ranks, by hand") {
  // Unit 0 alone, then 1 and 2 together, 3 to 6 once 0 and 1 (3, 4) or 0 to 2 (5, 6) are done:
  //   0: 0-2   1: 2-5   2: 2-6   3: 5-6 (rank of 1)   4: 6-8, 5: 6-7 (both free)   6: 7-8
  const std::vector<Seconds> units = seconds({2, 3, 4, 1, 2, 1, 1});
  CHECK(simulated_hand_out(units, {}, 2) == Seconds{8.0});
  CHECK(simulated_hand_out(units, {}, 1) == Seconds{14.0});
  // 0, then 2, then 5 or 6: with any number of ranks 2 + 4 + 1; but 1 and 4 take 2 + 3 + 2 as well.
  CHECK(longest_chain(units) == Seconds{7.0});
  CHECK(simulated_hand_out(units, {}, 1000) == Seconds{7.0});
}

TEST_CASE("rank 0's time and the wait between units, by hand") {
  const std::vector<Seconds> units = seconds({1, 1, 1});
  // 10 before and after; 0.5 to hand out, 1 to do, 0.25 until the next: 3 x 1.75 on one rank.
  const HandOutCosts costs{Seconds{10.0}, Seconds{0.5}, Seconds{0.25}};
  CHECK(simulated_hand_out(units, costs, 1) == Seconds{15.25});
  // On two: 0 ends at 1.75, 1 and 2 are handed out at 2.25 and 2.75, and 2 ends at 4.
  CHECK(simulated_hand_out(units, costs, 2) == Seconds{14.0});
  const HandOutBounds bounds = hand_out_bounds(units, costs, 2);
  CHECK(bounds.least == Seconds{10.0 + 2.0});                      // the chain of two
  CHECK(bounds.most == Seconds{10.0 + 3.75 / 2 + 2.5 / 2 + 1.5});  // work, half the chain with latencies, hand-outs
}

TEST_CASE("what one rank hands out bounds how many it can keep busy") {
  // 1000 units of 0.1 s, 1 ms each at rank 0: 100 ranks are as good as any.
  const std::vector<Seconds> units(1000, Seconds{0.1});
  const HandOutCosts costs{Seconds{}, Seconds{0.001}, Seconds{}};
  CHECK(hand_out_bounds(units, costs, 100'000).least.raw() == doctest::Approx(1.0));
  CHECK(simulated_hand_out(units, costs, 100'000).raw() < 2.0);
  CHECK(simulated_hand_out(units, costs, 100'000).raw() >= 1.0);
}
