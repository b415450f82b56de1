// SPDX-License-Identifier: Apache-2.0
// Several models on the GPUs of one replica: what they get of the memory, what they do, and what a pool for each takes.
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/scenarios/fleet/fleet_apart.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/fleet/fleet_screen.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>
#include <headroom/scenarios/serving/slow_end.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <doctest/doctest.h>

#include "../model/serving_tables.hpp"
#include "../near.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;
using test::near;

namespace {

using Texts = std::vector<std::string>;

/// A class of 400 tokens in and 100 out.
std::string of_class(const std::string& name, double rate, const std::string& more = "") {
  return "{name=\"" + name + "\", rate=\"" + std::to_string(rate) + " req/s\", arrivals=\"poisson\"" + more +
         R"(, prompt={mean=400, law="exponential", most=4000}, output={mean=100, law="exponential", most=1000}})";
}

ConfigValue document(const std::string& classes, const Texts& more) {
  Texts all{"kind=serve",           "model=llama3-8b",       "hardware.gpu=h100-sxm-80gb",      "strategy.tp=1",
            "serving.weights=bf16", "traffic.requests=4000", "traffic.class=[" + classes + "]", "slo.ttft_p95=1 s",
            "money.price=2 $/h"};
  all.insert(all.end(), more.begin(), more.end());
  return scenario_tree(all);
}

Scenario scenario(const std::string& classes, const Texts& more = {}) {
  return read_scenario(document(classes, more), "command line", sources());
}

const ServeScenario& serving(const Scenario& s) {
  return std::get<ServeScenario>(s.question);
}

std::string refusal(const std::string& classes, const Texts& more = {}) {
  try {
    static_cast<void>(served_replica(serving(scenario(classes, more))));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

const std::string two = of_class("chat", 4.0) + ", " + of_class("code", 4.0, R"(, model="qwen3-8b")");

/// Weights, activations and framework of a model's engine, which has the GPU to itself.
Bytes beside_cache(const ServeScenario& s, std::size_t model) {
  const ServeScenario one = alone(s, model);
  const MemoryBreakdown terms = serve_memory(one.architecture, one.device, one.engine, one.work).memory.terms;
  return terms[MemoryTerm::weights] + terms[MemoryTerm::activations] + terms[MemoryTerm::framework];
}

}  // namespace

TEST_CASE("the KV cache of several models is vLLM's share of the GPU less what all engines take beside it") {
  const Scenario asked = scenario(two);
  const ServeScenario& s = serving(asked);
  const BesideMemory memory = beside_memory(s);
  REQUIRE(memory.pools.size() == 2);
  const Bytes device = s.device.visible_capacity().value;
  const Bytes left = s.work.memory_fraction * device - beside_cache(s, 0) - beside_cache(s, 1);
  CHECK((memory.pools[0] + memory.pools[1]).raw() == near(left.raw(), 1e-9));
  CHECK(memory.shares[0] + memory.shares[1] == near(1.0, 1e-12));
  const ServedReplica served = served_replica(s);
  REQUIRE(served.beside.size() == 1);
  CHECK(served.terms()[MemoryTerm::kv_cache].raw() == near(left.raw(), 1e-9));
  CHECK(served.of(1).kv_share == memory.shares[1]);
}

TEST_CASE("a stated share of the KV cache is kept, and the scenario's model has the rest") {
  const std::string classes =
      of_class("chat", 4.0) + ", " + of_class("code", 4.0, R"(, model="qwen3-8b", kv_share=0.2)");
  const Scenario asked = scenario(classes);
  const BesideMemory memory = beside_memory(serving(asked));
  CHECK(memory.shares[0] == near(0.8, 1e-12));
  CHECK(memory.shares[1] == near(0.2, 1e-12));
}

TEST_CASE("of a model and itself at three times the load the cache beyond a longest request goes three to one") {
  // The same network by another name, so that need is the rate alone.
  const std::string classes = of_class("chat", 3.0) + ", " + of_class("code", 9.0, R"(, model="Meta-Llama-3-8B")");
  const Scenario asked = scenario(classes);
  const ServeScenario& s = serving(asked);
  REQUIRE(s.beside.size() == 1);
  const BesideMemory memory = beside_memory(s);
  // A cache of 8 heads of 128 in 32 layers, keys and values of 2 bytes, in blocks of 16 tokens.
  const auto longest = static_cast<double>((alone(s, 0).traffic->lengths().longest + 15) / 16 * 16);
  const Bytes floor{longest * 2.0 * 32 * 8 * 128 * 2};
  CHECK((memory.pools[1] - floor) / (memory.pools[0] - floor) == near(3.0, 1e-9));
}

TEST_CASE("models whose weights do not fit together are refused with what is too much") {
  const std::string classes = of_class("chat", 4.0) + ", " + of_class("code", 4.0, R"(, model="qwen3-32b")");
  const Scenario asked = scenario(classes);
  const ServeScenario& s = serving(asked);
  const Bytes excess =
      beside_cache(s, 0) + beside_cache(s, 1) - s.work.memory_fraction * s.device.visible_capacity().value;
  REQUIRE(excess > Bytes{});
  const std::string text = refusal(classes);
  CAPTURE(text);
  CHECK(text.find(format(excess) + " more than") != std::string::npos);
  // Alone each of them fits.
  CHECK(refusal(of_class("chat", 4.0)).empty());
  CHECK(refusal(of_class("code", 4.0), {"model=qwen3-32b"}).empty());
}

TEST_CASE("several models saturate where the device is always busy: 4 requests of 10, 10, 10 and 40 ms in 70 ms") {
  constexpr std::int64_t ms = 1'000'000'000;
  const IterationTables fast = test::simple_tables({.per_prompt_token = 10 * ms / 1000});
  const IterationTables slow = test::simple_tables({.per_prompt_token = 40 * ms / 1000});
  EngineSettings server;
  server.max_num_seqs = 500;     // of each place 20 requests are simulated: the mix is then 3 to 1 within a percent
  server.max_num_tokens = 1000;  // a prompt an iteration
  server.blocks = 1 << 20;
  ServingFleet fleet;
  fleet.pool = {&fast, server, 3, 1};
  fleet.beside = {{&slow, server}};
  fleet.model_of_class = {0, 1};
  ServingTraffic traffic;
  traffic.requests = 1000;
  traffic.classes.resize(2);
  for (RequestClass& c : traffic.classes) {
    c.traffic.prompt = {.mean = 1000};
  }
  traffic.classes[0].traffic.arrivals.rate = Hertz{30.0};
  traffic.classes[1].traffic.arrivals.rate = Hertz{10.0};
  CHECK(fleet_saturation(traffic, fleet).raw() == near(3.0 * 4.0 / 0.070, 0.02));
}

TEST_CASE("a simulation of several models says what each does, they keep each other waiting") {
  const Scenario asked = scenario(two, {"fleet.replicas=2"});
  const ServingSimulation both = simulate_serving(serving(asked), asked.money);
  REQUIRE(both.metrics.models.size() == 2);
  REQUIRE(both.metrics.classes.size() == 2);
  CHECK(both.metrics.models[0].busy + both.metrics.models[1].busy == near(both.metrics.pool.busy, 1e-9));
  CHECK(both.metrics.pool.busy <= 1.0);
  CHECK(both.metrics.models[0].iterations + both.metrics.models[1].iterations == both.metrics.pool.iterations);
  for (std::size_t i = 0; i < 2; ++i) {
    CAPTURE(i);
    const ServeScenario one = alone(serving(asked), i);
    const ServingSimulation apart = simulate_serving(one, asked.money);
    CHECK(both.metrics.classes[i].tpot.mean > apart.metrics.all.tpot.mean);
    CHECK(both.saturation.mid <
          apart.saturation.mid + simulate_serving(alone(serving(asked), 1 - i), asked.money).saturation.mid);
  }
  CHECK(std::any_of(both.notes.begin(), both.notes.end(),
                    [](const std::string& note) { return note.find("KV cache of Qwen3") != std::string::npos; }));
}

TEST_CASE("a plan of several models takes one pool or a pool for each, and says what both take") {
  const Texts promises{"slo.tpot_p95=30 ms"};
  const std::string classes = of_class("chat", 3.0) + ", " + of_class("code", 2.0, R"(, model="qwen3-8b")");
  const ConfigValue root = document(classes, promises);
  const FleetPlan plan = plan_fleet(read_fleet(root, "command line", sources()), {2});
  REQUIRE(plan.feasible());
  REQUIRE(plan.apart.size() == 2);
  REQUIRE(plan.apart[0].plan);
  REQUIRE(plan.apart[1].plan);
  // At a few requests/s one GPU holds both, and each apart takes one of its own.
  CHECK(plan.options.front().gpus == 1);
  CHECK(plan.apart[0].plan->options.front().gpus == 1);
  CHECK(plan.apart[1].plan->options.front().gpus == 1);
  // A pool of its own is the same question written for that model.
  const ConfigValue by_hand = document(of_class("code", 2.0), {"slo.tpot_p95=30 ms", "model=qwen3-8b"});
  const FleetPlan alone_plan = plan_fleet(read_fleet(by_hand, "command line", sources()), {2});
  const ServingMetrics& a = plan.apart[1].plan->options.front().sized->metrics;
  const ServingMetrics& b = alone_plan.options.front().sized->metrics;
  CHECK(a.all.ttft.p99 == b.all.ttft.p99);
  CHECK(a.pool.iterations == b.pool.iterations);
}

TEST_CASE(
    "the fewest shared replicas are found: at the slow end one less misses a promise or has no room for the load") {
  const std::string classes = of_class("chat", 60.0) + ", " + of_class("code", 40.0, R"(, model="qwen3-8b")");
  const FleetPlan plan =
      plan_fleet(read_fleet(document(classes, {"slo.tpot_p95=30 ms"}), "command line", sources()), {2});
  REQUIRE(plan.feasible());
  const FleetOption& best = plan.options.front();
  REQUIRE(best.sized->replicas > 1);
  CHECK(best.screened_at_middle <= best.sized->middle->replicas);  // a lower bound
  CHECK(best.screened_replicas <= best.sized->replicas);
  const ServeScenario& s = best.question();
  const std::int64_t fewer = best.sized->replicas - 1;
  const std::vector<KeptPromise> judged = judge_slow_end(s, simulate_fleet(s, *best.served, fewer, 0),
                                                         simulate_slow_fleet(s, *best.served, fewer, 0, s.confidence));
  const double saturation = best.sized->saturation.raw() * (1.0 - 1.0 / static_cast<double>(best.sized->replicas));
  CHECK((slowest_iteration(s) * 100.0 >= 0.9 * saturation ||
         std::any_of(judged.begin(), judged.end(), [](const KeptPromise& one) { return !one.kept; })));
}

TEST_CASE(
    "retries: 5 % of the attempts fail, and 12 req/s of requests are 12.63 of attempts, for which a fleet is sized") {
  const std::string classes = of_class("chat", 12.0);
  const Scenario asked =
      scenario(classes, {"traffic.retries.failure=0.05", "traffic.retries.backoff=1 s", "fleet.replicas=1"});
  CHECK(serving(asked).traffic->rate().raw() == near(12.0 / 0.95, 1e-12));
  const ServingSimulation s = simulate_serving(serving(asked), asked.money);
  REQUIRE(s.retries);
  CHECK_FALSE(s.retries->storm);
  CHECK(s.offered.raw() == near(12.0 / 0.95, 1e-12));
  CHECK(s.retries->backoff.raw() == near(0.05 / 0.9, 1e-12));  // p / (1 - 2 p)
  // Far above what one GPU answers it is a storm, without end where nobody gives up.
  const ServingSimulation many = simulate_serving(serving(asked), asked.money, 50.0);
  REQUIRE(many.overloaded());
  CHECK(many.retries->storm);
}

TEST_CASE("retries that are given up after three attempts: 1 + p + p^2 of them") {
  const Scenario asked =
      scenario(of_class("chat", 12.0), {"traffic.retries.failure=0.5", "traffic.retries.attempts=3"});
  CHECK(serving(asked).traffic->rate().raw() == near(12.0 * 1.75, 1e-12));
  // Of the parts of a fleet, and at the day's peak, it is the same.
  CHECK(serving(asked).traffic->part(0.5).retried(Hertz{1e6}).offered.raw() == near(6.0 * 1.75, 1e-12));
}
