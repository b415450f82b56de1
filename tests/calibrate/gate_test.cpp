// SPDX-License-Identifier: Apache-2.0
// A performance gate fails what is slower, passes what is not, and says when it cannot tell.
#include <headroom/calibrate/overlay/gate.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace headroom;

namespace {

/// Ten values with this mean and standard deviation, without chance.
std::vector<double> ten(double mean, double deviation) {
  constexpr std::array shape{-1.5, -1.0, -0.7, -0.4, -0.1, 0.1, 0.4, 0.7, 1.0, 1.5};
  double squares = 0.0;
  for (const double s : shape) {
    squares += s * s / 9.0;
  }
  std::vector<double> values;
  for (const double s : shape) {
    values.push_back(mean + deviation * s / std::sqrt(squares));
  }
  return values;
}

/// Rates as times: a lower rate is slower.
std::vector<double> times_of(std::vector<double> rates) {
  std::transform(rates.begin(), rates.end(), rates.begin(), [](double rate) { return 1.0 / rate; });
  return rates;
}

GateRow judged(double mean, double deviation) {
  return compare_times("rate", times_of(ten(100.0, 1.0)), times_of(ten(mean, deviation)), {});
}

ProbeTiming timing(const std::string& key, std::vector<double> spans) {
  ProbeTiming t;
  t.key = key;
  t.counted = t.rounds = 1;
  t.spread = spread_of(spans);
  t.sample.latency = Seconds{t.spread.median};
  t.spans = std::move(spans);
  return t;
}

}  // namespace

TEST_CASE("baseline 100 +- 1, n = 10: 97 fails, 99.5 passes, a noise of 5 % is inconclusive") {
  CHECK(judged(97.0, 1.0).verdict == GateVerdict::slower);
  CHECK(judged(99.5, 1.0).verdict == GateVerdict::same);
  CHECK(judged(97.0, 5.0).verdict == GateVerdict::inconclusive);
  CHECK(judged(105.0, 1.0).verdict == GateVerdict::faster);
}

TEST_CASE("the interval is Welch's") {
  // 100 +- 1 and 97 +- 1, ten each: standard error of the logarithms sqrt(0.0100^2 + 0.0103^2) / sqrt(10) = 0.00454,
  // 18 degrees of freedom, t = 2.101: 1.0309 times within a factor of exp(0.00954).
  const GateRow row = judged(97.0, 1.0);
  CHECK(row.ratio == doctest::Approx(100.0 / 97.0).epsilon(2e-4));
  CHECK(row.low == doctest::Approx(100.0 / 97.0 / 1.00959).epsilon(3e-4));
  CHECK(row.high == doctest::Approx(100.0 / 97.0 * 1.00959).epsilon(3e-4));
  // t = (ln 1.0309 - ln 1.02) / 0.00454 = 2.34: one-sided 1.55 % at 18 degrees of freedom.
  CHECK(row.p == doctest::Approx(0.0155).epsilon(0.05));
}

TEST_CASE("an outlier does not decide") {
  std::vector<double> slow_once = ten(100.0, 1.0);
  slow_once[4] = 300.0;
  CHECK(compare_times("time", ten(100.0, 1.0), slow_once, {}).verdict == GateVerdict::same);
}

TEST_CASE("identical samples are the same, and identical ones but slower are slower") {
  const std::vector<double> flat(10, 100.0);
  CHECK(compare_times("time", flat, flat, {}).verdict == GateVerdict::same);
  CHECK(compare_times("time", flat, std::vector<double>(10, 103.0), {}).verdict == GateVerdict::slower);
  CHECK(compare_times("time", flat, std::vector<double>(10, 101.0), {}).verdict == GateVerdict::same);
}

TEST_CASE("a family that is slower fails the gate, one probe among many by chance does not") {
  std::vector<ProbeTiming> a, b, c;
  for (int i = 0; i < 40; ++i) {
    const std::string key = "gemm bf16 " + std::to_string(1 << (i % 8)) + "x128x" + std::to_string(64 * (i + 1));
    a.push_back(timing(key, ten(100.0 + i, 1.0)));
    b.push_back(timing(key, ten(1.03 * (100.0 + i), 1.0)));
    c.push_back(timing(key, ten((i == 7 ? 1.031 : 1.0) * (100.0 + i), 1.0)));  // alone p = 1 %, of forty nothing
  }
  a.push_back(timing("copy 4096 B", ten(2.0, 0.01)));
  const Gate slow = compare_calibrations(a, b, {});
  CHECK(slow.verdict == GateVerdict::slower);
  REQUIRE(slow.families.size() == 1);
  CHECK(slow.families.front().name == "gemm bf16");
  CHECK(slow.families.front().ratio == doctest::Approx(1.03).epsilon(1e-3));
  CHECK(slow.only_a == std::vector<std::string>{"copy 4096 B"});
  const Gate chance = compare_calibrations(a, c, {});
  CHECK(chance.verdict == GateVerdict::same);
  CHECK(chance.probes[7].p > 0.025);
  CHECK(compare_times("alone", a[7].spans, c[7].spans, {}).p < 0.025);
  CHECK_THROWS_AS(compare_calibrations(a, std::vector<ProbeTiming>{timing("graph 1", ten(1.0, 0.1))}, {}), ConfigError);
}
