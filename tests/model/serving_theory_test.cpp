// SPDX-License-Identifier: Apache-2.0
// The simulated fleet where queueing theory knows the answer: an engine of one place whose iterations cost what one
// request costs is a server.
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/saturation.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "serving_tables.hpp"
#include <cmath>
#include <cstdint>
#include <vector>

using namespace headroom;
using test::near;

namespace {

constexpr std::int64_t millisecond = 1'000'000'000;  // ps
constexpr std::int64_t mean_tokens = 1000;

/// Servers of one place each behind one queue; a prompt of mean length takes 10 ms.
ServingFleet servers(const IterationTables& tables, std::int64_t count) {
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.replicas = count;
  fleet.pool.engine.max_num_seqs = 1;
  fleet.pool.engine.max_num_tokens = 1 << 20;
  fleet.pool.engine.blocks = 1 << 20;
  fleet.routing = RequestRouting::shared_queue;
  return fleet;
}

/// Mean wait of `count` requests of one output token, in ms, at a load of `busy` a server.
double mean_wait(std::int64_t count, const LengthLaw& prompt, double busy, std::int64_t replicas, double& measured) {
  const IterationTables tables = test::simple_tables({.per_prompt_token = 10 * millisecond / mean_tokens});
  const ServingFleet fleet = servers(tables, replicas);
  TrafficClass traffic;
  traffic.arrivals.rate = Hertz{busy * static_cast<double>(replicas) * 100.0};
  traffic.prompt = prompt;
  const RequestLoad load = open_load({&traffic, 1}, count, 7);
  const FleetResult result = simulate(fleet, load);
  const ServingMetrics metrics = serving_metrics(load, result, {}, count / 100);
  measured = metrics.pool.busy;
  return metrics.all.queue.mean.raw() * 1e3;
}

/// Probability of waiting (Erlang C) for k servers at a load of a = k rho.
double erlang_c(int k, double a) {
  double blocking = 1.0;  // Erlang B, by its recursion
  for (int i = 1; i <= k; ++i) {
    blocking = a * blocking / (i + a * blocking);
  }
  const double rho = a / k;
  return blocking / (1.0 - rho * (1.0 - blocking));
}

}  // namespace

TEST_CASE("M/D/1: the mean wait is rho s / (2 (1 - rho)): 11.7 ms at 0.7, 45 ms at 0.9 of 10 ms") {
  const LengthLaw fixed{.mean = mean_tokens};
  double busy = 0.0;
  CHECK(mean_wait(1'000'000, fixed, 0.7, 1, busy) == near(11.6667, 0.02));
  CHECK(busy == near(0.7, 0.005));
  CHECK(mean_wait(1'500'000, fixed, 0.9, 1, busy) == near(45.0, 0.02));
}

TEST_CASE("M/M/k: the mean wait is C(k, a) s / (k (1 - rho)) (Erlang 1917)") {
  const LengthLaw exponential{.shape = LengthShape::exponential, .mean = mean_tokens};
  double busy = 0.0;
  for (const int k : {1, 2, 4}) {
    CAPTURE(k);
    const double wait = erlang_c(k, 0.7 * k) * 10.0 / (k * (1.0 - 0.7));
    CHECK(mean_wait(1'000'000, exponential, 0.7, k, busy) == near(wait, 0.02));
    CHECK(busy == near(0.7, 0.005));
  }
}

TEST_CASE("M/G/1: the mean wait is lambda E[s^2] / (2 (1 - rho)) (Pollaczek 1930, Khinchine 1932)") {
  double busy = 0.0;
  for (const double cv : {0.5, 1.5}) {
    CAPTURE(cv);
    const LengthLaw law{.shape = LengthShape::lognormal, .mean = mean_tokens, .cv = cv};
    CHECK(mean_wait(1'500'000, law, 0.5, 1, busy) == near(0.5 * 10.0 * (1.0 + cv * cv) / (2.0 * (1.0 - 0.5)), 0.02));
  }
}

TEST_CASE("GI/M/1: the mean wait is sigma s / (1 - sigma), sigma the root of sigma = A*((1 - sigma) / s)") {
  // A* of gamma gaps of mean 1 / lambda: (1 + cv^2 x / lambda)^(-1 / cv^2) (Kendall 1953).
  constexpr double cv = 2.0;
  constexpr double rho = 0.6;
  double sigma = 0.5;
  for (int i = 0; i < 200; ++i) {
    sigma = std::pow(1.0 + cv * cv * (1.0 - sigma) / rho, -1.0 / (cv * cv));
  }
  const IterationTables tables = test::simple_tables({.per_prompt_token = 10 * millisecond / mean_tokens});
  TrafficClass traffic;
  traffic.arrivals = {.gaps = GapShape::gamma, .rate = Hertz{100.0 * rho}, .cv = cv, .shape = 1.0};
  traffic.prompt = {.shape = LengthShape::exponential, .mean = mean_tokens};
  const RequestLoad load = open_load({&traffic, 1}, 1'500'000, 3);
  const ServingMetrics metrics = serving_metrics(load, simulate(servers(tables, 1), load));
  CHECK(metrics.all.queue.mean.raw() * 1e3 == near(sigma * 10.0 / (1.0 - sigma), 0.02));
}

TEST_CASE("Little's law: sequences in iterations of one length are the time that requests run") {
  // Every iteration takes 10 ms, so that batch sizes times 10 ms are the request-seconds of service.
  const IterationTables tables = test::simple_tables({.step = 10 * millisecond});
  ServingFleet fleet = servers(tables, 2);
  fleet.routing = RequestRouting::least_outstanding;
  fleet.pool.engine.max_num_seqs = 16;
  fleet.pool.engine.rules = tensorrt_llm_no_evict;
  fleet.pool.engine.block_tokens = 1;
  fleet.pool.engine.blocks = 9000;
  TrafficClass traffic;
  traffic.arrivals.rate = Hertz{20.0};
  traffic.prompt = {.shape = LengthShape::lognormal, .mean = 300, .cv = 1.0};
  traffic.output = {.shape = LengthShape::lognormal, .mean = 100, .cv = 1.0};
  const RequestLoad load = open_load({&traffic, 1}, 20'000, 11);
  const FleetResult result = simulate(fleet, load);
  double served = 0.0;
  double held = 0.0;
  double waited = 0.0;
  for (std::size_t i = 0; i < load.requests.size(); ++i) {
    const RequestTimes& times = result.requests[i];
    REQUIRE(times.finished != never);
    const double time = seconds_of(times.finished - times.started);
    served += time;
    held += time * (load.requests[i].prompt_tokens + load.requests[i].output_tokens);
    waited += seconds_of(times.started - times.arrival);
  }
  const ServingMetrics metrics = serving_metrics(load, result);
  double in_batches = 0.0;
  for (std::size_t n = 0; n < metrics.pool.batch.size(); ++n) {
    in_batches += static_cast<double>(n) * static_cast<double>(metrics.pool.batch[n]) * 0.010;
  }
  CHECK(in_batches == near(served, 1e-9));
  CHECK(result.pool.sum.block_seconds == near(held, 1e-9));
  CHECK(metrics.queue_mean == near(waited / seconds_of(result.end), 0.01));
}

TEST_CASE("overload is a result: twice the capacity arrives, one capacity is answered, and the run ends") {
  const IterationTables tables = test::simple_tables({.step = 10 * millisecond});
  TrafficClass traffic;
  traffic.arrivals.rate = Hertz{200.0};
  const RequestLoad load = open_load({&traffic, 1}, 20'000, 5);
  ServingFleet fleet = servers(tables, 1);
  const ServingMetrics over = serving_metrics(load, simulate(fleet, load));
  CHECK(over.overloaded);
  CHECK(over.arrived_per_s == near(200.0, 0.02));
  CHECK(over.saturated_per_s == near(100.0, 0.001));
  CHECK(over.all.unfinished == 0);

  fleet.horizon = picoseconds(50.0);
  const FleetResult stopped = simulate(fleet, load);
  const ServingMetrics cut = serving_metrics(load, stopped);
  CHECK(stopped.end <= fleet.horizon);
  CHECK(cut.all.finished + cut.all.unfinished == cut.all.requests);
  CHECK(static_cast<double>(cut.all.finished) == near(5000.0, 0.001));
  CHECK(static_cast<double>(cut.all.requests) == near(10'000.0, 0.03));

  traffic.arrivals.rate = Hertz{90.0};
  const RequestLoad less = open_load({&traffic, 1}, 20'000, 5);
  const ServingMetrics under = serving_metrics(less, simulate(servers(tables, 1), less));
  CHECK_FALSE(under.overloaded);
  CHECK(under.saturated_per_s == 0.0);
}

TEST_CASE("saturation is the batch over the time that a request holds its place, and what overload answers") {
  // 16 places, iterations of 10 ms whatever they hold, one for the prompt and 50 to 150 for the tokens behind the
  // first.
  const IterationTables tables = test::simple_tables({.step = 10 * millisecond});
  ServingFleet fleet = servers(tables, 2);
  fleet.pool.engine.max_num_seqs = 16;
  fleet.routing = RequestRouting::least_outstanding;
  TrafficClass traffic;
  traffic.output = {.shape = LengthShape::uniform, .mean = 101, .low = 0.5};
  traffic.arrivals.rate = Hertz{1.0};
  const double rate = saturation(fleet, {&traffic, 1}, 20'000, 3).raw();
  CHECK(rate == near(2.0 * 16.0 / (101.0 * 0.010), 0.01));
  traffic.arrivals.rate = Hertz{2.0 * rate};
  const RequestLoad load = open_load({&traffic, 1}, 20'000, 5);
  CHECK(serving_metrics(load, simulate(fleet, load)).saturated_per_s == near(rate, 0.02));
  fleet.pool.engine.blocks = 1;
  traffic.prompt.mean = 1000;
  CHECK(saturation(fleet, {&traffic, 1}, 100, 3).raw() == 0.0);
}
