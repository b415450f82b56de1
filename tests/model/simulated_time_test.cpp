// SPDX-License-Identifier: Apache-2.0
// Simulated time ends at a fixed time: nothing wraps around, and what lies beyond is told.
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>
#include <headroom/model/serve/time/time_histogram.hpp>

#include <doctest/doctest.h>

#include "serving_tables.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace headroom;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr Picoseconds first{std::numeric_limits<std::int64_t>::min()};
constexpr Picoseconds one_day{86'400'000'000'000'000};

/// Two replicas of four places.
ServingFleet fleet_of(const IterationTables& tables) {
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.replicas = 2;
  fleet.pool.engine.max_num_seqs = 4;
  fleet.pool.engine.max_num_tokens = 1 << 20;
  fleet.pool.engine.blocks = 4000;
  return fleet;
}

RequestLoad load_of(std::int64_t count, Picoseconds gap, std::int32_t prompt, std::int32_t output) {
  RequestLoad load;
  for (std::int64_t i = 0; i < count; ++i) {
    load.requests.push_back({i * gap, prompt, output, 0, 0});
  }
  return load;
}

/// Every time follows its cause, and none is below 0.
void check_order(const FleetResult& result) {
  for (const RequestTimes& times : result.requests) {
    if (times.refused || times.arrival == never) {
      continue;
    }
    CHECK(times.arrival >= Picoseconds{0});
    CHECK(times.started >= times.arrival);
    CHECK(times.first_token >= times.arrival);
    CHECK(times.finished >= times.arrival);
    CHECK((times.first_token == never || times.started < times.first_token));
    CHECK((times.finished == never || times.first_token <= times.finished));
  }
}

bool any_says(const std::vector<std::string>& texts, std::string_view part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("seconds beyond simulated time are at its end, and no number at all is never") {
  CHECK(picoseconds(1.5e-12) == Picoseconds{2});
  CHECK(picoseconds(-1.5e-12) == Picoseconds{-2});
  CHECK(picoseconds(1e5) == Picoseconds{100'000'000'000'000'000});
  for (const double seconds : {9.3e6, 1e7, 1e300, infinite, std::nan("")}) {
    CHECK(picoseconds(seconds) == never);
    CHECK(truncated(1e12 * seconds) == never);
  }
  for (const double seconds : {-9.3e6, -1e300, -infinite}) {
    CHECK(picoseconds(seconds) == first);
  }
  CHECK(picoseconds(9.2e6) < never);
}

TEST_CASE("sums, differences and products of times stay at the end that they pass") {
  CHECK(never + Picoseconds{1} == never);
  CHECK(never + never == never);
  CHECK(first + Picoseconds{-1} == first);
  CHECK(first - never == first);
  CHECK(Picoseconds{0} - first == never);
  CHECK(never - Picoseconds{1} == Picoseconds{never.count() - 1});
  CHECK(one_day * 107 == never);
  CHECK(one_day * -107 == first);
  CHECK(one_day * 106 < never);
  CHECK(3 * one_day / 2 == Picoseconds{one_day.count() / 2 * 3});
  Picoseconds sum{0};
  for (int i = 0; i < 200; ++i) {
    const Picoseconds before = sum;
    sum += one_day;
    CHECK(sum >= before);
  }
  CHECK(sum == never);
}

TEST_CASE("a histogram of times has a bin for every one of them, to the end and below 0") {
  TimeHistogram histogram;
  for (const Picoseconds time : {never, never - Picoseconds{1}, Picoseconds{0}, Picoseconds{-1}, first, one_day}) {
    histogram.add(time, 1);
  }
  CHECK(histogram.total() == 6);
  CHECK(histogram.quantile(0.5) == Picoseconds{0});
  CHECK(histogram.quantile(1.0) > 100 * one_day);
}

TEST_CASE("tables of iterations that are too long for simulated time answer with its end, never below 0") {
  for (const std::int64_t long_time : {never.count(), never.count() / 2, one_day.count()}) {
    const IterationTables tables = test::simple_tables({.step = long_time, .per_sequence = long_time});
    for (const std::int64_t sequences : {1, 7, 1024, 100'000}) {
      IterationBatch batch;
      batch.decodes = sequences;
      batch.context = sequences * 1000;
      CHECK(tables.time(batch) >= Picoseconds{long_time});
      CHECK(tables.decode_line(sequences, batch.context).at(100 * batch.context) >= Picoseconds{long_time});
      batch.add(100, true, tables.chunk(100, 100));
      CHECK(tables.time(batch) >= Picoseconds{long_time});
    }
  }
}

TEST_CASE("requests that iterations of an hour, a day or a month cannot answer in time are unanswered, not early") {
  for (const Picoseconds step : {one_day / 24, one_day, 29 * one_day, 60 * one_day}) {
    const IterationTables tables = test::simple_tables({.step = step.count()});
    const ServingFleet fleet = fleet_of(tables);
    const RequestLoad load = load_of(40, one_day / 10, 100, 30);
    const FleetResult result = simulate(fleet, load);
    check_order(result);
    const ServingMetrics metrics = serving_metrics(load, result);
    // Ten rounds of four on each of two, five of each replica, of 30 steps and more.
    const bool in_time = step * (5 * 30) < 100 * one_day;
    CHECK((result.unanswered == 0) == in_time);
    CHECK(result.unanswered == metrics.all.unfinished);
    CHECK(metrics.unanswered == result.unanswered);
    CHECK((in_time || metrics.overloaded));
    CHECK(metrics.all.finished + metrics.all.unfinished == 40);
    if (metrics.all.finished > 0) {
      CHECK(metrics.all.e2e.p50 >= Seconds{30.0 * seconds_of(step)});
    }
    CHECK(metrics.pool.busy >= 0.0);
    CHECK(metrics.pool.busy <= 1.0);
  }
}

TEST_CASE("a stretch of iterations that simulated time cuts off gives the tokens of those that end before") {
  // 1,000 iterations of 3 hours are 125 days: all but the last end in time for nobody, for the first is done at once.
  const IterationTables tables = test::simple_tables({.step = one_day.count() / 8});
  const FleetResult result = simulate(fleet_of(tables), load_of(1, Picoseconds{0}, 10, 1000));
  CHECK(result.unanswered == 1);
  CHECK(result.requests[0].first_token == one_day / 8);
  CHECK(result.end > 105 * one_day);
  CHECK(result.pool.sum.iterations > 840);
  CHECK(result.pool.sum.gaps.quantile(1.0) < one_day);
}

TEST_CASE("caches that queue for a link until beyond simulated time hold their requests back") {
  const IterationTables tables = test::simple_tables({.step = 1'000'000'000});
  ServingFleet fleet = fleet_of(tables);
  fleet.prefill = fleet.pool;
  fleet.prefill->replicas = 1;
  // 100 tokens a day: each prompt of 100 tokens takes one, one after the other.
  fleet.transfer = {Bytes{1.0}, BytesPerSecond{100.0 / 86400.0}, Seconds{10.0}};
  const RequestLoad load = load_of(200, Picoseconds{1'000'000'000'000}, 100, 5);
  REQUIRE(problems(fleet, load).empty());
  const FleetResult result = simulate(fleet, load);
  check_order(result);
  CHECK(result.unanswered == 200 - 106);
  CHECK(serving_metrics(load, result).overloaded);
}

TEST_CASE("several models on a device: one whose iteration never ends keeps the device, and both wait") {
  const IterationTables endless = test::simple_tables({.step = never.count()});
  const IterationTables quick = test::simple_tables({.step = 1'000'000'000});
  ServingFleet fleet = fleet_of(quick);
  fleet.pool.replicas = 1;
  fleet.beside.push_back({&endless, fleet.pool.engine});
  fleet.model_of_class = {0, 1};
  RequestLoad load = load_of(10, one_day, 10, 5);
  load.requests[4].service_class = 1;
  const FleetResult result = simulate(fleet, load);
  check_order(result);
  CHECK(result.unanswered == 6);
}

TEST_CASE("what takes longer than can be simulated is named before it runs, each with its time and the way out") {
  const IterationTables tables = test::simple_tables({.step = 1'000'000'000});
  const RequestLoad load = load_of(3, one_day, 1000, 5);
  ServingFleet fleet = fleet_of(tables);
  REQUIRE(problems(fleet, load).empty());

  ServingFleet apart = fleet;
  apart.prefill = fleet.pool;
  for (const double rate : {1e-300, 1e-3, 0.1}) {
    apart.transfer = {Bytes{1e5}, BytesPerSecond{rate}, Seconds{}};
    CHECK(any_says(problems(apart, load), "transfer: the cache of a prompt of 1000 tokens takes"));
    CHECK(any_says(problems(apart, load), "give a faster link"));
  }
  for (const double latency : {1e7, 1e300, infinite}) {
    apart.transfer = {Bytes{1e5}, BytesPerSecond{1e9}, Seconds{latency}};
    CHECK(any_says(problems(apart, load), "transfer: the latency takes"));
  }
  ServingFleet tiered = fleet;
  tiered.tiers[1] = {100, one_day, never, false};
  CHECK(any_says(problems(tiered, load), "a tier of the cache: the latency takes longer than is simulated"));
  CHECK(any_says(problems(tiered, load), "loading a prompt of 1000 tokens takes"));
  ServingFleet far = fleet;
  far.front_end = never;
  CHECK(any_says(problems(far, load), "from a client to the router"));
  far = fleet;
  far.pool.front = {Picoseconds{-1}, never};
  CHECK(any_says(problems(far, load), "pool: the front end's work for a token of a prompt takes a time below 0"));
  CHECK(any_says(problems(far, load), "for a token of an answer takes longer than is simulated"));
  ServingFleet swapping = fleet;
  swapping.pool.engine.swap_per_block = 31 * one_day;
  CHECK(any_says(problems(swapping, load), "the copy of a block to the host takes 31"));
  const IterationTables slow = test::simple_tables({.step = 40 * one_day.count()});
  CHECK(any_says(problems(fleet_of(slow), load), "an iteration of one sequence takes 40"));
  RequestLoad late = load;
  late.requests[1].arrival = late.requests[2].arrival = never;
  const std::vector<std::string> found = problems(fleet, late);
  REQUIRE(found.size() == 1);
  CHECK(any_says(found, "request 2: arrives beyond the 106 days"));
}

TEST_CASE("gaps of any rate and law come in order, and at the end of time where they are too long") {
  for (const double rate : {1e-300, 1e-12, 1e-6, 1.0, 1e11, 1e300}) {
    for (const GapShape shape : {GapShape::poisson, GapShape::gamma, GapShape::weibull, GapShape::constant}) {
      ArrivalProcess process;
      process.rate = Hertz{rate};
      process.gaps = shape;
      process.cv = 100.0;
      process.shape = 0.1;
      for (const bool bursts : {false, true}) {
        process.curve = bursts ? RateCurve::bursts(Seconds{1e-3}, Seconds{1e-4}, 1e4) : RateCurve{};
        Arrivals arrivals{process, 3};
        Picoseconds last{0};
        for (int i = 0; i < 50; ++i) {
          const Picoseconds now = arrivals.next();
          CHECK(now >= last);
          last = now;
        }
      }
    }
  }
}
