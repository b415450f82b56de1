// SPDX-License-Identifier: Apache-2.0
// Row C3 of the planner's questions: what an idle machine costs per answer.
#include <headroom/scenarios/money.hpp>

#include <doctest/doctest.h>

using namespace headroom;

TEST_CASE("C3: a T4 at 0.35 $/h costs 0.11, 0.84 and 8.40 $ per million images at 888, 116 and 11.6 a second") {
  const DollarsPerSecond price{0.35 / 3600.0};
  CHECK(cost_per_million(price, Hertz{888}).raw() == doctest::Approx(0.11).epsilon(0.01));
  CHECK(cost_per_million(price, Hertz{116}).raw() == doctest::Approx(0.84).epsilon(0.005));
  CHECK(cost_per_million(price, Hertz{11.574}).raw() == doctest::Approx(8.40).epsilon(0.001));
}

TEST_CASE("rent is price x GPUs x time") {
  CHECK(rent(DollarsPerSecond{2.0 / 3600.0}, 512, day).raw() == doctest::Approx(2.0 * 512 * 24));
}
