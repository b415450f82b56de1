// SPDX-License-Identifier: Apache-2.0
// Prefix caches of replicas, tiers below them, and routing by prefix.
#include <headroom/model/serve/load/prompt_prefixes.hpp>
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/prefix_cache.hpp>
#include <headroom/model/serve/simulation/prefix_metrics.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "naive_prefixes.hpp"
#include "naive_serving.hpp"
#include "serving_case.hpp"
#include "serving_tables.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace headroom;
using test::any;
using test::near;

namespace {

constexpr std::int64_t ms = 1'000'000'000;

/// Ids of each request, dense and behind the same other one everywhere.
PromptPrefixes as_prefixes(const std::vector<std::vector<std::int64_t>>& ids, std::int64_t id_tokens) {
  PromptPrefixes prefixes;
  prefixes.id_tokens = id_tokens;
  prefixes.first.push_back(0);
  for (const std::vector<std::int64_t>& of : ids) {
    for (const std::int64_t id : of) {
      prefixes.ids.push_back(static_cast<std::uint32_t>(id));
      prefixes.distinct = std::max(prefixes.distinct, static_cast<std::uint32_t>(id) + 1);
    }
    prefixes.first.push_back(static_cast<std::uint32_t>(prefixes.ids.size()));
  }
  return prefixes;
}

/// A tree of prefixes: at each id the prompt goes on as one of a few do, or ends what it shares.
std::vector<std::vector<std::int64_t>> any_ids(RandomStream& random, const RequestLoad& load, std::int64_t id_tokens) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> numbers;
  const std::int64_t branches = any(random, 1, 4);
  std::vector<std::vector<std::int64_t>> ids;
  for (const Request& request : load.requests) {
    std::vector<std::int64_t>& of = ids.emplace_back();
    std::int64_t before = -1;
    while (static_cast<std::int64_t>(of.size() + 1) * id_tokens <= request.prompt_tokens && any(random, 0, 9) > 0) {
      const std::pair step{before, any(random, 0, 5) == 0 ? any(random, 0, branches - 1) : 0};
      before = numbers.try_emplace(step, static_cast<std::int64_t>(numbers.size())).first->second;
      of.push_back(before);
    }
  }
  return ids;
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

IterationTables usual() {
  return test::simple_tables({5 * ms, ms / 10, ms / 100, 100, 0});
}

TrafficClass grouped(double rate, const SharedPrefixes& prefixes) {
  TrafficClass one;
  one.arrivals.rate = Hertz{rate};
  one.prompt = {.shape = LengthShape::lognormal, .mean = 1500, .cv = 0.7, .most = 8000};
  one.output = {.shape = LengthShape::lognormal, .mean = 100, .cv = 1.0, .most = 1000};
  one.prefixes = prefixes;
  return one;
}

bool same_times(const FleetResult& a, const FleetResult& b) {
  return std::equal(a.requests.begin(), a.requests.end(), b.requests.begin(), b.requests.end(),
                    [](const RequestTimes& x, const RequestTimes& y) {
                      return x.started == y.started && x.first_token == y.first_token && x.finished == y.finished &&
                             x.replica == y.replica;
                    });
}

}  // namespace

TEST_CASE("prefix caches and tiers under the engine that skips equal lists walked at every iteration") {
  std::int64_t pool = 0, loaded = 0, preemptions = 0, wasted = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    test::Case c = test::any_case(seed);
    RandomStream random{seed, 7};
    const std::int64_t id_tokens = c.engine.block_tokens * any(random, 1, 3);
    const std::vector<std::vector<std::int64_t>> ids = any_ids(random, c.load, id_tokens);
    c.load.prefixes = as_prefixes(ids, id_tokens);
    std::vector<OffloadTier> tiers;
    for (std::int64_t i = any(random, 0, 3); i > 0; --i) {
      tiers.push_back({any(random, 0, 80), Picoseconds{any(random, 0, 3000)}, Picoseconds{any(random, 0, 5000)},
                       any(random, 0, 1) == 1});
    }
    CAPTURE(seed);
    CAPTURE(c.text);
    const IterationTables tables = test::simple_tables(c.costs);
    ServingFleet fleet;
    fleet.pool = {&tables, c.engine, 1, 1};
    std::copy(tiers.begin(), tiers.end(), fleet.tiers.begin());
    REQUIRE(problems(fleet, c.load).empty());
    const FleetResult got = simulate(fleet, c.load);
    test::NaiveServing naive{tables, c.engine, c.load.requests};
    test::NaivePrefixes prefixes{ids, id_tokens, c.engine.block_tokens, c.engine.blocks, tiers, c.load.requests};
    if (!c.load.prefixes.empty()) {
      naive.look_up_in(prefixes);
    }
    const std::vector<RequestTimes> want = naive.run();
    bool same = true;
    for (std::size_t i = 0; i < want.size(); ++i) {
      same = same && got.requests[i].started == want[i].started && got.requests[i].first_token == want[i].first_token &&
             got.requests[i].finished == want[i].finished && got.requests[i].preemptions == want[i].preemptions;
    }
    REQUIRE(same);
    REQUIRE(got.pool.sum.iterations == naive.iterations);
    REQUIRE(got.pool.peak_blocks == naive.peak);
    REQUIRE(got.pool.sum.gaps == naive.gaps);
    for (std::size_t i = 0; i < got.hits.size(); ++i) {
      const PrefixHits& hits = got.hits[i];
      REQUIRE(hits.pool == prefixes.hits[i].pool);
      REQUIRE(hits.loaded == prefixes.hits[i].loaded);
      REQUIRE(hits.loading == prefixes.hits[i].loading);
      pool += hits.pool;
      for (std::size_t t = 0; t < tiers.size(); ++t) {
        loaded += hits.loaded[t];
        wasted += hits.loaded[t] - hits.tiers[t];
      }
    }
    preemptions += naive.preemptions;
  }
  // Every way was gone.
  CHECK(pool > 500'000);
  CHECK(loaded > 100'000);
  CHECK(wasted > 1'000);
  CHECK(preemptions > 5'000);
}

TEST_CASE("sequences with one prefix hold it once, and it stays when they are gone, until its blocks are wanted") {
  // Two blocks of 16 in common, a third one each; the second request comes while the first decodes.
  const IterationTables tables = test::simple_tables({1000, 0, 10, 0, 0});
  ServingFleet fleet = fleet_of(tables, 1);
  fleet.pool.engine.blocks = 8;
  RequestLoad load;
  load.requests = {{.prompt_tokens = 48, .output_tokens = 10},
                   {.prompt_tokens = 48, .output_tokens = 2},
                   {.prompt_tokens = 48, .output_tokens = 1},
                   {.prompt_tokens = 112, .output_tokens = 1},
                   {.prompt_tokens = 48, .output_tokens = 1}};
  load.requests[1].arrival = Picoseconds{3000};
  load.requests[2].arrival = Picoseconds{1'000'000};
  load.requests[3].arrival = Picoseconds{2'000'000};
  load.requests[4].arrival = Picoseconds{3'000'000};
  load.prefixes = as_prefixes({{0, 1}, {0, 1}, {0, 1}, {}, {0, 1}}, 16);
  REQUIRE(problems(fleet, load).empty());
  const FleetResult result = simulate(fleet, load);
  const auto prefill = [&](std::size_t i) { return result.requests[i].first_token - result.requests[i].started; };
  CHECK(prefill(0) == Picoseconds{1000 + 480});
  CHECK(prefill(1) == Picoseconds{1000 + 160});
  CHECK(prefill(2) == Picoseconds{1000 + 160});
  // Seven of the eight blocks were wanted, and what was shared was the newest: its first block stays.
  CHECK(prefill(3) == Picoseconds{1000 + 1120});
  CHECK(prefill(4) == Picoseconds{1000 + 320});
  CHECK(result.hits[1].pool == 32);
  CHECK(result.hits[3].pool == 0);
  // 3 + 1 blocks of the first, 1 + 1 of the second: 6, not 8.
  load.requests.resize(2);
  load.prefixes = as_prefixes({{0, 1}, {0, 1}}, 16);
  CHECK(simulate(fleet, load).pool.peak_blocks == 6);
}

TEST_CASE("a tier is read before the prompt runs, one prompt at a time") {
  const IterationTables tables = test::simple_tables({1000, 0, 10, 0, 0});
  ServingFleet fleet = fleet_of(tables, 1);
  fleet.pool.engine.blocks = 8;
  fleet.tiers[0] = {100, Picoseconds{700}, Picoseconds{50}, false};
  RequestLoad load;
  load.requests.assign(4, {.prompt_tokens = 48, .output_tokens = 1});
  load.requests[1] = {.prompt_tokens = 128, .output_tokens = 1};  // takes the whole pool
  load.requests[1].arrival = Picoseconds{1'000'000};
  load.requests[2].arrival = load.requests[3].arrival = Picoseconds{2'000'000};
  load.prefixes = as_prefixes({{0, 1}, {}, {0, 1}, {0, 1}}, 16);
  const FleetResult result = simulate(fleet, load);
  // Two blocks at 700 each and the latency; the second prompt's load begins when the first one's ends.
  CHECK(result.requests[2].started == Picoseconds{2'000'000 + 1450});
  CHECK(result.requests[2].first_token == Picoseconds{2'000'000 + 1450 + 1160});
  CHECK(result.hits[2].tiers[0] == 32);
  CHECK(result.hits[3].loading == Picoseconds{2850});
  // By then the first one's blocks are in the pool: what was loaded is not wanted any more.
  CHECK(result.requests[3].started == Picoseconds{2'000'000 + 2850});
  CHECK(result.hits[3].pool == 32);
  CHECK(result.hits[3].loaded[0] == 32);
  CHECK(result.hits[3].tiers[0] == 0);
  const PrefixMetrics metrics = prefix_metrics(load, result);
  CHECK(metrics.prompt_tokens == 3 * 48 + 128);
  CHECK(metrics.hit_share() == near(64.0 / 272.0));
  CHECK(metrics.loads == 2);
  CHECK(metrics.loading.mean.raw() == near(0.5 * (1450 + 2850) * 1e-12));
}

TEST_CASE("a tier without latency and of infinite bandwidth is a larger cache, one of no blocks is none") {
  // Requests one after the other, prompts of whole ids alone: a tree of prefixes, more than the pool holds.
  RandomStream random{5};
  RequestLoad load;
  load.concurrency = 1;
  for (int i = 0; i < 3000; ++i) {
    load.requests.push_back({.prompt_tokens = static_cast<std::int32_t>(32 * any(random, 1, 12)), .output_tokens = 2});
  }
  std::vector<std::vector<std::int64_t>> ids;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> numbers;
  for (const Request& request : load.requests) {
    std::vector<std::int64_t>& of = ids.emplace_back();
    std::int64_t before = -1;
    for (std::int64_t i = 0; i < request.prompt_tokens / 32; ++i) {
      const std::pair step{before, any(random, 0, 2) == 0 ? any(random, 0, 3) : 0};
      before = numbers.try_emplace(step, static_cast<std::int64_t>(numbers.size())).first->second;
      of.push_back(before);
    }
  }
  load.prefixes = as_prefixes(ids, 32);
  const IterationTables tables = usual();
  ServingFleet fleet = fleet_of(tables, 1);
  fleet.pool.engine.blocks = 40;
  const FleetResult without = simulate(fleet, load);
  fleet.tiers[1] = {0, Picoseconds{0}, Picoseconds{0}, false};
  CHECK(same_times(simulate(fleet, load), without));
  for (const std::int64_t room : {60, 200, 100'000}) {
    fleet.tiers[0] = {2 * room, Picoseconds{0}, Picoseconds{0}, false};
    const FleetResult result = simulate(fleet, load);
    PrefixCache cache{room};
    std::int64_t want = 0, got = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::int64_t found = 32 * cache.look_up(ids[i]);
      REQUIRE(result.hits[i].pool + result.hits[i].tiers[0] == found);
      want += std::min<std::int64_t>(found, load.requests[i].prompt_tokens - 1);
    }
    std::int64_t prompts = 0;
    for (const Request& request : load.requests) {
      prompts += request.prompt_tokens;
    }
    got = prompts - result.pool.sum.prompt_tokens;
    CHECK(got == want);
    CHECK(same_times(result, without) == false);
  }
}

TEST_CASE("the hit rate of a pool is that of Che's approximation, prompts that nobody shares counted") {
  // Che, Tung and Wang 2002, equation 4: an id chosen with probability p is there with 1 - exp(-p t), t requests being
  // what fills the pool. Here each request also leaves `own` blocks that nobody asks for again.
  const IterationTables tables = test::simple_tables({1000, 0, 10, 0, 0});
  constexpr double each = 4.0, own = 2.0;  // blocks of 16: an id of 64 tokens, and 32 beside it
  TrafficClass one;
  one.prompt.mean = 96;
  one.output.mean = 1;
  for (const double zipf : {0.0, 0.8, 1.2}) {
    one.prefixes = {.groups = 300, .tokens = 64, .share = 1.0, .zipf = zipf};
    const RequestLoad load = closed_load(one, 1, 60'000, 3);
    double all = 0.0;
    for (int k = 1; k <= 300; ++k) {
      all += std::pow(k, -zipf);
    }
    for (const double blocks : {200.0, 800.0}) {
      CAPTURE(zipf);
      CAPTURE(blocks);
      ServingFleet fleet = fleet_of(tables, 1);
      fleet.pool.engine.blocks = static_cast<std::int64_t>(blocks);
      REQUIRE(problems(fleet, load).empty());
      // The request that looks has six blocks of the pool, and frees them behind all others.
      double low = 0.0, high = 1e6, hit = 0.0;
      for (int i = 0; i < 100; ++i) {
        const double t = 0.5 * (low + high);
        double filled = own * t;
        hit = 0.0;
        for (int k = 1; k <= 300; ++k) {
          const double p = std::pow(k, -zipf) / all;
          filled += each * -std::expm1(-p * t);
          hit += p * -std::expm1(-p * t);
        }
        (filled < blocks ? low : high) = t;
      }
      const PrefixMetrics metrics = prefix_metrics(load, simulate(fleet, load), 5000);
      CHECK(metrics.share(metrics.pool) == doctest::Approx(hit * 64.0 / 96.0).epsilon(0.02));
    }
  }
}

TEST_CASE("routing by prefix finds more in pools that cannot hold every group, and keeps the balance it promises") {
  const IterationTables tables = usual();
  const TrafficClass one = grouped(30.0, {.groups = 60, .tokens = 1024, .share = 0.9, .zipf = 0.6});
  const RequestLoad load = open_load({&one, 1}, 8000, 1);
  ServingFleet fleet = fleet_of(tables, 6);
  fleet.pool.engine.blocks = 2500;
  const auto run = [&](RequestRouting routing, std::int64_t balance) {
    fleet.routing = routing;
    fleet.prefix_routing.balance_abs = balance;
    return simulate(fleet, load);
  };
  const auto hits = [&](const FleetResult& result) { return prefix_metrics(load, result, 800).hit_share(); };
  const FleetResult even = run(RequestRouting::least_outstanding, 64);
  const FleetResult drawn = run(RequestRouting::prefix, 64);
  CHECK(hits(drawn) > hits(even) + 0.05);
  CHECK(serving_metrics(load, drawn).all.ttft.mean < serving_metrics(load, even).all.ttft.mean);
  // No more can be found than requests have in common.
  const PrefixMetrics metrics = prefix_metrics(load, drawn, 800);
  CHECK(metrics.pool <= metrics.shareable);
  // With no imbalance allowed at all it is the fewest outstanding wherever two differ.
  fleet.prefix_routing.balance_rel = 1.0;
  const FleetResult strict = run(RequestRouting::prefix, 0);
  CHECK(hits(strict) < hits(drawn));
  // Requests without ids go to the fewest outstanding.
  RequestLoad plain = load;
  plain.prefixes = {};
  fleet.routing = RequestRouting::prefix;
  const FleetResult a = simulate(fleet, plain);
  fleet.routing = RequestRouting::least_outstanding;
  CHECK(same_times(a, simulate(fleet, plain)));
}

TEST_CASE("a store that all replicas share finds what another one computed, tiers of their own do not") {
  const IterationTables tables = usual();
  const TrafficClass one = grouped(20.0, {.groups = 400, .tokens = 1024});
  const RequestLoad load = open_load({&one, 1}, 4000, 1);
  ServingFleet fleet = fleet_of(tables, 4);
  fleet.pool.engine.blocks = 1500;
  fleet.routing = RequestRouting::round_robin;
  const auto found = [&](bool shared) {
    fleet.tiers[2] = {1'000'000, Picoseconds{1000}, Picoseconds{ms}, shared};
    return prefix_metrics(load, simulate(fleet, load), 400).hit_share();
  };
  const double own = found(false);
  const double all = found(true);
  CHECK(all > own + 0.1);
  // Of 4,000 requests 400 are the first of their group; the others find their prefix whole, but while it is computed.
  const PrefixMetrics metrics = prefix_metrics(load, simulate(fleet, load));
  CHECK(all < metrics.share(metrics.shareable));
  CHECK(all > 0.85 * metrics.share(metrics.shareable));
}

TEST_CASE("of disaggregated replicas those for prompts have the caches, and the same seed gives the same result") {
  const IterationTables tables = usual();
  const TrafficClass one = grouped(10.0, {.groups = 20, .tokens = 1024});
  const RequestLoad load = open_load({&one, 1}, 2000, 1);
  ServingFleet fleet = fleet_of(tables, 2);
  fleet.prefill = fleet.pool;
  fleet.transfer = {Bytes{160e3}, BytesPerSecond{50e9}, Seconds{1e-3}};
  fleet.routing = RequestRouting::prefix;
  fleet.tiers[0] = {20'000, Picoseconds{50'000'000}, Picoseconds{ms}, false};
  const FleetResult result = simulate(fleet, load);
  const PrefixMetrics metrics = prefix_metrics(load, result, 200);
  CHECK(metrics.hit_share() > 0.8 * metrics.share(metrics.shareable));
  CHECK(serving_metrics(load, result).all.finished == 2000);
  CHECK(same_times(result, simulate(fleet, load)));
  SimulationRecord record{RecordLimits{}};
  CHECK(same_times(result, simulate(fleet, load, &record)));
}

TEST_CASE("hashes of a trace: whole blocks that two requests share, behind the same ones") {
  PrefixNumbering numbering{512};
  const std::vector<std::vector<std::int64_t>> hashes{{1, 2, 3}, {1, 2, 4, 5}, {1, 2}, {9, 2}, {7, 7}, {1, 2, 4}};
  const std::array<std::int64_t, 6> prompts{1100, 2048, 1024, 1024, 1024, 1500};
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    numbering.add(prompts[i], hashes[i]);
  }
  const PromptPrefixes prefixes = numbering.take();
  // 3 is no whole block, 5 and 9 are one request's alone, 2 stands behind 1, 7 cannot stand behind itself, and the
  // last 4 is not whole, so that the other one is alone.
  CHECK(prefixes.distinct == 2);
  CHECK(prefixes.ids == std::vector<std::uint32_t>{0, 1, 0, 1, 0, 1, 0, 1});
  CHECK(prefixes.first == std::vector<std::uint32_t>{0, 2, 4, 6, 6, 6, 8});
  const PromptPrefixes twice = prefixes.repeated(2, 8);
  CHECK(twice.distinct == 4);
  CHECK(twice.first == std::vector<std::uint32_t>{0, 2, 4, 6, 6, 6, 8, 10, 12});
  CHECK(twice.of(6)[0] == 2);
}

TEST_CASE("what cannot be is told: ids that are no blocks, too long for their prompt, behind two others") {
  const IterationTables tables = usual();
  const ServingFleet fleet = fleet_of(tables, 1);
  RequestLoad load;
  load.requests.assign(2, {.prompt_tokens = 40, .output_tokens = 1});
  const auto said = [&](const std::vector<std::vector<std::int64_t>>& ids, std::int64_t tokens) {
    load.prefixes = as_prefixes(ids, tokens);
    std::string all;
    for (const std::string& problem : problems(fleet, load)) {
      all += problem + "\n";
    }
    return all;
  };
  CHECK(said({{0}, {0}}, 32).empty());
  CHECK(said({{0}, {0}}, 24) == "prefixes: an id stands for 24 tokens, which are no whole blocks of 16\n");
  CHECK(said({{0, 1}, {0}}, 32) == "request 1: ids of 64 tokens, a prompt of 40\n");
  CHECK(said({{0, 1}, {1}}, 16) == "request 2: id 1 stands behind another one than elsewhere, or is none of the 2\n");
  TrafficClass one = grouped(1.0, {.groups = 3, .tokens = 10, .share = 2.0});
  const std::vector<std::string> found = problems(std::vector<TrafficClass>{one});
  REQUIRE(found.size() == 2);
  CHECK(found[0].find("at least 1 of 64 tokens") != std::string::npos);
}
