// SPDX-License-Identifier: Apache-2.0
// What a dollar buys, and who is ranked by it.
#include <headroom/scenarios/compare/offers.hpp>

#include <doctest/doctest.h>

using namespace headroom;

namespace {

DollarsPerSecond by_hour(double dollars) {
  return DollarsPerSecond{dollars / 3600.0};
}

}  // namespace

TEST_CASE("1128 img/s at 0.35 $/h beat 5400 img/s at 4.10 $/h by the dollar, where both meet the objective") {
  const Offer a100{true, true, 5400.0, by_hour(4.10), true};
  const Offer t4{true, true, 1128.0, by_hour(0.35), true};
  const std::vector<RankedOffer> ranked = rank_offers(std::vector{a100, t4});
  REQUIRE(ranked.size() == 2);
  CHECK(ranked[0].offer == 1);
  CHECK(ranked[0].samples_per_dollar == doctest::Approx(11.6e6).epsilon(0.002));
  CHECK(ranked[1].samples_per_dollar == doctest::Approx(4.74e6).epsilon(0.002));
  const Offer late{true, true, 1128.0, by_hour(0.35), false};
  const std::vector<RankedOffer> strict = rank_offers(std::vector{a100, late});
  CHECK(strict[0].offer == 0);
  CHECK(strict[1].standing == Standing::misses);
  CHECK(strict[1].samples_per_dollar == doctest::Approx(11.6e6).epsilon(0.002));
}

TEST_CASE("what misses, what has no price and what does not fit are listed behind, in that order") {
  const std::vector<Offer> offers{{false, true, 0.0, by_hour(0.35), true},
                                  {true, true, 9e9, std::nullopt, true},
                                  {true, true, 9e9, by_hour(1), false},
                                  {true, true, 1.0, by_hour(1), true}};
  const std::vector<RankedOffer> ranked = rank_offers(offers);
  REQUIRE(ranked.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(ranked[i].offer == 3 - i);
  }
  CHECK(ranked[2].standing == Standing::unpriced);
  CHECK(ranked[3].standing == Standing::infeasible);
  CHECK(ranked[3].samples_per_dollar == 0.0);
}
