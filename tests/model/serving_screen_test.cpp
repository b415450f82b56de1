// SPDX-License-Identifier: Apache-2.0
// The analytic screen against queueing theory and against the simulation that it stands for.
#include <headroom/core/statistics.hpp>
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/screen/screen.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/saturation.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "screen_cases.hpp"
#include "serving_tables.hpp"
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

using namespace headroom;
using test::near;

namespace {

/// One place whose prompts take 10 ms on average: a single server.
ServingFleet server(const IterationTables& tables) {
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.engine.max_num_seqs = 1;
  fleet.pool.engine.max_num_tokens = 1 << 20;
  fleet.pool.engine.blocks = 1 << 20;
  return fleet;
}

ScreenTraffic prompts_alone(double busy, double cv) {
  ScreenTraffic traffic;
  traffic.rate = Hertz{busy * 100.0};
  traffic.prompt = {1000.0, cv};
  traffic.output = {1.0, 0.0};
  return traffic;
}

struct Errors {
  std::vector<double> saturation, ttft, tpot;
};

/// Errors of the screen against 6,000 simulated requests at a share of the simulated saturation.
void compare(const test::ScreenCase& one, std::span<const double> loads, Errors& errors) {
  TrafficClass traffic = one.traffic;
  traffic.arrivals.rate = Hertz{1.0};
  const double most = saturation(one.fleet, {&traffic, 1}, 3000 * one.fleet.pool.replicas, 1).raw();
  errors.saturation.push_back(screened_saturation(one.fleet, screen_traffic({&traffic, 1})).raw() / most - 1.0);
  for (const double load : loads) {
    CAPTURE(load);
    traffic.arrivals.rate = Hertz{load * most};
    const RequestLoad requests = open_load({&traffic, 1}, 6000 * one.fleet.pool.replicas, 3);
    const RequestMetrics found = serving_metrics(requests, simulate(one.fleet, requests), {}, 300).all;
    const ServingScreen screened = screen(one.fleet, screen_traffic({&traffic, 1}));
    REQUIRE_FALSE(screened.overloaded);
    errors.ttft.push_back(screened.ttft.quantile(0.95) / found.ttft.p95.raw() - 1.0);
    errors.tpot.push_back(screened.tpot.quantile(0.95) / found.tpot.p95.raw() - 1.0);
  }
}

double typical(const std::vector<double>& errors, double q) {
  std::vector<double> sizes;
  for (const double error : errors) {
    sizes.push_back(std::abs(error));
  }
  return quantile(sizes, q);
}

}  // namespace

TEST_CASE("the screen of M/D/1 waits rho s / (2 (1 - rho)): 11.7 ms at 0.7, 45 ms at 0.9 of 10 ms") {
  const IterationTables tables = test::simple_tables({.per_prompt_token = 10'000'000});
  const ServingFleet fleet = server(tables);
  const auto wait = [&](double busy, double cv) {
    const ServingScreen s = screen(fleet, prompts_alone(busy, cv));
    CHECK(s.saturation.raw() == near(100.0, 0.001));
    CHECK(s.utilisation == near(busy, 0.001));
    return s.ttft.mean() * 1e3 - 10.0;
  };
  CHECK(wait(0.5, 0.0) == near(5.0, 0.03));
  CHECK(wait(0.7, 0.0) == near(11.6667, 0.03));
  CHECK(wait(0.9, 0.0) == near(45.0, 0.03));
  // Pollaczek and Khinchine: (1 + cv^2) times as long.
  CHECK(wait(0.5, 1.0) == near(10.0, 0.05));
  CHECK(wait(0.7, 0.5) == near(14.5833, 0.05));
}

TEST_CASE("an idle replica: a prompt takes its own iteration, a token a step of one sequence, nothing waits") {
  const IterationTables tables = test::simple_tables({.step = 10'000'000'000, .per_prompt_token = 20'000'000});
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.engine.blocks = 10'000;
  fleet.front_end = picoseconds(3e-3);
  ScreenTraffic traffic;
  traffic.rate = Hertz{1e-4};
  traffic.prompt = {1000.0, 0.0};
  traffic.output = {101.0, 0.0};
  const ServingScreen s = screen(fleet, traffic);
  CHECK(s.ttft.mean() == near(0.003 + 0.010 + 0.020, 0.01));
  CHECK(s.ttft.quantile(0.99) == near(0.033, 0.03));
  CHECK(s.tpot.mean() == near(0.010, 0.01));
  CHECK(s.tpot.quantile(0.99) == near(0.010, 0.04));
  CHECK(s.e2e.mean() == near(0.033 + 100 * 0.010, 0.01));
  CHECK(s.pool.busy == near(1e-4 * 1.030, 0.05));
  CHECK(s.pool.wait_share < 1e-6);
}

TEST_CASE("saturation is the places over the time that a request holds one, beyond it there are no times") {
  const IterationTables tables = test::simple_tables({.step = 10'000'000'000});
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.engine.blocks = 1 << 20;
  fleet.pool.engine.max_num_seqs = 16;
  fleet.pool.replicas = 3;
  ScreenTraffic traffic;
  traffic.output = {101.0, 0.0};
  const double most = 3.0 * 16.0 / (101.0 * 0.010);
  CHECK(screened_saturation(fleet, traffic).raw() == near(most, 0.001));
  traffic.rate = Hertz{1.01 * most};
  const ServingScreen over = screen(fleet, traffic);
  CHECK(over.overloaded);
  CHECK(std::isnan(over.ttft.quantile(0.95)));
  traffic.rate = Hertz{0.5 * most};
  CHECK(screen(fleet, traffic).pool.batch == near(8.0, 0.03));
  // Blocks: 101 tokens of output and 60 of prompt reserved whole are 10.1 blocks of 16.
  fleet.pool.engine.rules = tensorrt_llm_no_evict;
  fleet.pool.engine.blocks = 1010;
  fleet.pool.engine.max_num_seqs = 1000;
  traffic.prompt = {60.0, 0.0};
  CHECK(screen(fleet, traffic).pool.most == near(100.0, 0.07));
}

TEST_CASE("the screen finds what the simulation finds: saturation, first tokens, tokens, whatever the engine") {
  const std::vector<double> loads{0.1, 0.4, 0.75};
  Errors poisson;
  Errors bursty;
  const test::ScreenTables tables;
  for (const test::ScreenCase& one : test::screen_cases(tables)) {
    CAPTURE(one.name);
    compare(one, loads, one.traffic.arrivals.gaps == GapShape::poisson ? poisson : bursty);
  }
  MESSAGE("Poisson, ", poisson.ttft.size(), ": saturation ", typical(poisson.saturation, 0.5), " ",
          typical(poisson.saturation, 0.9), ", TTFT p95 ", typical(poisson.ttft, 0.5), " ", typical(poisson.ttft, 0.9),
          ", TPOT p95 ", typical(poisson.tpot, 0.5), " ", typical(poisson.tpot, 0.9));
  MESSAGE("gamma, cv 2, ", bursty.ttft.size(), ": TTFT p95 ", typical(bursty.ttft, 0.5), " ", typical(bursty.ttft, 0.9),
          ", TPOT p95 ", typical(bursty.tpot, 0.5), " ", typical(bursty.tpot, 0.9));
  CHECK(typical(poisson.saturation, 0.5) < 0.03);
  CHECK(typical(poisson.saturation, 0.9) < 0.08);
  CHECK(typical(poisson.ttft, 0.5) < 0.06);
  CHECK(typical(poisson.ttft, 0.9) < 0.30);
  CHECK(typical(poisson.tpot, 0.5) < 0.05);
  CHECK(typical(poisson.tpot, 0.9) < 0.15);
  CHECK(typical(bursty.ttft, 0.5) < 0.20);
  CHECK(typical(bursty.tpot, 0.5) < 0.10);
}

TEST_CASE("who finds all places taken waits as long as in the simulation") {
  // Iterations of 10 ms whatever they hold: sixteen places are sixteen servers of 1.01 s.
  const IterationTables tables = test::simple_tables({.step = 10'000'000'000});
  for (const std::int64_t replicas : {1, 2}) {
    for (const double load : {0.8, 0.9}) {
      CAPTURE(replicas);
      CAPTURE(load);
      ServingFleet fleet;
      fleet.pool.tables = &tables;
      fleet.pool.engine.max_num_seqs = 16;
      fleet.pool.engine.blocks = 1 << 20;
      fleet.pool.replicas = replicas;
      TrafficClass traffic;
      traffic.output.mean = 101.0;
      traffic.arrivals.rate = Hertz{load * static_cast<double>(replicas) * 16.0 / 1.01};
      const RequestLoad requests = open_load({&traffic, 1}, 100'000, 1);
      const RequestMetrics found = serving_metrics(requests, simulate(fleet, requests), {}, 5000).all;
      const ServingScreen s = screen(fleet, screen_traffic({&traffic, 1}));
      CHECK(s.ttft.mean() == near(found.ttft.mean.raw(), 0.10));
      CHECK(s.ttft.quantile(0.95) == near(found.ttft.p95.raw(), 0.15));
    }
  }
}

TEST_CASE("prefixes in the cache, lanes, drafts, small budgets, routing by chance: as in the simulation") {
  const test::ScreenTables tables;
  const ServingFleet plain = test::screen_fleet(tables.large, vllm_v1, 1);
  TrafficClass conversation;
  conversation.prompt = {.shape = LengthShape::lognormal, .mean = 1155.0, .cv = 1.0, .most = 16'000};
  conversation.output = {.shape = LengthShape::lognormal, .mean = 211.0, .cv = 0.8, .most = 4'000};
  const auto agree = [](const char* what, const ServingFleet& fleet, TrafficClass traffic) {
    CAPTURE(what);
    const std::int64_t count = 20'000 * fleet.pool.replicas;
    const double most = saturation(fleet, {&traffic, 1}, 8'000 * fleet.pool.replicas, 1).raw();
    CHECK(screened_saturation(fleet, screen_traffic({&traffic, 1})).raw() == near(most, 0.02));
    traffic.arrivals.rate = Hertz{0.5 * most};
    const RequestLoad requests = open_load({&traffic, 1}, count, 3);
    const RequestMetrics found = serving_metrics(requests, simulate(fleet, requests), {}, count / 20).all;
    const ServingScreen s = screen(fleet, screen_traffic({&traffic, 1}));
    CHECK(s.ttft.mean() == near(found.ttft.mean.raw(), 0.06));
    CHECK(s.ttft.quantile(0.95) == near(found.ttft.p95.raw(), 0.08));
    CHECK(s.tpot.mean() == near(found.tpot.mean.raw(), 0.03));
    CHECK(s.tpot.quantile(0.95) == near(found.tpot.p95.raw(), 0.10));
  };
  TrafficClass cached = conversation;
  cached.cached_share = 0.6;
  agree("cached", plain, cached);
  ServingFleet other = plain;
  other.pool.lanes = 2;
  agree("lanes", other, conversation);
  other = plain;
  other.pool.engine.speculation = {3, 0.7, 1};
  agree("drafts", other, conversation);
  for (const std::int64_t budget : {512, 2048}) {
    other = plain;
    other.pool.engine.max_num_tokens = budget;
    agree("budget", other, conversation);
  }
  other = plain;
  other.pool.replicas = 4;
  other.routing = RequestRouting::random;
  agree("by chance", other, conversation);
}

TEST_CASE("prefill and decode pools apart: first tokens of the one, tokens of the other") {
  const test::ScreenTables tables;
  for (const std::int64_t prefills : {1, 2}) {
    CAPTURE(prefills);
    ServingFleet fleet = test::screen_fleet(tables.large, vllm_v1, 2);
    fleet.prefill = fleet.pool;
    fleet.prefill->replicas = prefills;
    fleet.routing = RequestRouting::random;
    fleet.transfer = {Bytes{327680.0}, BytesPerSecond{50e9}, Seconds{1e-4}};
    TrafficClass traffic;
    traffic.prompt = {.shape = LengthShape::lognormal, .mean = 1155.0, .cv = 1.0, .most = 16'000};
    traffic.output = {.shape = LengthShape::lognormal, .mean = 211.0, .cv = 0.8, .most = 4'000};
    const double most = saturation(fleet, {&traffic, 1}, 8000, 1).raw();
    CHECK(screened_saturation(fleet, screen_traffic({&traffic, 1})).raw() == near(most, 0.05));
    for (const double load : {0.2, 0.6}) {
      CAPTURE(load);
      traffic.arrivals.rate = Hertz{load * most};
      const RequestLoad requests = open_load({&traffic, 1}, 20'000, 3);
      const RequestMetrics found = serving_metrics(requests, simulate(fleet, requests), {}, 1000).all;
      const ServingScreen s = screen(fleet, screen_traffic({&traffic, 1}));
      CHECK(s.ttft.mean() == near(found.ttft.mean.raw(), 0.12));
      CHECK(s.ttft.quantile(0.95) == near(found.ttft.p95.raw(), 0.15));
      CHECK(s.tpot.quantile(0.95) == near(found.tpot.p95.raw(), 0.04));
      CHECK(s.e2e.quantile(0.95) == near(found.e2e.p95.raw(), 0.05));
    }
  }
}

TEST_CASE("moments of classes: rates weigh lengths, variances of counts add") {
  std::vector<TrafficClass> classes(2);
  classes[0].arrivals = {.gaps = GapShape::gamma, .rate = Hertz{3.0}, .cv = 2.0};
  classes[0].prompt = {.shape = LengthShape::lognormal, .mean = 100.0, .cv = 1.0};
  classes[0].cached_share = 0.5;
  classes[1].arrivals.rate = Hertz{1.0};
  classes[1].lengths = {{.prompt_tokens = 400, .output_tokens = 10}, {.prompt_tokens = 600, .output_tokens = 30}};
  const ScreenTraffic t = screen_traffic(classes);
  CHECK(t.rate.raw() == near(4.0));
  CHECK(t.prompt.mean == near(0.75 * 100.0 + 0.25 * 500.0));
  // E[s^2]: 0.75 x 20,000 + 0.25 x 260,000
  CHECK(t.prompt.second() == near(80'000.0));
  CHECK(t.output.mean == near(0.75 + 0.25 * 20.0));
  CHECK(t.arrival_cv * t.arrival_cv == near((3.0 * 4.0 + 1.0) / 4.0));
  CHECK(t.cached_share == near(0.75 * 50.0 / 200.0));
}

TEST_CASE("strata keep the mean of their law, and their medians its quantiles") {
  const Strata lognormal = lognormal_strata({100.0, 1.5});
  double mean = 0.0;
  double exponential = 0.0;
  for (std::size_t i = 0; i < strata_count; ++i) {
    mean += stratum_weight(i) * lognormal[i];
    exponential += stratum_weight(i) * exponential_strata()[i];
  }
  CHECK(mean == near(100.0));
  CHECK(exponential == near(1.0));
  // ln X has the variance ln(1 + 2.25): the 0.95-quantile is 100 exp(1.645 s - s^2 / 2)
  const double s = std::sqrt(std::log1p(2.25));
  CHECK(lognormal[12] == near(100.0 * std::exp(1.644854 * s - 0.5 * s * s), 0.01));
}

TEST_CASE("a distribution of times: exact mean, quantiles within a bin, an exponential delay, a shift") {
  TimeDistribution d;
  for (int i = 1; i <= 1000; ++i) {
    d.add(1e-3 * i, 0.001);
  }
  CHECK(d.mean() == near(0.5005));
  CHECK(d.quantile(0.5) == near(0.5, 0.02));
  CHECK(d.quantile(0.95) == near(0.95, 0.02));
  CHECK(d.strata()[12] == near(0.95, 0.02));
  d.shift(1.0);
  CHECK(d.mean() == near(1.5005));
  CHECK(d.quantile(0.95) == near(1.95, 0.02));
  TimeDistribution waits;
  waits.add(1e-6, 1.0);
  waits.delay(0.5, 1.0);
  CHECK(waits.mean() == near(0.500001, 1e-6));
  CHECK(waits.quantile(0.25) < 1e-5);
  // P(wait > t) = 0.5 exp(-t)
  CHECK(waits.quantile(0.95) == near(std::log(10.0), 0.05));
  CHECK(std::isnan(TimeDistribution{}.quantile(0.5)));
}
