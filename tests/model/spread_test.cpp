// SPDX-License-Identifier: Apache-2.0
// Intervals as distributions.
#include <headroom/model/estimate/spread.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace headroom;

TEST_CASE("an 80 % interval's ends are its 10 % and 90 % quantiles, log-normal on each side of the middle") {
  const Interval<double> i{8.0, 10.0, 16.0};
  CHECK(quantile_of(i, 0.1) == doctest::Approx(8.0));
  CHECK(quantile_of(i, 0.5) == doctest::Approx(10.0));
  CHECK(quantile_of(i, 0.9) == doctest::Approx(16.0));
  // z of 0.8 is 0.8416 of a table of the normal distribution, of 0.9 it is 1.2816: 10 * 1.6^(0.8416 / 1.2816)
  CHECK(quantile_of(i, 0.8) == doctest::Approx(13.616).epsilon(1e-3));
  CHECK(reach_of(0.8) == doctest::Approx(0.8416 / 1.2816).epsilon(1e-3));
}

TEST_CASE("the chance to stay within a limit is the quantile turned round") {
  for (const Interval<double>& i : {Interval<double>{8.0, 10.0, 16.0}, Interval<double>{-4.0, -1.0, 3.0}}) {
    for (const double p : {0.02, 0.1, 0.35, 0.5, 0.7, 0.9, 0.99}) {
      CHECK(chance_of_at_most(i, quantile_of(i, p)) == doctest::Approx(p).epsilon(1e-6));
    }
  }
}

TEST_CASE("what has no spread is surely within its limit or surely beyond, an open end is neither") {
  const Interval<double> sharp{5.0, 5.0, 5.0};
  CHECK(chance_of_at_most(sharp, 5.0) == 1.0);
  CHECK(chance_of_at_most(sharp, 4.9) == 0.0);
  CHECK(chance_of_at_most(sharp, 5.1) == 1.0);
  const Interval<double> open{1.0, 2.0, std::numeric_limits<double>::infinity()};
  CHECK(chance_of_at_most(open, 1000.0) == doctest::Approx(0.5));
  CHECK(chance_of_at_most(Interval<double>{1.0, 2.0, 4.0}, 0.0) == 0.0);
}
