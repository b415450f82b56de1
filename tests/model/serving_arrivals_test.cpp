// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/load/arrivals.hpp>
#include <headroom/model/serve/load/lengths.hpp>
#include <headroom/model/serve/load/request_load.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

using namespace headroom;
using test::near;

namespace {

struct Moments {
  double rate = 0.0, cv = 0.0, skewness = 0.0;
};

/// Of a million gaps.
Moments moments(const ArrivalProcess& process, std::uint64_t seed) {
  Arrivals arrivals{process, seed};
  constexpr int count = 1'000'000;
  double sums[4] = {0.0, 0.0, 0.0, 0.0};
  Picoseconds last{0};
  for (int i = 0; i < count; ++i) {
    const Picoseconds now = arrivals.next();
    const double gap = seconds_of(now - last) * process.rate.raw();
    last = now;
    sums[1] += gap;
    sums[2] += gap * gap;
    sums[3] += gap * gap * gap;
  }
  const double mean = sums[1] / count;
  const double variance = sums[2] / count - mean * mean;
  const double third = sums[3] / count - 3.0 * mean * sums[2] / count + 2.0 * mean * mean * mean;
  return {process.rate.raw() / mean, std::sqrt(variance) / mean, third / std::pow(variance, 1.5)};
}

/// Share of the arrivals of ten periods whose time of day is in [from, to) of the period.
double share_between(ArrivalProcess process, double period, double from, double to) {
  constexpr int count = 400'000;
  process.rate = Hertz{count / (10.0 * period)};  // whole periods
  Arrivals arrivals{process, 17};
  int inside = 0;
  for (int i = 0; i < count; ++i) {
    const double at = std::fmod(seconds_of(arrivals.next()), period) / period;
    inside += at >= from && at < to ? 1 : 0;
  }
  return static_cast<double>(inside) / count;
}

}  // namespace

TEST_CASE("Poisson arrivals keep the rate within 0.5 % and a cv of 1.00 +- 0.01") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    for (const double rate : {0.37, 10.0, 25'000.0}) {
      CAPTURE(seed);
      CAPTURE(rate);
      const Moments m = moments({.gaps = GapShape::poisson, .rate = Hertz{rate}}, seed);
      CHECK(m.rate == near(rate, 0.005));
      CHECK(std::abs(m.cv - 1.0) <= 0.01);
      // An exponential's skewness is 2; gaps clipped at three means have less than 1.2.
      CHECK(m.skewness == near(2.0, 0.03));
    }
  }
}

TEST_CASE("gamma and Weibull gaps keep the rate and have the cv of their shape") {
  for (const double cv : {0.3, 0.8, 2.0, 3.0}) {
    CAPTURE(cv);
    const Moments m = moments({.gaps = GapShape::gamma, .rate = Hertz{10.0}, .cv = cv}, 3);
    CHECK(m.rate == near(10.0, 0.01));
    CHECK(m.cv == near(cv, 0.01));
  }
  for (const double shape : {0.6, 1.0, 2.5}) {
    CAPTURE(shape);
    const double first = std::tgamma(1.0 + 1.0 / shape);
    const double cv = std::sqrt(std::tgamma(1.0 + 2.0 / shape) / (first * first) - 1.0);
    const Moments m = moments({.gaps = GapShape::weibull, .rate = Hertz{10.0}, .shape = shape}, 4);
    CHECK(m.rate == near(10.0, 0.01));
    CHECK(m.cv == near(cv, 0.01));
  }
  const Moments even = moments({.gaps = GapShape::constant, .rate = Hertz{10.0}}, 4);
  CHECK(even.rate == near(10.0, 1e-6));
  CHECK(even.cv < 1e-5);
}

TEST_CASE("arrivals follow the day's curve: a quarter of it holds its integral") {
  // Of 1 + a sin over the first half: 1/2 + a/pi.
  ArrivalProcess daily{.gaps = GapShape::poisson, .rate = Hertz{1.0}, .curve = RateCurve::sinusoid(headroom::day, 0.8)};
  CHECK(share_between(daily, 86400.0, 0.0, 0.5) == near(0.5 + 0.8 / std::numbers::pi, 0.005));
  CHECK(share_between(daily, 86400.0, 0.25, 0.5) == near(0.25 + 0.4 / std::numbers::pi, 0.01));
  CHECK(daily.curve.peak() == near(1.8, 1e-4));

  // Ten times the rate for 6 s of each minute: 60 of 114 parts.
  const ArrivalProcess bursts{
      .gaps = GapShape::poisson, .rate = Hertz{5.0}, .curve = RateCurve::bursts(Seconds{60.0}, Seconds{6.0}, 10.0)};
  CHECK(share_between(bursts, 60.0, 0.0, 0.1) == near(60.0 / 114.0, 0.01));
  CHECK(bursts.curve.peak() == near(10.0 * 60.0 / 114.0));

  // A curve of one's own: nothing for an hour, then a ramp to the end of the next.
  const std::array points{RateCurve::Point{Seconds{3600.0}, 0.0}, RateCurve::Point{Seconds{7200.0}, 3.0}};
  REQUIRE(RateCurve::problem(Seconds{7200.0}, points) == nullptr);
  const RateCurve ramp{Seconds{7200.0}, points};
  CHECK(ramp.when(Seconds{0.0}).raw() == near(3600.0));
  CHECK(ramp.when(Seconds{1800.0}).raw() == near(3600.0 + 1800.0));  // a quarter of the mass: half of the ramp
  CHECK(ramp.when(Seconds{7200.0 + 1800.0}).raw() == near(7200.0 + 5400.0));
}

TEST_CASE("the mean rate under a curve is the one asked for") {
  ArrivalProcess process{
      .gaps = GapShape::gamma, .rate = Hertz{20.0}, .cv = 1.5, .curve = RateCurve::sinusoid(Seconds{600.0}, 0.9)};
  Arrivals arrivals{process, 9};
  Picoseconds last{};
  for (int i = 0; i < 1'000'000; ++i) {
    last = arrivals.next();
  }
  CHECK(1e6 / seconds_of(last) == near(20.0, 0.005));
}

TEST_CASE("bad curves and processes are told with their value") {
  const std::array back{RateCurve::Point{Seconds{5.0}, 1.0}, RateCurve::Point{Seconds{4.0}, 1.0}};
  const std::array none{RateCurve::Point{Seconds{0.0}, 0.0}};
  const std::array negative{RateCurve::Point{Seconds{0.0}, -1.0}};
  CHECK(RateCurve::problem(Seconds{10.0}, back) != nullptr);
  CHECK(RateCurve::problem(Seconds{10.0}, none) != nullptr);
  CHECK(RateCurve::problem(Seconds{10.0}, negative) != nullptr);
  CHECK(RateCurve::problem(Seconds{0.0}, std::array{RateCurve::Point{}}) != nullptr);
  CHECK(problems(ArrivalProcess{.rate = Hertz{0.0}}).size() == 1);
  CHECK(problems(ArrivalProcess{.rate = Hertz{std::numeric_limits<double>::quiet_NaN()}}).size() == 1);
  CHECK(problems(ArrivalProcess{.rate = Hertz{std::numeric_limits<double>::infinity()}}).empty());
  CHECK(problems(ArrivalProcess{.gaps = GapShape::gamma, .rate = Hertz{-1.0}, .cv = 0.0}).size() == 2);
  CHECK(problems(ArrivalProcess{.gaps = GapShape::weibull, .shape = 0.0}).size() == 1);
  std::vector<TrafficClass> classes(1);
  classes[0].arrivals.rate = Hertz{std::numeric_limits<double>::infinity()};
  CHECK(problems(classes).empty());
  classes.resize(2);
  CHECK(problems(classes).size() == 1);
  CHECK(problems(LengthLaw{.mean = 0.0}, "prompt").size() == 1);
  CHECK(problems(LengthLaw{.shape = LengthShape::uniform, .mean = 10.0, .low = 2.0}, "prompt").size() == 1);
}

TEST_CASE("lengths have the mean and the spread of their law") {
  struct Row {
    LengthLaw law;
    double cv;
  };
  const Row rows[] = {
      {{.mean = 700}, 0.0},
      {{.shape = LengthShape::uniform, .mean = 700, .low = 0.8}, 0.4 / std::sqrt(12.0)},
      {{.shape = LengthShape::lognormal, .mean = 700, .cv = 1.2}, 1.2},
      {{.shape = LengthShape::exponential, .mean = 700}, 1.0},
  };
  for (const Row& row : rows) {
    RandomStream random{21};
    double sum = 0.0;
    double squares = 0.0;
    constexpr int count = 1'000'000;
    for (int i = 0; i < count; ++i) {
      const double tokens = draw(row.law, random);
      sum += tokens;
      squares += tokens * tokens;
    }
    const double mean = sum / count;
    CHECK(mean == near(700.0, 0.005));
    CHECK(std::sqrt(std::max(squares / count - mean * mean, 0.0)) / mean == doctest::Approx(row.cv).epsilon(0.02));
  }
}

TEST_CASE("a load is the same for a seed, and a class is the same whatever runs beside it") {
  TrafficClass chat;
  chat.arrivals.rate = Hertz{10.0};
  chat.prompt = {.shape = LengthShape::lognormal, .mean = 500, .cv = 1.0};
  chat.output = {.mean = 100};
  chat.cached_share = 0.5;
  TrafficClass batch = chat;
  batch.arrivals.rate = Hertz{3.0};
  batch.prompt.mean = 4000;
  const std::vector<TrafficClass> both{chat, batch};
  const RequestLoad one = open_load({&chat, 1}, 1000, 5);
  const RequestLoad again = open_load({&chat, 1}, 1000, 5);
  const RequestLoad other = open_load({&chat, 1}, 1000, 6);
  const RequestLoad mixed = open_load(both, 5000, 5);
  std::size_t next = 0;
  std::size_t of_batch = 0;
  Picoseconds last{0};
  for (const Request& request : mixed.requests) {
    CHECK(request.arrival >= last);
    last = request.arrival;
    of_batch += request.service_class == 1 ? 1 : 0;
    if (request.service_class == 0 && next < one.requests.size()) {
      CHECK(request.arrival == one.requests[next].arrival);
      CHECK(request.prompt_tokens == one.requests[next].prompt_tokens);
      ++next;
    }
  }
  CHECK(next == 1000);
  CHECK(static_cast<double>(of_batch) == near(5000.0 * 3.0 / 13.0, 0.1));
  for (std::size_t i = 0; i < one.requests.size(); ++i) {
    CHECK(one.requests[i].arrival == again.requests[i].arrival);
    CHECK(one.requests[i].prompt_tokens == again.requests[i].prompt_tokens);
    CHECK(one.requests[i].cached_tokens == one.requests[i].prompt_tokens / 2);
  }
  CHECK(one.requests[0].arrival != other.requests[0].arrival);
}

TEST_CASE("a trace keeps its pattern when its rate is scaled") {
  std::vector<Request> trace(3);
  trace[0].arrival = picoseconds(100.0);
  trace[1].arrival = picoseconds(101.0);
  trace[2].arrival = picoseconds(104.0);
  CHECK(rate_of(trace).raw() == near(0.5));
  const RequestLoad load = trace_load(trace, Hertz{1.0}, 2);
  REQUIRE(load.requests.size() == 6);
  const double at[] = {0.0, 0.5, 2.0, 3.0, 3.5, 5.0};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(seconds_of(load.requests[i].arrival) == doctest::Approx(at[i]));
  }
  CHECK(rate_of(load.requests).raw() == near(1.0));
}
