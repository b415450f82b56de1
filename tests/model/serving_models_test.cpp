// SPDX-License-Identifier: Apache-2.0
// Several models on one pool: engines that take turns on a replica.
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "naive_serving.hpp"
#include "serving_tables.hpp"
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace headroom;
using test::near;

namespace {

constexpr std::int64_t millisecond = 1'000'000'000;  // ps

std::int64_t any(RandomStream& random, std::int64_t low, std::int64_t high) {
  return low + random.below(high - low + 1);
}

/// Models of a replica with small pools and budgets, and a load that makes them wait for each other.
struct Case {
  std::vector<IterationTables> tables;
  std::vector<EngineSettings> engines;
  std::vector<std::size_t> model_of_class;
  RequestLoad load;
  [[nodiscard]] ServingFleet fleet() const {
    ServingFleet fleet;
    fleet.pool = {&tables[0], engines[0], 1, 1};
    for (std::size_t i = 1; i < tables.size(); ++i) {
      fleet.beside.push_back({&tables[i], engines[i]});
    }
    fleet.model_of_class = model_of_class;
    return fleet;
  }
};

EngineSettings any_engine(RandomStream& random, std::int64_t longest, std::uint64_t seed) {
  constexpr std::array rules{vllm_v1, vllm_v0, sglang, tensorrt_llm_no_evict, tensorrt_llm_max_utilization};
  EngineSettings e;
  e.rules = rules[static_cast<std::size_t>(any(random, 0, 4))];
  if (any(random, 0, 2) == 0) {
    e.rules.eviction = Eviction::swap;
    e.swap_per_block = Picoseconds{any(random, 0, 300)};
  }
  if (any(random, 0, 5) == 0) {
    e.speculation = {any(random, 1, 4), random.uniform(), seed};
  }
  e.block_tokens = any(random, 1, 20);
  e.max_num_seqs = any(random, 1, 8);
  e.max_num_tokens = e.max_num_seqs * (1 + e.speculation.draft) + any(random, 0, 60);
  e.watermark_blocks = any(random, 0, 3);
  e.blocks = (2 * longest + e.speculation.draft) / e.block_tokens + 1 + any(random, 0, 20);
  return e;
}

Case any_case(std::uint64_t seed) {
  RandomStream random{seed, 77};
  Case c;
  const std::int64_t longest = any(random, 2, 150);
  const std::int64_t models = any(random, 1, 4);
  for (std::int64_t i = 0; i < models; ++i) {
    c.tables.push_back(
        test::simple_tables({any(random, 1, 2000), any(random, 0, 50), any(random, 0, 20), any(random, 0, 3),
                             any(random, 0, 3), any(random, 2, 400), any(random, 0, 200)}));
    c.engines.push_back(any_engine(random, longest, seed));
  }
  // Classes share models: more classes than models, each model with one at least.
  for (std::int64_t i = 0; i < models + 2; ++i) {
    c.model_of_class.push_back(static_cast<std::size_t>(i < models ? i : any(random, 0, models - 1)));
  }
  Picoseconds at{0};
  // Coarse times now and then, so that requests meet the ends of iterations.
  const std::int64_t grain = any(random, 0, 1) == 0 ? 1 : 500;
  const std::int64_t gap = any(random, 0, 100'000) / grain;
  for (std::int64_t i = any(random, 1, 40); i > 0; --i) {
    Request request;
    at += Picoseconds{grain * any(random, 0, gap)};
    request.arrival = at;
    request.prompt_tokens = static_cast<std::int32_t>(any(random, 1, longest));
    request.output_tokens = static_cast<std::int32_t>(any(random, 1, longest));
    request.cached_tokens = static_cast<std::int32_t>(any(random, 0, 3) == 0 ? any(random, 0, longest) : 0);
    request.service_class = static_cast<std::int32_t>(any(random, 0, models + 1));
    c.load.requests.push_back(request);
  }
  return c;
}

bool same_times(const RequestTimes& a, const RequestTimes& b) {
  return a.started == b.started && a.first_token == b.first_token && a.finished == b.finished &&
         a.preemptions == b.preemptions;
}

Request request(std::int32_t prompt, std::int32_t output, std::int64_t arrival, std::int32_t of) {
  return {.arrival = Picoseconds{arrival},
          .prompt_tokens = prompt,
          .output_tokens = output,
          .cached_tokens = 0,
          .service_class = of};
}

/// Mean waits by model, ms, where each has one place and a request takes so many ms; Poisson at so many requests/s.
std::vector<double> waits(const std::vector<std::int64_t>& ms_each, const std::vector<double>& rates) {
  std::vector<IterationTables> tables;
  for (const std::int64_t ms : ms_each) {
    tables.push_back(test::simple_tables({.per_prompt_token = ms * millisecond / 1000}));
  }
  EngineSettings server;
  server.max_num_seqs = 1;
  server.max_num_tokens = 1 << 20;
  server.blocks = 1 << 20;
  ServingFleet fleet;
  fleet.pool = {tables.data(), server, 1, 1};
  std::vector<TrafficClass> classes;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (i > 0) {
      fleet.beside.push_back({&tables[i], server});
    }
    fleet.model_of_class.push_back(i);
    TrafficClass traffic;
    traffic.arrivals.rate = Hertz{rates[i]};
    traffic.prompt = {.mean = 1000};
    classes.push_back(traffic);
  }
  constexpr std::int64_t count = 1'000'000;
  const RequestLoad load = open_load(classes, count, 7);
  const ServingMetrics metrics = serving_metrics(load, simulate(fleet, load), {}, count / 100);
  std::vector<double> found;
  for (const RequestMetrics& one : metrics.classes) {
    found.push_back(one.queue.mean.raw() * 1e3);
  }
  return found;
}

}  // namespace

TEST_CASE("models that take turns and skip equal a loop over every iteration, to the picosecond") {
  std::int64_t preemptions = 0;
  std::int64_t together = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    CAPTURE(seed);
    const Case c = any_case(seed);
    const ServingFleet fleet = c.fleet();
    REQUIRE(problems(fleet, c.load).empty());
    const FleetResult got = simulate(fleet, c.load);

    std::vector<test::NaiveServing> engines;
    for (std::size_t i = 0; i < c.tables.size(); ++i) {
      engines.emplace_back(c.tables[i], c.engines[i], c.load.requests);
    }
    std::vector<std::size_t> of;
    for (const Request& one : c.load.requests) {
      of.push_back(c.model_of_class[static_cast<std::size_t>(one.service_class)]);
    }
    test::NaiveTurns{engines, c.load.requests, of}.run();
    bool same = true;
    for (std::size_t i = 0; i < of.size(); ++i) {
      same = same && same_times(got.requests[i], engines[of[i]].times(i));
    }
    REQUIRE(same);
    for (std::size_t i = 0; i < engines.size() && engines.size() > 1; ++i) {
      const EngineCounters& counters = got.models[i].sum;
      REQUIRE(counters.iterations == engines[i].iterations);
      REQUIRE(counters.preemptions == engines[i].preemptions);
      REQUIRE(counters.peak_blocks == engines[i].peak);
      REQUIRE(counters.gaps == engines[i].gaps);
      REQUIRE(counters.batch == engines[i].batches);
      preemptions += engines[i].preemptions;
      together += counters.iterations;
    }
  }
  CHECK(preemptions > 1000);
  CHECK(together > 100'000);
}

TEST_CASE("two models with work alternate: a token of one comes after an iteration of both") {
  const IterationTables first = test::simple_tables({.step = 1000});
  const IterationTables second = test::simple_tables({.step = 3000});
  EngineSettings engine;
  engine.blocks = 100;
  ServingFleet fleet;
  fleet.pool = {&first, engine, 1, 1};
  fleet.beside = {{&second, engine}};
  fleet.model_of_class = {0, 1};
  RequestLoad load;
  load.requests = {request(1, 3, 0, 0), request(1, 3, 0, 1)};
  const FleetResult result = simulate(fleet, load);
  CHECK(result.requests[0].first_token == Picoseconds{1000});
  CHECK(result.requests[1].first_token == Picoseconds{4000});
  CHECK(result.requests[0].finished == Picoseconds{9000});  // 4000 to 5000, 8000 to 9000
  CHECK(result.requests[1].finished == Picoseconds{12'000});
  // One that comes while the other runs alone waits for the end of an iteration: 0 to 1000, 1000 to 2000, ...
  load.requests = {request(1, 9, 0, 0), request(1, 1, 1500, 1)};
  const FleetResult late = simulate(fleet, load);
  CHECK(late.requests[1].started == Picoseconds{2000});
  CHECK(late.requests[1].finished == Picoseconds{5000});
  CHECK(late.requests[0].finished == Picoseconds{9000 + 3000});
  const ServingMetrics metrics = serving_metrics(load, late);
  CHECK(metrics.models.at(0).busy == near(9.0 / 12.0, 1e-12));
  CHECK(metrics.models.at(1).busy == near(3.0 / 12.0, 1e-12));
  CHECK(metrics.pool.busy == near(1.0, 1e-12));
}

TEST_CASE("a model that nobody asks changes nothing") {
  Case c = any_case(5);
  for (Request& one : c.load.requests) {
    one.service_class = 0;
  }
  ServingFleet alone = c.fleet();
  alone.beside.clear();
  ServingFleet beside = c.fleet();
  beside.beside.assign(1, {c.tables.data(), c.engines[0]});
  beside.model_of_class = {0};
  const FleetResult a = simulate(alone, c.load);
  const FleetResult b = simulate(beside, c.load);
  for (std::size_t i = 0; i < c.load.requests.size(); ++i) {
    REQUIRE(same_times(a.requests[i], b.requests[i]));
  }
  CHECK(b.models.at(0).sum.iterations == a.pool.sum.iterations);
  CHECK(b.models.at(1).sum.iterations == 0);
}

TEST_CASE("two models of half the places each are slower than one of all: batches do not mix") {
  // N places, w N requests of o tokens at once: one engine runs w o iterations of S + N c; two of N / 2 places run
  // twice as many of S + N / 2 c, so that each pays the step alone.
  constexpr std::int64_t step = 10'000, each = 30, places = 64, waves = 5, tokens = 20;
  const IterationTables tables = test::simple_tables({.step = step, .per_sequence = each});
  EngineSettings engine;
  engine.blocks = 10'000;
  engine.max_num_seqs = places;
  RequestLoad load;
  for (std::int64_t i = 0; i < waves * places; ++i) {
    load.requests.push_back(request(1, tokens, 0, static_cast<std::int32_t>(i % 2)));
  }
  ServingFleet one;
  one.pool = {&tables, engine, 1, 1};
  CHECK(simulate(one, load).end == Picoseconds{waves * tokens * (step + places * each)});
  engine.max_num_seqs = places / 2;
  ServingFleet two;
  two.pool = {&tables, engine, 1, 1};
  two.beside = {{&tables, engine}};
  two.model_of_class = {0, 1};
  CHECK(simulate(two, load).end == Picoseconds{2 * waves * tokens * (step + places / 2 * each)});
}

TEST_CASE("two models of one place are one M/D/1 of their sum: rho s / (2 (1 - rho))") {
  // Whoever goes first, equal lengths leave the mean wait alone (Kleinrock 1976, section 3.4).
  const std::vector<double> half = waits({10, 10}, {35.0, 35.0});
  CHECK(0.5 * (half[0] + half[1]) == near(11.6667, 0.02));
  const std::vector<double> uneven = waits({10, 10}, {60.0, 10.0});
  CHECK((6.0 * uneven[0] + uneven[1]) / 7.0 == near(11.6667, 0.02));
}

TEST_CASE("of iterations of two lengths the waits keep the conservation law: sum of rho_i W_i = rho W_0 / (1 - rho)") {
  // Kleinrock 1976, section 3.4; W_0, what is left of the iteration under way, is the sum of rate s^2 / 2.
  const std::vector<double> found = waits({10, 40}, {30.0, 10.0});
  const double rho = 0.3 + 0.4;
  const double left_ms = 0.5 * (30.0 * 10.0 * 10.0 + 10.0 * 40.0 * 40.0) * 1e-3;
  CHECK(0.3 * found[0] + 0.4 * found[1] == near(rho * left_ms / (1.0 - rho), 0.02));
}

TEST_CASE("a replica with fewer requests of all models is next") {
  const IterationTables tables = test::simple_tables({.step = 1000});
  EngineSettings engine;
  engine.blocks = 100;
  ServingFleet fleet;
  fleet.pool = {&tables, engine, 2, 1};
  fleet.beside = {{&tables, engine}};
  fleet.model_of_class = {0, 1};
  RequestLoad load;
  load.requests = {request(1, 100, 0, 0), request(1, 100, 10, 1), request(1, 1, 20, 1), request(1, 1, 20, 0)};
  const FleetResult result = simulate(fleet, load);
  CHECK(result.requests[0].replica == 0);
  CHECK(result.requests[1].replica == 1);
  CHECK(result.requests[2].replica == 0);
  CHECK(result.requests[3].replica == 1);
  // In turn, whatever the model.
  fleet.routing = RequestRouting::round_robin;
  const FleetResult turns = simulate(fleet, load);
  CHECK(turns.requests[2].replica == 0);
  CHECK(turns.requests[3].replica == 1);
}

TEST_CASE("what several models on one pool cannot be is told") {
  const IterationTables tables = test::simple_tables({.step = 1000});
  EngineSettings engine;
  ServingFleet fleet;
  fleet.pool = {&tables, engine, 1, 2};
  fleet.pool.engine.blocks = 4;
  fleet.beside = {{&tables, engine}};
  fleet.routing = RequestRouting::shared_queue;
  fleet.model_of_class = {0, 2};
  RequestLoad load;
  load.requests = {request(1, 1, 0, 2)};
  const std::vector<std::string> found = problems(fleet, load);
  REQUIRE(found.size() == 4);
  CHECK(found[0].find("use pp = 1") != std::string::npos);
  CHECK(found[1].find("least-outstanding") != std::string::npos);
  CHECK(found[2].find("3 service classes") != std::string::npos);
  CHECK(found[3].find("model 2 of 2") != std::string::npos);
}
