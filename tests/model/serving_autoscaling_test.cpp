// SPDX-License-Identifier: Apache-2.0
// Fleets that follow their load, bursts, and clients that try again.
#include <headroom/model/serve/load/retries.hpp>
#include <headroom/model/serve/screen/autoscaling.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "screen_cases.hpp"
#include "serving_tables.hpp"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace headroom;
using test::near;

namespace {

/// A unit that answers 10 requests/s: one place, prompts of 100 ms.
struct TenPerSecond {
  IterationTables tables = test::simple_tables({.per_prompt_token = 100'000'000});
  ServingFleet unit;
  ScreenTraffic traffic;
  TenPerSecond() {
    unit.pool.tables = &tables;
    unit.pool.engine.max_num_seqs = 1;
    unit.pool.engine.max_num_tokens = 1 << 20;
    unit.pool.engine.blocks = 1 << 20;
    unit.routing = RequestRouting::random;
    traffic.prompt = {1000.0, 0.0};
    traffic.output = {1.0, 0.0};
  }
};

/// `base` requests/s, ten times that from 1,000 s to 1,060 s of an hour.
LoadCurve burst(double base) {
  LoadCurve curve;
  curve.period = Seconds{3600.0};
  curve.points = {{Seconds{0.0}, base},
                  {Seconds{1000.0}, base},
                  {Seconds{1000.0}, 10.0 * base},
                  {Seconds{1060.0}, 10.0 * base},
                  {Seconds{1060.0}, base}};
  return curve;
}

}  // namespace

TEST_CASE("a burst of 10x for 60 s and a cold start of 90 s: no spare arrives in time, all must be warm") {
  const BurstNeed need = burst_need(Hertz{16.0}, 10.0, Seconds{60.0}, Seconds{90.0}, Hertz{10.0});
  CHECK(need.none_in_time);
  CHECK(need.before == 2);
  CHECK(need.peak == 16);
  CHECK(need.warm == 16);
  // A cold start of 20 s and a wait of 20 s: 160 x 20 / (10 (20 + 20)) = 8
  const BurstNeed sooner = burst_need(Hertz{16.0}, 10.0, Seconds{60.0}, Seconds{20.0}, Hertz{10.0}, Seconds{20.0});
  CHECK_FALSE(sooner.none_in_time);
  CHECK(sooner.warm == 8);
  CHECK(burst_need(Hertz{16.0}, 10.0, Seconds{60.0}, Seconds{20.0}, Hertz{10.0}).warm == 16);
  CHECK(burst_need(Hertz{16.0}, 10.0, Seconds{60.0}, Seconds{0.0}, Hertz{10.0}).warm == 2);
}

TEST_CASE("on the curve, what is ordered at the burst serves after it, and the burst's requests wait") {
  TenPerSecond ten;
  ScalingPolicy policy;
  policy.target = 0.8;
  policy.step = Seconds{10.0};
  policy.cold_start = Seconds{90.0};
  const std::vector<TailObjective> within{{LatencyMetric::ttft, 0.95, Seconds{5.0}}};
  const Autoscaling cold = autoscale(ten.unit, 1, ten.traffic, within, burst(16.0), policy);
  CHECK(cold.unit_saturation.raw() == near(10.0, 1e-3));
  CHECK(cold.requests == near(16.0 * 3540.0 + 160.0 * 60.0));
  REQUIRE(cold.scaled.units.size() == 360);
  for (std::size_t i = 100; i < 106; ++i) {
    CHECK(cold.scaled.units[i] == 2);
  }
  // 2 units answer 20/s: (160 - 20) x 60 requests are behind at its end, 420 s of both
  CHECK(cold.scaled.longest_wait.raw() == near(420.0, 0.01));
  CHECK(cold.scaled.missed > 9600.0 / cold.requests * 0.9);
  policy.least = burst_need(Hertz{16.0}, 10.0, Seconds{60.0}, Seconds{90.0}, Hertz{8.0}).warm;
  const Autoscaling warm = autoscale(ten.unit, 1, ten.traffic, within, burst(16.0), policy);
  CHECK(policy.least == 20);
  CHECK(warm.scaled.overloaded == 0.0);
  CHECK(warm.scaled.missed < 0.01);
  policy.least = 1;
  policy.cold_start = Seconds{20.0};
  const Autoscaling sooner = autoscale(ten.unit, 1, ten.traffic, within, burst(16.0), policy);
  // Seen after a step, there two steps later: the fourth step of the burst has 20 units.
  CHECK(sooner.scaled.units[102] == 2);
  CHECK(sooner.scaled.units[103] == 20);
  CHECK(sooner.scaled.missed < cold.scaled.missed);
}

TEST_CASE("a day of 11.6 requests/s on average and 116 at its peak, the peak's fleet against one that follows") {
  const test::ScreenTables tables;
  const ServingFleet unit = test::screen_fleet(tables.large, vllm_v1, 1);
  ScreenTraffic traffic;
  traffic.prompt = {1155.0, 1.0};
  traffic.output = {211.0, 0.8};
  const std::vector<TailObjective> promise{{LatencyMetric::ttft, 0.95, Seconds{0.6}},
                                           {LatencyMetric::tpot, 0.95, Seconds{0.05}}};
  LoadCurve day;
  // 20 h at r, up to 116 in two and down in two: r + (116 - r) / 12 = 11.6
  const double night = (11.6 - 116.0 / 12.0) * 12.0 / 11.0;
  day.points = {{Seconds{0.0}, night}, {hour * 20.0, night}, {hour * 22.0, 116.0}, {hour * 24.0, night}};
  ScalingPolicy policy;
  policy.target = 0.7;
  policy.cold_start = Seconds{300.0};
  const Autoscaling both = autoscale(unit, 4, traffic, promise, day, policy);
  CHECK(both.requests == near(11.6 * 86400.0, 0.001));
  CHECK(day.peak().raw() == 116.0);

  const std::int64_t peak = both.fixed.most;
  CHECK(both.fixed.least == peak);
  CHECK(both.fixed.gpu_hours == near(4.0 * 24.0 * static_cast<double>(peak)));
  CHECK(static_cast<double>(peak) * both.unit_saturation.raw() > 116.0);
  // Whole units above rate / (0.7 saturation), so between that and one more all day.
  const double least = 4.0 * 24.0 * 11.6 / (0.7 * both.unit_saturation.raw());
  CHECK(both.scaled.gpu_hours > least);
  CHECK(both.scaled.gpu_hours < least + 4.0 * 24.0);
  CHECK(both.scaled.gpu_hours < 0.3 * both.fixed.gpu_hours);
  CHECK(both.fixed.missed < 0.05);
  CHECK(both.fixed.overloaded == 0.0);
  CHECK(both.scaled.missed > both.fixed.missed);
  MESSAGE("fixed ", both.fixed.gpu_hours, " GPU-hours, ", both.fixed.missed, " missed; following ",
          both.scaled.gpu_hours, ", ", both.scaled.missed, ", ", both.scaled.least, " to ", both.scaled.most);

  policy.cold_start = Seconds{0.0};
  const Autoscaling at_once = autoscale(unit, 4, traffic, promise, day, policy);
  CHECK(at_once.scaled.gpu_hours == near(both.scaled.gpu_hours, 1e-9));  // who starts is paid for
  policy.cold_start = Seconds{1800.0};
  const Autoscaling slow = autoscale(unit, 4, traffic, promise, day, policy);
  CHECK(slow.scaled.missed > both.scaled.missed);
  CHECK(slow.scaled.missed > at_once.scaled.missed);
  policy.keep = Seconds{3600.0};
  CHECK(autoscale(unit, 4, traffic, promise, day, policy).scaled.gpu_hours > both.scaled.gpu_hours);
}

TEST_CASE("a cold start of a period and more: what was ordered once is never given back, and costs what it costs") {
  TenPerSecond ten;
  const LoadCurve curve = burst(16.0);
  const std::vector<TailObjective> within{{LatencyMetric::ttft, 0.95, Seconds{5.0}}};
  ScalingPolicy policy;
  policy.target = 0.8;
  policy.step = Seconds{10.0};
  const double hours = 1.0;
  double last = 0.0;
  for (const double cold_start : {0.0, 5.0, 90.0, 600.0, 1800.0, 3500.0, 3590.0, 3600.0, 3610.0, 7200.0, 1e6, 1e300}) {
    policy.cold_start = policy.keep = Seconds{cold_start};
    const Autoscaling a = autoscale(ten.unit, 4, ten.traffic, within, curve, policy);
    // Who stays longer costs more, and nobody more than all of them all the time.
    CHECK(a.scaled.gpu_hours >= last);
    CHECK(a.scaled.gpu_hours <= 4.0 * static_cast<double>(a.scaled.most) * hours * (1.0 + 1e-12));
    last = a.scaled.gpu_hours;
    REQUIRE(a.scaled.paid.size() == a.scaled.units.size());
    for (std::size_t i = 0; i < a.scaled.units.size(); ++i) {
      CHECK(a.scaled.units[i] <= a.scaled.paid[i]);
      CHECK(a.scaled.units[i] >= policy.least);
    }
    if (cold_start >= curve.period.raw()) {
      CHECK(a.scaled.least == a.scaled.most);
      CHECK(a.scaled.most == 20);  // 160 a second at 8 of each
      CHECK(a.scaled.overloaded == 0.0);
    }
  }
}

TEST_CASE("hours of the fixed fleet are free where the fleet that follows does not pay for them") {
  TenPerSecond ten;
  const std::vector<TailObjective> within{{LatencyMetric::ttft, 0.95, Seconds{5.0}}};
  ScalingPolicy policy;
  policy.target = 0.8;
  policy.step = Seconds{10.0};
  policy.fixed = 20;
  const Autoscaling at_once = autoscale(ten.unit, 4, ten.traffic, within, burst(16.0), policy);
  CHECK(at_once.fixed.most == 20);
  CHECK(at_once.saves());
  CHECK(at_once.freed_gpu_hours() == near(at_once.fixed.gpu_hours - at_once.scaled.gpu_hours));
  CHECK(at_once.above_gpu_hours() == 0.0);  // at the peak it has as many
  // A unit that starts is paid for: not free, though it does not serve.
  policy.cold_start = policy.keep = Seconds{900.0};
  const Autoscaling late = autoscale(ten.unit, 4, ten.traffic, within, burst(16.0), policy);
  CHECK(late.freed_gpu_hours() < at_once.freed_gpu_hours());
  CHECK(late.freed_gpu_hours() == near(late.fixed.gpu_hours - late.scaled.gpu_hours));
  // More than it has at the peak free nothing, and cost more than it.
  policy.cold_start = policy.keep = Seconds{3600.0};
  policy.fixed = 16;
  const Autoscaling too_late = autoscale(ten.unit, 4, ten.traffic, within, burst(16.0), policy);
  CHECK_FALSE(too_late.saves());
  CHECK(too_late.scaled.gpu_hours > too_late.fixed.gpu_hours);
  CHECK(too_late.freed_gpu_hours() == 0.0);
  CHECK(too_late.above_gpu_hours() == near(4.0 * 4.0));  // 20 units of 4 GPUs instead of 16, for an hour
  // Most of the hour it has fewer, in the burst more: neither alone is what it saves. Seen a step late, the 6 steps of
  // the burst want 20 units, which stay 15 minutes on: 96 steps of 360; the others take 2, at 16 a second and 8 of
  // each.
  policy.cold_start = policy.keep = Seconds{900.0};
  const Autoscaling mixed = autoscale(ten.unit, 4, ten.traffic, within, burst(16.0), policy);
  CHECK(mixed.saves());
  CHECK(mixed.above_gpu_hours() == near(4.0 * 4.0 * 960.0 / 3600.0));
  CHECK(mixed.freed_gpu_hours() == near(14.0 * 4.0 * 2640.0 / 3600.0));
}

TEST_CASE("of any curve hours freed less hours above the fixed fleet are what following saves, or costs") {
  TenPerSecond ten;
  const std::vector<TailObjective> within{{LatencyMetric::ttft, 0.95, Seconds{5.0}}};
  std::mt19937 random{11};
  const auto draw = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random()) / 4294967296.0;
  };
  std::size_t both = 0;
  std::size_t costs_with_hours_free = 0;
  for (int run = 0; run < 40; ++run) {
    LoadCurve curve;
    curve.period = Seconds{3600.0};
    for (int i = 0; i < 6; ++i) {
      curve.points.push_back({Seconds{600.0 * i}, draw(5.0, 100.0)});
    }
    ScalingPolicy policy;
    policy.step = Seconds{60.0};
    policy.target = draw(0.3, 0.95);
    policy.cold_start = policy.keep = Seconds{draw(0.0, 1500.0)};
    policy.fixed = 1 + static_cast<std::int64_t>(draw(0.0, 20.0));
    REQUIRE(problems(curve, policy).empty());
    const Autoscaling a = autoscale(ten.unit, 4, ten.traffic, within, curve, policy);
    std::int64_t freed = 0;
    std::int64_t above = 0;
    for (const std::int64_t paid : a.scaled.paid) {
      (paid < policy.fixed ? freed : above) += std::abs(policy.fixed - paid);
    }
    CAPTURE(run);
    const double hours_of_a_step = 4.0 * 60.0 / 3600.0;
    const double saved = a.fixed.gpu_hours - a.scaled.gpu_hours;
    const double nothing = 1e-9 * (a.fixed.gpu_hours + a.scaled.gpu_hours);
    CHECK(std::abs(a.freed_gpu_hours() - hours_of_a_step * static_cast<double>(freed)) < nothing);
    CHECK(std::abs(a.above_gpu_hours() - hours_of_a_step * static_cast<double>(above)) < nothing);
    CHECK(std::abs(a.freed_gpu_hours() - a.above_gpu_hours() - saved) < nothing);
    CHECK(a.saves() == (freed > above));
    both += freed > 0 && above > 0 ? 1 : 0;
    costs_with_hours_free += freed > 0 && above > freed ? 1 : 0;
  }
  CHECK(both > 0);
  CHECK(costs_with_hours_free > 0);
}

TEST_CASE("with 5 % failing the load is 1.053 times as large, and a storm is told from what it offers") {
  const RetryLoad calm = retry_load(Hertz{100.0}, 0.05, Hertz{120.0}, {.backoff = Seconds{1.0}});
  CHECK(calm.offered.raw() == near(100.0 / 0.95));
  CHECK(calm.attempts == near(1.0526, 1e-4));
  CHECK_FALSE(calm.storm);
  CHECK(calm.lost == 0.0);
  CHECK(calm.settles == calm.offered);
  // 0.05 x 1 + 0.05^2 x 2 + ... = 0.05 / 0.9 s
  CHECK(calm.backoff.raw() == near(0.05 / 0.9));

  const RetryLoad storm = retry_load(Hertz{100.0}, 0.05, Hertz{104.0});
  CHECK(storm.storm);
  CHECK(std::isinf(storm.settles.raw()));
  // 3 attempts: 1 + 0.05 + 0.0025; what is beyond the capacity fails as well.
  const RetryLoad thrice = retry_load(Hertz{100.0}, 0.05, Hertz{104.0}, {.attempts = 3, .backoff = Seconds{1.0}});
  CHECK(thrice.offered.raw() == near(105.25));
  CHECK(thrice.lost == near(0.000125));
  CHECK(thrice.backoff.raw() == near(0.05 + 0.05 * 0.05 * 2.0));
  CHECK(thrice.storm);
  CHECK(thrice.settles.raw() > 105.25);
  const double failing = 1.0 - 0.95 * 104.0 / thrice.settles.raw();
  CHECK(thrice.settles.raw() == near(100.0 * (1.0 + failing + failing * failing), 1e-6));
  // Ten times the capacity, three attempts: nearly all fail thrice.
  CHECK(retry_load(Hertz{1000.0}, 0.0, Hertz{100.0}, {.attempts = 3}).settles.raw() == near(2890.0, 0.01));
  CHECK(std::isinf(retry_load(Hertz{1.0}, 0.6, Hertz{100.0}, {.backoff = Seconds{1.0}}).backoff.raw()));
  // A storm begins where 100 / (1 - p) is 125; of two attempts at most, where 1 + p is; of one nowhere.
  CHECK(storm_failure(Hertz{100.0}, Hertz{125.0}) == near(0.2));
  CHECK(storm_failure(Hertz{100.0}, Hertz{125.0}, {.attempts = 2}) == near(0.25));
  CHECK(storm_failure(Hertz{100.0}, Hertz{125.0}, {.attempts = 1}) == near(1.0));
  CHECK(storm_failure(Hertz{100.0}, Hertz{90.0}) == 0.0);
}

TEST_CASE("curves and policies that mean nothing are named, each with its value and the way out") {
  LoadCurve curve;
  ScalingPolicy policy;
  policy.target = 1.0;
  policy.least = 5;
  policy.most = 2;
  policy.cold_start = Seconds{-1.0};
  const std::vector<std::string> found = problems(curve, policy);
  REQUIRE(found.size() == 4);
  CHECK(found[0].find("without a point") != std::string::npos);
  CHECK(found[1].find("utilisation of 1.0") != std::string::npos);
  CHECK(found[2].find("cold start of -1.0") != std::string::npos);
  CHECK(found[3].find("units of 2.0") != std::string::npos);
  curve.points = {{Seconds{10.0}, 1.0}, {Seconds{5.0}, 1.0}};
  CHECK(problems(curve, {}).front().find("points must come by time") != std::string::npos);
  CHECK(problems(burst(1.0), {}).empty());
}

namespace {

/// 5, 35 and 0 requests/s for 100 s each, once.
LoadCurve three_parts() {
  LoadCurve curve;
  curve.period = Seconds{300.0};
  curve.repeats = false;
  curve.points = {{Seconds{0.0}, 5.0},    {Seconds{100.0}, 5.0}, {Seconds{100.0}, 35.0},
                  {Seconds{200.0}, 35.0}, {Seconds{200.0}, 0.0}, {Seconds{300.0}, 0.0}};
  return curve;
}

/// The fewest units, one after another, that keep first tokens of 95 % within a limit, below a load.
std::int64_t fewest_by_trial(const TenPerSecond& ten, double rate, double limit, double most_load) {
  for (std::int64_t units = 1;; ++units) {
    ScreenTraffic traffic = ten.traffic;
    traffic.rate = Hertz{rate};
    const ServingScreen s = screen(fleet_of(ten.unit, units), traffic);
    if (!s.overloaded && rate < most_load * 10.0 * static_cast<double>(units) * (1.0 - 1e-3) &&
        s.ttft.quantile(0.95) <= limit) {
      return units;
    }
  }
}

}  // namespace

TEST_CASE("the floor has in each step the fewest units that keep the promise, as trying one after another finds them") {
  const TenPerSecond ten;
  const std::vector<TailObjective> within{{LatencyMetric::ttft, 0.95, Seconds{0.4}}};
  ScalingPolicy policy;
  policy.step = Seconds{10.0};
  policy.most_load = 0.9;
  const Autoscaling a = autoscale(ten.unit, 4, ten.traffic, within, three_parts(), policy);
  REQUIRE(a.floor);
  REQUIRE(a.floor->units.size() == 30);
  CHECK(a.step.raw() == near(10.0));
  const std::int64_t few = fewest_by_trial(ten, 5.0, 0.4, 0.9);
  const std::int64_t many = fewest_by_trial(ten, 35.0, 0.4, 0.9);
  CHECK(many > few);
  for (std::size_t i = 0; i < 30; ++i) {
    CHECK(a.floor->units[i] == (i < 10 ? few : i < 20 ? many : 1));  // a part without a request keeps the least
  }
  CHECK(a.floor->gpu_hours == near(4.0 * 100.0 * static_cast<double>(few + many + 1) / 3600.0));
  CHECK(a.floor->overloaded == 0.0);
  CHECK(a.floor->missed < 0.06);
  CHECK(a.floor->gpu_hours < a.fixed.gpu_hours);
  for (const double rate : {0.5, 3.0, 7.9, 8.1, 17.0, 26.5, 71.0}) {
    CHECK(least_units(ten.unit, ten.traffic, within, policy, Hertz{rate}) == fewest_by_trial(ten, rate, 0.4, 0.9));
  }
}

TEST_CASE("what is known of the floor holds at its rate, and bounds what closed forms say between") {
  const TenPerSecond ten;
  const std::vector<TailObjective> within{{LatencyMetric::ttft, 0.95, Seconds{0.4}}};
  ScalingPolicy policy;
  policy.known = {{Hertz{5.0}, 3}, {Hertz{35.0}, 4}};
  const auto at = [&](double rate) { return least_units(ten.unit, ten.traffic, within, policy, Hertz{rate}); };
  CHECK(at(0.0) == 1);
  CHECK(at(1.0) == 1);
  CHECK(at(5.0) == 3);
  CHECK(at(6.0) == 3);   // closed forms: 1 or 2
  CHECK(at(34.0) == 4);  // closed forms: 5 or more
  CHECK(at(35.0) == 4);
  CHECK(at(100.0) > 10);
  policy.known = {{Hertz{35.0}, 4}, {Hertz{5.0}, 3}};
  CHECK(problems(three_parts(), policy).size() == 1);
  policy.known.clear();
  policy.most_load = 0.0;
  CHECK(problems(three_parts(), policy).size() == 1);
}

TEST_CASE("no number of units keeps a promise below an idle unit's time: there is no floor") {
  const TenPerSecond ten;
  const std::vector<TailObjective> within{{LatencyMetric::ttft, 0.95, Seconds{0.05}}};
  ScalingPolicy policy;
  policy.most = 50;
  const Autoscaling a = autoscale(ten.unit, 1, ten.traffic, within, three_parts(), policy);
  CHECK_FALSE(a.floor);
  CHECK_FALSE(worst_late_burst(a, three_parts(), Seconds{1e6}));
}

TEST_CASE("a curve that comes once begins with the units of its first rate and without a backlog of its end") {
  const TenPerSecond ten;
  const std::vector<TailObjective> within{{LatencyMetric::ttft, 0.95, Seconds{1.0}}};
  LoadCurve falling = three_parts();
  for (std::size_t i = 0; i < 6; ++i) {
    falling.points[i].rate = i < 2 ? 35.0 : i < 4 ? 0.0 : 5.0;
  }
  ScalingPolicy policy;
  policy.target = 0.8;
  policy.step = Seconds{10.0};
  policy.cold_start = policy.keep = Seconds{20.0};
  const Autoscaling once = autoscale(ten.unit, 1, ten.traffic, within, falling, policy);
  CHECK(once.scaled.units.front() == 5);  // 35 / (0.8 x 10) and up
  CHECK(once.scaled.overloaded == 0.0);
  LoadCurve again = falling;
  again.repeats = true;
  const Autoscaling repeated = autoscale(ten.unit, 1, ten.traffic, within, again, policy);
  CHECK(repeated.scaled.units.front() == 1);  // of the 5 requests/s before it
  CHECK(repeated.scaled.overloaded > 0.0);
  // A cold start longer than the curve: what is ordered in it never serves in it.
  policy.cold_start = policy.keep = Seconds{400.0};
  const Autoscaling late = autoscale(ten.unit, 1, ten.traffic, within, three_parts(), policy);
  CHECK(late.scaled.most == 1);
  CHECK(late.scaled.paid.back() == 5);
}

TEST_CASE("a burst that is over before what it orders serves is told, with what serves in it and what it takes") {
  const TenPerSecond ten;
  const std::vector<TailObjective> within{{LatencyMetric::ttft, 0.95, Seconds{5.0}}};
  ScalingPolicy policy;
  policy.target = 0.8;
  policy.step = Seconds{10.0};
  policy.cold_start = Seconds{90.0};
  const Autoscaling a = autoscale(ten.unit, 1, ten.traffic, within, burst(16.0), policy);
  const std::optional<LateBurst> late = worst_late_burst(a, burst(16.0), policy.cold_start);
  REQUIRE(late);
  CHECK(late->at.raw() == near(1000.0));
  CHECK(late->length.raw() == near(60.0));
  CHECK(late->before.raw() == near(16.0));
  CHECK(late->peak.raw() == near(160.0));
  CHECK(late->serving == 2);
  CHECK(late->needed == least_units(ten.unit, ten.traffic, within, policy, Hertz{160.0}));
  CHECK(late->needed > 16);
  CHECK(late->requests == near(9600.0));
  // A cold start of 20 s is over within the burst: more replicas do help, late.
  policy.cold_start = Seconds{20.0};
  const Autoscaling sooner = autoscale(ten.unit, 1, ten.traffic, within, burst(16.0), policy);
  CHECK_FALSE(worst_late_burst(sooner, burst(16.0), policy.cold_start));
  // Warm before it: none is late.
  policy.cold_start = Seconds{90.0};
  policy.least = late->needed;
  const Autoscaling warm = autoscale(ten.unit, 1, ten.traffic, within, burst(16.0), policy);
  CHECK_FALSE(worst_late_burst(warm, burst(16.0), policy.cold_start));
}
