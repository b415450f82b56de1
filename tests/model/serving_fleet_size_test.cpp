// SPDX-License-Identifier: Apache-2.0
// Fleets sized for a promise.
#include <headroom/model/serve/fleet_size.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "screen_cases.hpp"
#include "serving_tables.hpp"
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace headroom;
using test::near;
using Metric = TailObjective::Metric;

namespace {

/// Conversations on a 70B: 1,155 tokens in, 211 out.
FleetDemand conversations(double rate, std::vector<TailObjective> objectives) {
  FleetDemand demand;
  TrafficClass traffic;
  traffic.arrivals.rate = Hertz{rate};
  traffic.prompt = {.shape = LengthShape::lognormal, .mean = 1155.0, .cv = 1.0, .most = 16'000};
  traffic.output = {.shape = LengthShape::lognormal, .mean = 211.0, .cv = 0.8, .most = 4'000};
  demand.classes = {traffic};
  demand.objectives = std::move(objectives);
  return demand;
}

}  // namespace

TEST_CASE("servers of 10 ms: as many as the wait asks for, whatever rate over capacity says") {
  // M/D/1 at 100 requests/s a server, taken by chance. P(wait > t) by Crommelin 1932 makes the 0.95-quantile of the
  // sojourn 28 ms at 0.5 and 50 ms at 0.7; rate over capacity would take 5 servers for 450/s and see no tail.
  const IterationTables tables = test::simple_tables({.per_prompt_token = 10'000'000});
  ServingFleet unit;
  unit.pool.tables = &tables;
  unit.pool.engine.max_num_seqs = 1;
  unit.pool.engine.max_num_tokens = 1 << 20;
  unit.pool.engine.blocks = 1 << 20;
  unit.routing = RequestRouting::random;
  FleetDemand demand;
  demand.classes.resize(1);
  demand.classes[0].arrivals.rate = Hertz{450.0};
  demand.classes[0].prompt.mean = 1000.0;
  demand.objectives = {{Metric::ttft, 0.95, Seconds{0.050}}};
  demand.requests = 100'000;
  demand.spare = 1;
  FleetSizer sizer{unit, demand};
  const FleetSize size = sizer.size();
  CHECK(sizer.saturation().raw() == near(100.0, 1e-6));
  CHECK(size.units == 7);  // 0.64 a server; 6 would be 0.75
  CHECK(size.deployed == 8);
  CHECK(size.utilisation == near(450.0 / 700.0, 1e-6));
  CHECK(size.saturation.raw() == near(700.0, 1e-6));
  CHECK(size.knee.raw() == near(0.7 * 700.0, 0.03));
  CHECK(size.trial.metrics.pool.busy == near(450.0 / 700.0, 0.02));
  CHECK_FALSE(size.miss);
}

TEST_CASE("one unit less misses a promise or falls behind; the fleet itself keeps all of them") {
  const test::ScreenTables tables;
  const ServingFleet unit = test::screen_fleet(tables.large, vllm_v1, 1);
  for (const double limit : {0.3, 0.6}) {
    CAPTURE(limit);
    const FleetDemand demand =
        conversations(60.0, {{Metric::ttft, 0.95, Seconds{limit}}, {Metric::tpot, 0.95, Seconds{limit / 10.0}}});
    FleetSizer sizer{unit, demand};
    const FleetSize size = sizer.size();
    REQUIRE(size.units > 1);
    CHECK(std::abs(static_cast<double>(size.units - size.screened)) <= 1.0);
    CHECK(size.trial.reached[0] <= Seconds{limit});
    CHECK(size.trial.reached[1] <= Seconds{limit / 10.0});
    CHECK(sizer.attempt(size.units).keeps);
    CHECK_FALSE(sizer.attempt(size.units - 1).keeps);
    CHECK(size.knee >= size.rate);
    CHECK(sizer.attempt(size.units, 0.96 * (size.knee / size.rate)).keeps);
    CHECK_FALSE(sizer.attempt(size.units, 1.05 * (size.knee / size.rate)).keeps);
    CHECK(size.saturation > size.knee);
  }
}

TEST_CASE("a promise that a request alone misses is no fleet's: which, and what it takes alone") {
  const IterationTables tables = test::simple_tables({.step = 10'000'000'000, .per_prompt_token = 20'000'000});
  ServingFleet unit;
  unit.pool.tables = &tables;
  unit.pool.engine.blocks = 10'000;
  FleetDemand demand;
  demand.classes.resize(1);
  demand.classes[0].prompt.mean = 1000.0;
  demand.classes[0].output.mean = 101.0;
  demand.objectives = {{Metric::ttft, 0.95, Seconds{0.031}}, {Metric::tpot, 0.5, Seconds{0.009}}};
  FleetSizer sizer{unit, demand};
  const FleetSize size = sizer.size();
  CHECK(size.units == 0);
  REQUIRE(size.miss);
  CHECK(size.miss->objective == 1);
  CHECK(size.miss->alone.raw() == near(0.010, 1e-6));  // a step of one sequence
  demand.objectives = {{Metric::e2e, 0.95, Seconds{1.02}}};
  const FleetSize late = FleetSizer{unit, demand}.size();
  REQUIRE(late.miss);
  CHECK(late.miss->alone.raw() == near(0.030 + 100 * 0.010, 1e-6));
}

TEST_CASE("without a promise the fleet answers as fast as it is asked; longer than any pool is never kept") {
  const IterationTables tables = test::simple_tables({.step = 10'000'000'000});
  ServingFleet unit;
  unit.pool.tables = &tables;
  unit.pool.engine.blocks = 1'000;
  unit.pool.engine.max_num_seqs = 16;
  FleetDemand demand;
  demand.classes.resize(1);
  demand.classes[0].arrivals.rate = Hertz{30.0};
  demand.classes[0].output.mean = 101.0;
  // 16 places of 1.01 s: 15.8 requests/s
  const FleetSize size = FleetSizer{unit, demand}.size();
  CHECK(size.units == 2);
  CHECK(size.saturation.raw() == near(2.0 * 16.0 / 1.01, 0.02));
  demand.classes[0].prompt.mean = 20'000.0;
  demand.objectives = {{Metric::ttft, 0.95, Seconds{100.0}}};
  const FleetSize refused = FleetSizer{unit, demand}.size();
  CHECK(refused.units == 0);
  REQUIRE(refused.miss);
  CHECK(std::isinf(refused.miss->alone.raw()));
}

TEST_CASE("prefill and decode pools grow together, and the same seed gives the same fleet") {
  const test::ScreenTables tables;
  ServingFleet unit = test::screen_fleet(tables.large, vllm_v1, 1);
  unit.prefill = unit.pool;
  unit.transfer = {Bytes{327680.0}, BytesPerSecond{50e9}, Seconds{1e-4}};
  FleetDemand demand = conversations(100.0, {{Metric::ttft, 0.99, Seconds{1.0}}, {Metric::tpot, 0.95, Seconds{0.03}}});
  demand.knee = false;
  const FleetSize size = FleetSizer{unit, demand}.size();
  const ServingFleet fleet = fleet_of(unit, size.units);
  CHECK(fleet.pool.replicas == size.units);
  CHECK(fleet.prefill->replicas == size.units);
  // A prefill replica answers 24 a second.
  CHECK(size.units >= 5);
  CHECK(size.units <= 7);
  CHECK(std::abs(static_cast<double>(size.units - size.screened)) <= 1.0);
  const FleetSize again = FleetSizer{unit, demand}.size();
  CHECK(again.units == size.units);
  CHECK(again.trial.reached[0].raw() == size.trial.reached[0].raw());
}

TEST_CASE("a fleet that holds more requests than are counted is looked at when it is full, not while it fills") {
  const test::ScreenTables tables;
  const ServingFleet unit = test::screen_fleet(tables.large, vllm_v1, 1);
  FleetDemand demand = conversations(400.0, {{Metric::ttft, 0.5, Seconds{1.0}}, {Metric::tpot, 0.5, Seconds{1.0}}});
  demand.requests = 2'000;
  const FleetTrial few = FleetSizer{unit, demand}.attempt(35);
  demand.requests = 60'000;
  const FleetTrial many = FleetSizer{unit, demand}.attempt(35);
  CHECK(few.metrics.all.requests == 2'000);
  CHECK(many.metrics.all.requests == 60'000);
  CHECK(few.reached[0].raw() == near(many.reached[0].raw(), 0.06));
  CHECK(few.reached[1].raw() == near(many.reached[1].raw(), 0.04));
}

TEST_CASE("classes have promises of their own") {
  const test::ScreenTables tables;
  const ServingFleet unit = test::screen_fleet(tables.large, vllm_v1, 1);
  FleetDemand demand = conversations(20.0, {});
  demand.classes.push_back(demand.classes[0]);
  demand.classes[1].prompt = {.mean = 8000.0};
  demand.classes[1].arrivals.rate = Hertz{1.0};
  demand.objectives = {{Metric::ttft, 0.9, Seconds{1.0}, 0}, {Metric::ttft, 0.9, Seconds{3.0}, 1}};
  demand.knee = false;
  const FleetSize size = FleetSizer{unit, demand}.size();
  REQUIRE(size.units > 0);
  CHECK(size.trial.reached[0] < size.trial.reached[1]);
  CHECK(size.trial.reached[0] == size.trial.metrics.classes[0].ttft.p90);
  CHECK(size.trial.reached[1] == size.trial.metrics.classes[1].ttft.p90);
}

TEST_CASE("what cannot be sized is said at once, each with its value and the way out") {
  const test::ScreenTables tables;
  const ServingFleet unit = test::screen_fleet(tables.large, vllm_v1, 1);
  FleetDemand demand = conversations(std::numeric_limits<double>::infinity(), {{Metric::ttft, 1.0, Seconds{-2.0}, 3}});
  demand.spare = -1;
  demand.requests = 0;
  const std::vector<std::string> found = problems(unit, demand);
  REQUIRE(found.size() == 6);
  CHECK(found[0].find("give requests per second") != std::string::npos);
  CHECK(found[1].find("quantile 1.0") != std::string::npos);
  CHECK(found[2].find("-2.0") != std::string::npos);
  CHECK(found[3].find("class 3 of 1") != std::string::npos);
  CHECK(found[4].find("spare units of -1") != std::string::npos);
  CHECK(found[5].find("counted requests of 0") != std::string::npos);
  demand.classes.clear();
  CHECK(problems(unit, demand).front().find("no traffic") != std::string::npos);
  CHECK(problems(unit, conversations(1.0, {{Metric::tpot, 0.99, Seconds{0.1}}})).empty());
}
