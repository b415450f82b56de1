// SPDX-License-Identifier: Apache-2.0
// Rows C1, C2, C3, C5, C8 and C9 of the planner's questions: numbers of the questions' own text and hand
// arithmetic.
#include <headroom/scenarios/money/formulas.hpp>
#include <headroom/scenarios/money/what_if.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace headroom;

namespace {

DollarsPerSecond an_hour(double dollars) {
  return DollarsPerSecond{dollars / 3600.0};
}
DollarsPerJoule a_kwh(double dollars) {
  return DollarsPerJoule{dollars / 3.6e6};
}

/// A GPU of 30,000 $ and 0.7 kW in a building of PUE 1.3, at 0.10 $/kWh.
Ownership bought() {
  Ownership o;
  o.capex = Dollars{30000.0};
  o.lifetime = 4.0 * common_year;
  o.power = Watts{700.0};
  o.pue = 1.3;
  o.power_price = a_kwh(0.10);
  return o;
}

}  // namespace

TEST_CASE("8 A100 at 16,621 images a second take 0.1337 GPU-hours per million") {
  CHECK(gpu_hours_per_million(8, Hertz{16621}) == doctest::Approx(0.1337).epsilon(0.0005));
}

TEST_CASE("a T4 at 0.35 $/h costs 0.11, 0.84 and 8.40 $ per million images at 888, 116 and 11.6 a second") {
  const DollarsPerSecond price = an_hour(0.35);
  CHECK(cost_per_million(price, Hertz{888}).raw() == doctest::Approx(0.11).epsilon(0.01));
  CHECK(cost_per_million(price, Hertz{116}).raw() == doctest::Approx(0.84).epsilon(0.005));
  CHECK(cost_per_million(price, Hertz{11.574}).raw() == doctest::Approx(8.40).epsilon(0.001));
}

TEST_CASE("a bought GPU beats 2.5 $/h after 12,453 hours, 1.42 years") {
  const Seconds use = buying_breaks_even(bought(), an_hour(2.5));
  CHECK(use / hour == doctest::Approx(12453.0).epsilon(1e-4));
  CHECK(use / common_year == doctest::Approx(1.42).epsilon(0.002));
}

TEST_CASE("what running costs shortens what buying saves, a rent below it is never beaten") {
  Ownership o = bought();
  o.residual = Dollars{6000.0};
  o.upkeep = an_hour(0.5);
  // 24000 / (2.5 - 0.091 - 0.5)
  CHECK(buying_breaks_even(o, an_hour(2.5)) / hour == doctest::Approx(24000.0 / 1.909).epsilon(1e-6));
  CHECK(std::isinf(buying_breaks_even(o, an_hour(0.5)).raw()));
}

TEST_CASE("an owned GPU-hour is capital and upkeep over the hours used, and power") {
  Ownership o = bought();
  o.utilisation = 0.5;
  o.residual = Dollars{2000.0};
  o.upkeep = DollarsPerSecond{876.0 / common_year.raw()};  // 0.1 $/h
  const OwnedCost cost = owned_cost(o);
  CHECK(cost.capital * hour / Dollars{1.0} == doctest::Approx(28000.0 / (0.5 * 35040.0)));
  CHECK(cost.upkeep * hour / Dollars{1.0} == doctest::Approx(0.2));
  CHECK(cost.electricity * hour / Dollars{1.0} == doctest::Approx(0.7 * 1.3 * 0.10));
  CHECK(cost.total().raw() == doctest::Approx((cost.capital + cost.upkeep + cost.electricity).raw()));
}

TEST_CASE("a reservation pays above the ratio of the prices, one's own machine above its price over a request's") {
  CHECK(reservation_breaks_even(an_hour(1.8), an_hour(3.0)) == doctest::Approx(0.6));
  // 8 GPUs at 3 $/h against 1000 tokens in at 0.5 $ and 500 out at 1.5 $ a million: 0.00125 $ a request.
  CHECK(hosting_breaks_even(8.0 * an_hour(3.0), Dollars{0.00125}).raw() == doctest::Approx(24.0 / 3600.0 / 0.00125));
}

TEST_CASE("1887 W at 211,436 images a second are 8.9 mJ each, and a rack of 10 kW holds five such nodes") {
  CHECK(energy_per_item(Watts{1887}, Hertz{211436}).raw() * 1e3 == doctest::Approx(8.9).epsilon(0.01));
  CHECK(nodes_per_rack(Watts{10000}, Watts{1887}) == 5.0);
  CHECK(nodes_per_rack(Watts{10000}, Watts{2000}) == 5.0);
  CHECK(nodes_per_rack(Watts{10000}, Watts{2000.1}) == 4.0);
}

TEST_CASE("half the tokens or half the parameters halve FLOP, time and dollars, half of both is a quarter") {
  VariedPlan plan;
  plan.step = Seconds{10.0};
  plan.cost = Dollars{8e6};
  plan.recipes = {{"fp8", Seconds{7.0}}};
  const std::vector<Variant> variants = cheaper_variants(plan);
  REQUIRE(variants.size() == 4);
  for (const std::size_t half : {0U, 1U}) {
    CHECK(variants[half].flops == 0.5);
    CHECK(variants[half].time == 0.5);
    CHECK(variants[half].cost->raw() == 4e6);
  }
  CHECK(variants[2].flops == 0.25);
  CHECK(variants[2].cost->raw() == 2e6);
  CHECK(variants[3].what == "fp8");
  CHECK(variants[3].flops == 1.0);
  CHECK(variants[3].time == doctest::Approx(0.7));
  CHECK(variants[3].cost->raw() == doctest::Approx(5.6e6));
}

TEST_CASE("rent is price x GPUs x time") {
  CHECK(rent(an_hour(2.0), 512, day).raw() == doctest::Approx(2.0 * 512 * 24));
}
