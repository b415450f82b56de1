// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "serving_tables.hpp"
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

using namespace headroom;
using test::near;

// Sanitizers bring an operator new of their own. Not inlined: g++ 12 would take malloc and delete for a mismatch.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEADROOM_COUNTS_ALLOCATIONS 1

namespace {
std::atomic<std::int64_t> allocations{0};
}

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

namespace {

constexpr std::int64_t ms = 1'000'000'000;

IterationTables usual() {
  return test::simple_tables({5 * ms, ms / 10, ms / 100, 100, 0});
}

ServingFleet fleet_of(const IterationTables& tables, std::int64_t replicas) {
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.replicas = replicas;
  fleet.pool.engine.max_num_seqs = 32;
  fleet.pool.engine.max_num_tokens = 2048;
  fleet.pool.engine.blocks = 4000;
  return fleet;
}

TrafficClass traffic(double rate) {
  TrafficClass one;
  one.arrivals.rate = Hertz{rate};
  one.prompt = {.shape = LengthShape::lognormal, .mean = 800, .cv = 1.0, .most = 8000};
  one.output = {.shape = LengthShape::lognormal, .mean = 200, .cv = 1.0, .most = 4000};
  return one;
}

RequestLoad load_of(double rate, std::int64_t count, std::uint64_t seed = 1) {
  const TrafficClass one = traffic(rate);
  return open_load({&one, 1}, count, seed);
}

bool same(const FleetResult& a, const FleetResult& b) {
  return std::equal(a.requests.begin(), a.requests.end(), b.requests.begin(), b.requests.end(),
                    [](const RequestTimes& x, const RequestTimes& y) {
                      return x.arrival == y.arrival && x.started == y.started && x.first_token == y.first_token &&
                             x.finished == y.finished && x.replica == y.replica;
                    }) &&
         a.end == b.end && a.pool.sum.gaps == b.pool.sum.gaps && a.pool.sum.batch == b.pool.sum.batch;
}

}  // namespace

TEST_CASE("every request that arrives is answered once, its times in order, on each routing") {
  const IterationTables tables = usual();
  const RequestLoad load = load_of(40.0, 5000);
  std::array<double, 4> waits{};
  for (const RequestRouting routing : {RequestRouting::round_robin, RequestRouting::least_outstanding,
                                       RequestRouting::random, RequestRouting::shared_queue}) {
    ServingFleet fleet = fleet_of(tables, 4);
    fleet.routing = routing;
    fleet.pool.engine.max_num_seqs = 16;
    const FleetResult result = simulate(fleet, load);
    std::int64_t tokens = 0;
    for (std::size_t i = 0; i < load.requests.size(); ++i) {
      const RequestTimes& times = result.requests[i];
      REQUIRE(times.arrival == load.requests[i].arrival);
      REQUIRE(times.arrival <= times.started);
      REQUIRE(times.started < times.first_token);
      REQUIRE(times.first_token <= times.finished);
      REQUIRE(times.finished <= result.end);
      REQUIRE(times.replica >= 0);
      REQUIRE(times.replica < 4);
      if (routing == RequestRouting::round_robin) {
        REQUIRE(times.replica == static_cast<std::int32_t>(i % 4));
      }
      tokens += load.requests[i].output_tokens;
    }
    CHECK(result.pool.sum.output_tokens == tokens);
    waits[static_cast<std::size_t>(routing)] = serving_metrics(load, result).all.queue.mean.raw();
  }
  // One queue for all loses no place to chance.
  const auto wait = [&](RequestRouting routing) { return waits[static_cast<std::size_t>(routing)]; };
  CHECK(wait(RequestRouting::least_outstanding) < 0.8 * wait(RequestRouting::random));
  CHECK(wait(RequestRouting::shared_queue) < 0.8 * wait(RequestRouting::round_robin));
}

TEST_CASE("a seed says everything: the same result again and in threads side by side, another for another seed") {
  const IterationTables tables = usual();
  ServingFleet fleet = fleet_of(tables, 3);
  fleet.routing = RequestRouting::random;
  fleet.pool.engine.speculation = {2, 0.6, 4};
  fleet.pool.engine.max_num_tokens = 4096;
  const RequestLoad load = load_of(30.0, 2000);
  const FleetResult once = simulate(fleet, load);
  std::vector<FleetResult> results(4);
  std::vector<std::thread> threads;
  for (FleetResult& result : results) {
    threads.emplace_back([&] { result = simulate(fleet, load); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const FleetResult& result : results) {
    CHECK(same(once, result));
  }
  fleet.seed = 1;
  CHECK_FALSE(same(once, simulate(fleet, load)));
  CHECK_FALSE(same(once, simulate(fleet, load_of(30.0, 2000, 2))));
}

TEST_CASE("a closed loop keeps its clients busy and no more") {
  const IterationTables tables = usual();
  const TrafficClass one = traffic(1.0);
  RequestLoad load = closed_load(one, 12, 600, 3);
  load.think = Picoseconds{7 * ms};
  ServingFleet fleet = fleet_of(tables, 2);
  fleet.front_end = Picoseconds{3 * ms};
  const FleetResult result = simulate(fleet, load);
  struct Change {
    Picoseconds at;
    int by;
  };
  std::vector<Change> changes;
  std::vector<Picoseconds> finishes;
  std::vector<Picoseconds> arrivals;
  for (const RequestTimes& times : result.requests) {
    REQUIRE(times.finished != never);
    CHECK(times.started >= times.arrival + fleet.front_end);
    changes.push_back({times.arrival, 1});
    changes.push_back({times.finished, -1});
    finishes.push_back(times.finished + load.think);
    arrivals.push_back(times.arrival);
  }
  std::sort(finishes.begin(), finishes.end());
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    CHECK(arrivals[i] == (i < 12 ? Picoseconds{0} : finishes[i - 12]));
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.at != b.at ? a.at < b.at : a.by < b.by; });
  int inside = 0;
  int most = 0;
  for (const Change& change : changes) {
    inside += change.by;
    most = std::max(most, inside);
  }
  CHECK(most == 12);
  CHECK(inside == 0);
  CHECK_FALSE(serving_metrics(load, result).overloaded);
}

TEST_CASE("disaggregated: the cache crosses the link one prompt at a time, then decodes go on") {
  const IterationTables tables = test::simple_tables({1000, 0, 10, 1, 0});
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.engine.blocks = 1000;
  fleet.prefill = fleet.pool;
  fleet.transfer = {Bytes{2.0}, BytesPerSecond{1e9}, Seconds{5e-9}};  // 2000 ps a token, 5000 ps
  RequestLoad load;
  load.requests = {{.prompt_tokens = 100, .output_tokens = 3},
                   {.prompt_tokens = 50, .output_tokens = 1},
                   {.prompt_tokens = 10, .output_tokens = 2}};
  const FleetResult result = simulate(fleet, load);
  // One iteration holds all prompts; the second needs no more than its first token.
  const std::int64_t prefill = 1000 + 160 * 10;
  for (const RequestTimes& times : result.requests) {
    CHECK(times.first_token == Picoseconds{prefill});
  }
  CHECK(result.requests[1].finished == Picoseconds{prefill});
  const std::int64_t first = prefill + 100 * 2000 + 5000;
  CHECK(result.requests[0].finished == Picoseconds{first + 1101 + 1102});
  CHECK(result.requests[2].finished == Picoseconds{first + 10 * 2000 + 1011});
  CHECK(result.prefill.sum.output_tokens == 3);
  CHECK(result.pool.sum.output_tokens == 3);
  CHECK(result.pool.sum.prompt_tokens == 0);
  // 160 blocks of a token each are freed; of the decode pool 102 keys are the most.
  CHECK(result.prefill.peak_blocks == 7 + 4 + 1);
}

TEST_CASE("disaggregated under load: prompts no longer stall decodes, and every token is counted") {
  const IterationTables tables = usual();
  const RequestLoad load = load_of(20.0, 3000);
  const ServingFleet together = fleet_of(tables, 2);
  ServingFleet apart = fleet_of(tables, 1);
  apart.prefill = apart.pool;
  apart.transfer = {Bytes{160e3}, BytesPerSecond{50e9}, Seconds{1e-3}};
  const FleetResult split = simulate(apart, load);
  const ServingMetrics a = serving_metrics(load, simulate(together, load));
  const ServingMetrics b = serving_metrics(load, split);
  CHECK(b.all.finished == 3000);
  CHECK(b.pool.gap_p95.raw() < a.pool.gap_p95.raw());
  std::int64_t tokens = 0;
  for (const Request& request : load.requests) {
    tokens += request.output_tokens;
  }
  CHECK(split.pool.sum.output_tokens + split.prefill.sum.output_tokens == tokens);
}

#ifdef HEADROOM_COUNTS_ALLOCATIONS
TEST_CASE("once set up, a simulation asks for no memory: ten times the requests make no more allocations") {
  const IterationTables tables = usual();
  TrafficClass one = traffic(60.0);
  for (int kind = 0; kind < 5; ++kind) {
    CAPTURE(kind);
    ServingFleet fleet = fleet_of(tables, 2);
    fleet.pool.engine.blocks = 900;  // tight: preemptions too
    fleet.routing = kind == 0 ? RequestRouting::shared_queue : RequestRouting::least_outstanding;
    if (kind == 1) {
      fleet.prefill = fleet.pool;
    }
    if (kind == 4) {
      one.prefixes = {.groups = 9, .tokens = 640};
      fleet.routing = RequestRouting::prefix;
      fleet.tiers = {OffloadTier{800, Picoseconds{ms}, Picoseconds{ms}, false}, OffloadTier{},
                     OffloadTier{9000, Picoseconds{ms}, Picoseconds{ms}, true}};
    }
    const auto count = [&](std::int64_t requests) {
      const RequestLoad load = kind == 2 ? closed_load(one, 50, requests, 1) : open_load({&one, 1}, requests, 1);
      const std::int64_t before = allocations;
      const FleetResult result = simulate(fleet, load);
      const std::int64_t after = allocations;
      CHECK(result.pool.sum.preemptions > 0);
      return after - before;
    };
    CHECK(count(400) == count(4000));
  }
}
#endif

TEST_CASE("a closed loop goes on behind a request that is refused") {
  const IterationTables tables = usual();
  RequestLoad load;
  load.concurrency = 1;
  load.requests.assign(6, {.prompt_tokens = 10, .output_tokens = 2});
  load.requests[0].prompt_tokens = 1'000'000;
  load.requests[3].prompt_tokens = 1'000'000;
  const FleetResult result = simulate(fleet_of(tables, 1), load);
  const ServingMetrics metrics = serving_metrics(load, result);
  CHECK(metrics.all.requests == 6);
  CHECK(metrics.all.refused == 2);
  CHECK(metrics.all.finished == 4);
  CHECK(result.requests[4].arrival == result.requests[2].finished);
}

TEST_CASE("lanes of a pipeline share its places and its blocks") {
  const IterationTables tables = usual();
  const RequestLoad load = load_of(20.0, 2000);
  ServingFleet lanes = fleet_of(tables, 1);
  lanes.pool.lanes = 2;
  ServingFleet halves = fleet_of(tables, 2);
  halves.pool.engine.max_num_seqs /= 2;
  halves.pool.engine.blocks /= 2;
  const FleetResult a = simulate(lanes, load);
  const FleetResult b = simulate(halves, load);
  CHECK(a.pool.blocks == b.pool.blocks);
  for (std::size_t i = 0; i < load.requests.size(); ++i) {
    REQUIRE(a.requests[i].finished == b.requests[i].finished);
    REQUIRE(a.requests[i].replica == 0);
  }
}

TEST_CASE("metrics are those of the times") {
  RequestLoad load;
  FleetResult result;
  // Ten requests a second apart; the i-th waits i x 10 ms, has its first token 100 ms later and ten more tokens 20 ms
  // apart. Every other one is of class 1.
  for (int i = 0; i < 10; ++i) {
    Request request{.prompt_tokens = 50, .output_tokens = 11, .service_class = i % 2};
    request.arrival = picoseconds(i);
    RequestTimes times;
    times.arrival = request.arrival;
    times.started = times.arrival + Picoseconds{i * 10 * ms};
    times.first_token = times.started + Picoseconds{100 * ms};
    times.finished = times.first_token + Picoseconds{200 * ms};
    load.requests.push_back(request);
    result.requests.push_back(times);
  }
  result.requests[9].finished = never;
  result.end = picoseconds(10.0);
  const std::array objectives{ServiceObjective{.ttft = Seconds{0.135}}, ServiceObjective{.tpot = Seconds{0.019}}};
  const ServingMetrics all = serving_metrics(load, result, objectives);
  CHECK(all.all.requests == 10);
  CHECK(all.all.finished == 9);
  CHECK(all.all.unfinished == 1);
  CHECK(all.all.queue.mean.raw() == near(0.045));
  CHECK(all.all.queue.max.raw() == near(0.090));
  CHECK(all.all.ttft.p50.raw() == near(0.140));
  CHECK(all.all.ttft.p90.raw() == near(0.172));
  CHECK(all.all.ttft.p95.raw() == near(0.176));
  CHECK(all.all.ttft.p99.raw() == near(0.1792));
  CHECK(all.all.tpot.mean.raw() == near(0.020));
  CHECK(all.all.e2e.mean.raw() == near(0.340));
  const double span = 8.0 + 0.080 + 0.300;
  CHECK(all.all.finished_per_s == near(9.0 / span));
  CHECK(all.all.output_tokens_per_s == near(99.0 / span));
  CHECK(all.all.input_tokens_per_s == near(450.0 / span));
  // Of class 0 (0, 2, 4, 6, 8): first tokens after 100, 120, 140 ms ...; of class 1 none keeps 19 ms a token.
  REQUIRE(all.classes.size() == 2);
  CHECK(all.classes[0].good_share == near(2.0 / 5.0));
  CHECK(all.classes[1].good_share == 0.0);
  CHECK(all.all.good_per_s == near(2.0 / span));
  CHECK(all.arrived_per_s == near(1.0));
  const ServingMetrics later = serving_metrics(load, result, objectives, 8);
  CHECK(later.all.requests == 2);
  CHECK(later.all.queue.mean.raw() == near(0.085));
  CHECK(later.all.finished_per_s == near(1.0 / 0.380));
  CHECK(std::isnan(serving_metrics(load, result, {}, 10).all.ttft.p50.raw()));
}

TEST_CASE("pools say how busy and how full they were") {
  const IterationTables tables = test::simple_tables({.step = ms});
  ServingFleet fleet = fleet_of(tables, 2);
  fleet.routing = RequestRouting::round_robin;
  fleet.pool.engine.block_tokens = 1;
  fleet.pool.engine.blocks = 100;
  RequestLoad load;
  // The first engine runs 10 ms, the second not at all until 30 ms, then 10 ms.
  load.requests = {{.prompt_tokens = 41, .output_tokens = 10},
                   {.arrival = Picoseconds{30 * ms}, .prompt_tokens = 11, .output_tokens = 10}};
  const FleetResult result = simulate(fleet, load);
  const ServingMetrics metrics = serving_metrics(load, result);
  CHECK(result.end == Picoseconds{40 * ms});
  CHECK(metrics.pool.busy == near(20.0 / 80.0));
  CHECK(metrics.pool.kv_peak == near(0.50));
  // 41 keys for a step, then 42 to 50 in nine: 45.5 on average; 30 fewer for the other. Of 200 blocks over 40 ms.
  CHECK(metrics.pool.kv_mean == near((455.0 + 155.0) / (200.0 * 40.0), 0.02));
  CHECK(metrics.pool.batch_mean == near(1.0));
  CHECK(metrics.pool.iterations == 20);
  CHECK(metrics.pool.gap_p50.raw() == near(1e-3, 0.017));
  CHECK(metrics.pool.gap_max.raw() == near(1e-3, 0.017));
}

TEST_CASE("what cannot be run is told, all of it, with its value") {
  const IterationTables tables = usual();
  ServingFleet fleet = fleet_of(tables, 0);
  fleet.pool.engine.max_num_tokens = 16;
  fleet.pool.engine.speculation = {-1, 1.5, 0};
  RequestLoad load;
  load.requests = {{.arrival = picoseconds(1.0)},
                   {.arrival = picoseconds(0.5), .prompt_tokens = 0, .service_class = -3}};
  const std::vector<std::string> found = problems(fleet, load);
  const auto says = [&](const char* text) {
    return std::any_of(found.begin(), found.end(),
                       [&](const std::string& one) { return one.find(text) != std::string::npos; });
  };
  CHECK(says("replicas is 0"));
  CHECK(says("acceptance 1.5"));
  CHECK(says("draft of -1"));
  CHECK(says("request 2: arrives before"));
  CHECK(says("request 2: 0 tokens in"));
  CHECK(says("class -3"));
  fleet.pool.engine.speculation = {};
  CHECK(problems(fleet, load).size() == 5);  // a budget below the sequences instead
  fleet = fleet_of(tables, 1);
  fleet.prefill = fleet.pool;
  fleet.transfer.bytes_per_token = Bytes{100.0};
  load.requests.resize(1);
  REQUIRE(problems(fleet, load).size() == 1);
  CHECK(problems(fleet, load)[0].find("no rate") != std::string::npos);
}
