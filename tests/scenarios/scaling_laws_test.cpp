// SPDX-License-Identifier: Apache-2.0
// Amdahl's and Gustafson's laws, fits of them, marginal efficiency, and where to stop for a budget.
#include <headroom/core/real.hpp>
#include <headroom/scenarios/compare/laws.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace headroom;
using namespace headroom::scaling;

namespace {

/// Amdahl's and Gustafson's laws as they wrote them, for `n` workers and a share `f` that they divide.
double amdahl_speedup(double f, double n) {
  return 1.0 / ((1.0 - f) + f / n);
}
double gustafson_speedup(double f, double n) {
  return (1.0 - f) + f * n;
}

template <class Law>
std::vector<Speedup> curve_of(Law law, double f) {
  std::vector<Speedup> points;
  for (double n = 1; n <= 1024; n *= 2) {
    points.push_back({n, law(f, n)});
  }
  return points;
}

/// Strong scaling of a step of 1 s on one GPU of which `fixed` never shrinks.
std::vector<Output> outputs(double fixed) {
  std::vector<Output> series;
  for (std::int64_t n = 1; n <= 64; n *= 2) {
    series.push_back({n, amdahl_speedup(1.0 - fixed, real(n))});
  }
  return series;
}

}  // namespace

TEST_CASE("a fit finds the share that made a curve, and the other law does not fit it") {
  for (const double f : {0.5, 0.95, 0.999}) {
    CAPTURE(f);
    const auto amdahl = curve_of(amdahl_speedup, f);
    const auto gustafson = curve_of(gustafson_speedup, f);
    CHECK(fit_amdahl(amdahl)->f == doctest::Approx(f).epsilon(1e-9));
    CHECK(fit_amdahl(amdahl)->misfit < 1e-9);
    CHECK(fit_gustafson(gustafson)->f == doctest::Approx(f).epsilon(1e-9));
    CHECK(fit_gustafson(gustafson)->misfit < 1e-9);
    CHECK(fit_gustafson(amdahl)->misfit > 1e-4);
    CHECK(fit_amdahl(gustafson)->misfit > 1e-4);
  }
}

TEST_CASE("a series of one's own: 95 % that divide show in every number of it, and the limit is 20") {
  const std::vector<Output> series = outputs(0.05);
  const SeriesLaws told = laws_of(series, 0.5);
  CHECK(told.amdahl->f == doctest::Approx(0.95));
  CHECK(told.speedup.back() == doctest::Approx(15.42).epsilon(1e-3));
  CHECK(told.efficiency.back() == doctest::Approx(15.42 / 64.0).epsilon(1e-3));
  // From N to 2 N an added GPU brings S(2N) / S(N) - 1 of what one of N brought: 0.37 from 16 to 32, 0.54 before.
  for (std::size_t i = 1; i < series.size(); ++i) {
    CHECK(told.marginal[i] == doctest::Approx(told.speedup[i] / told.speedup[i - 1] - 1.0));
  }
  CHECK(told.knee == 16);
  CHECK(told.stop == 32);
  CHECK_FALSE(laws_of({series.data(), 1}, 0.5).knee);
}

TEST_CASE("noise moves the fitted share little and shows in the misfit") {
  auto points = curve_of(amdahl_speedup, 0.95);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].speedup *= i % 2 == 0 ? 1.02 : 0.98;
  }
  CHECK(fit_amdahl(points)->f == doctest::Approx(0.95).epsilon(0.005));
  CHECK(fit_amdahl(points)->misfit == doctest::Approx(0.02).epsilon(0.2));
}

TEST_CASE("one worker alone tells nothing") {
  const std::vector<Speedup> one{{1.0, 1.0}};
  CHECK_FALSE(fit_amdahl(one));
  CHECK_FALSE(fit_gustafson({}));
}

TEST_CASE("3x on 8 GPUs: 62.5 % of the step is what one GPU does not have") {
  CHECK(share_beyond_division(3.0, 8.0) == 0.625);
  CHECK(share_beyond_division(8.0, 8.0) == 0.0);
}

TEST_CASE("marginal efficiency is what added GPUs bring over what each brought before") {
  const std::vector<Output> series{{8, 80.0}, {16, 140.0}, {64, 200.0}};
  const std::vector<double> marginal = marginal_efficiencies(series);
  REQUIRE(marginal.size() == 3);
  CHECK(marginal[0] == 1.0);
  CHECK(marginal[1] == doctest::Approx((60.0 / 8) / (80.0 / 8)));
  CHECK(marginal[2] == doctest::Approx((60.0 / 48) / (140.0 / 16)));
}

TEST_CASE("stop at the first count whose marginal efficiency is below half, the knee is the last above") {
  // T(N) = 1/16 + (15/16)/N: doubling N brings (N + 15) / (N + 7.5) - 1, half or more up to N = 7.5.
  const std::vector<Output> series = outputs(1.0 / 16);
  CHECK(stopping_count(series, 0.5) == 16);
  CHECK(knee(series, 0.5) == 8);
  CHECK_FALSE(stopping_count(outputs(0.0), 0.5));
  CHECK(knee(outputs(0.0), 0.5) == 64);
  CHECK(stopping_count(series, 0.8) == 4);  // 88 %, then 79 %
  CHECK(knee(series, 0.8) == 2);
  CHECK_FALSE(knee({}, 0.5));
  // A count that a slow one lies before: the largest above the threshold, and the first below it, are both told.
  const std::vector<Output> dented{{1, 1.0}, {2, 1.2}, {4, 2.4}};
  CHECK(stopping_count(dented, 0.5) == 2);
  CHECK(knee(dented, 0.5) == 4);
}

TEST_CASE("the most useful GPUs under a budget: the money of the run, of the hour, or what a dollar buys ends first") {
  const DollarsPerSecond price{1.0};
  const std::vector<Output> series{{1, 1.0}, {2, 1.9}, {4, 3.4}, {8, 4.4}};
  const double work = 100.0;
  CHECK(cost_of(series[2], price, work).raw() == doctest::Approx(4.0 * 100.0 / 3.4));
  CHECK(most_useful_gpus(series, price, {Dollars{1e9}, {}}, work, 0.0) == 8);
  CHECK(most_useful_gpus(series, price, {Dollars{118.0}, {}}, work, 0.0) == 4);  // 117.6 $, 8 cost 181.8 $
  CHECK(most_useful_gpus(series, price, {{}, DollarsPerSecond{3.0}}, work, 0.0) == 2);
  CHECK(most_useful_gpus(series, price, {Dollars{1e9}, {}}, work, 0.5) == 4);  // the last four bring 0.25 each
  CHECK(most_useful_gpus(series, price, {Dollars{1e9}, {}}, work, 0.8) == 2);  // 0.9, then 0.75
  CHECK_FALSE(most_useful_gpus(series, price, {Dollars{99.0}, {}}, work, 0.0));
  CHECK_FALSE(most_useful_gpus({}, price, {Dollars{99.0}, {}}, work, 0.0));
  // A run's cost need not grow with its GPUs: what is too dear or poor on the way does not hide what comes after it.
  const std::vector<Output> falling{{1, 0.8}, {2, 2.0}, {4, 3.0}, {8, 8.4}};
  CHECK(most_useful_gpus(falling, price, {Dollars{105.0}, {}}, work, 0.0) == 8);  // 125, 100, 133 and 95 $
  CHECK(most_useful_gpus(falling, price, {Dollars{100.0}, {}}, work, 0.9) == 8);  // 6.4 for 6 dollars a second
  CHECK(most_useful_gpus(falling, price, {Dollars{1e9}, {}}, work, 0.9) == 8);    // though 4 are not worth it
  CHECK(most_useful_gpus(falling, price, {{}, DollarsPerSecond{4.0}}, work, 0.9) == 2);
  CHECK_FALSE(pays({Dollars{105.0}, {}}, falling[0], price, work));
  CHECK(pays({Dollars{105.0}, {}}, falling[3], price, work));
}
