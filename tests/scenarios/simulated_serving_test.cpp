// SPDX-License-Identifier: Apache-2.0
// A serving question with traffic, simulated: promises judged, intervals, queues and dollars.
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/simulation_record.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>
#include <headroom/scenarios/serving/slow_end.hpp>

#include <doctest/doctest.h>

#include "../model/serving_tables.hpp"
#include "../near.hpp"
#include "../support/model_data.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;
using test::near;

namespace {

using Texts = std::vector<std::string>;

Scenario scenario(const Texts& more) {
  Texts all{"kind=serve",
            "model=llama3-8b",
            "hardware.gpu=h100-sxm-80gb",
            "strategy.tp=1",
            "serving.weights=bf16",
            "traffic.rate=20 req/s",
            "traffic.requests=4000",
            R"(traffic.prompt={mean=1000, law="lognormal", cv=0.8, most=6000})",
            R"(traffic.output={mean=200, law="lognormal", cv=0.6, most=1500})",
            "fleet.replicas=2",
            "money.price=2 $/h"};
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

ServingSimulation simulated(const Texts& more, double factor = 1.0) {
  const Scenario s = scenario(more);
  return simulate_serving(std::get<ServeScenario>(s.question), s.money, factor);
}

/// Of the scenario's engine, network, SKU and weights.
ServingErrors errors(ServingQuantity quantity) {
  return serving_confidence(test::model_data()).of("vllm", quantity, false, "h100-sxm-80gb", "bf16");
}

constexpr std::int64_t ms = 1'000'000'000;

/// The longest iteration that decodes of a request of 1 token in see while a prompt of 8192 comes: the gap between two
/// of their tokens.
double longest_gap_ms(const IterationTables& tables, std::int64_t max_num_tokens) {
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.engine.max_num_seqs = 8;
  fleet.pool.engine.max_num_tokens = max_num_tokens;
  fleet.pool.engine.blocks = 4000;
  RequestLoad load;
  load.requests = {{Picoseconds{0}, 1, 200, 0, 0}, {Picoseconds{100 * ms}, 8192, 1, 0, 0}};
  SimulationRecord record;
  const FleetResult result = simulate(fleet, load, &record);
  REQUIRE(result.requests[1].finished < result.requests[0].finished);
  Picoseconds longest{0};
  for (const SimulationRecord::Slice& slice : record.slices()) {
    longest = std::max(longest, (slice.end - slice.begin) / slice.iterations);
  }
  CHECK(serving_metrics(load, result).pool.gap_max.raw() == near(seconds_of(longest), 0.017));
  return 1e3 * seconds_of(longest);
}

}  // namespace

TEST_CASE("a prompt of 8k and 400 ms stalls decodes for 400 ms, in chunks of 512 for 25 ms and their step") {
  constexpr double step = 10.0;
  const IterationTables tables = test::simple_tables({10 * ms, 0, 400 * ms / 8192, 0, 0});
  const double whole = longest_gap_ms(tables, 8192 + 8);
  CHECK(whole >= 400.0);
  CHECK(whole <= 400.0 + step + 0.1);
  const double chunked = longest_gap_ms(tables, 512);
  CHECK(chunked > 20.0);
  CHECK(chunked <= 25.0 + step);
}

TEST_CASE("of one pool, pages of 16 reach 3.9 times the batch of contiguous places of 4096 at a mean of 1024") {
  const IterationTables tables = test::simple_tables({10 * ms, ms / 100, ms / 100'000, 1, 0});
  constexpr std::int64_t places = 50;
  constexpr std::int64_t tokens = places * 4096;
  RequestLoad load;
  load.requests.assign(2000, {Picoseconds{0}, 768, 256, 0, 0});
  const auto batch = [&](std::int64_t most) {
    ServingFleet fleet;
    fleet.pool.tables = &tables;
    fleet.pool.engine.rules = tensorrt_llm_no_evict;  // blocks of prompt and answer, so that none comes back
    fleet.pool.engine.max_num_seqs = most;
    fleet.pool.engine.max_num_tokens = 1 << 20;
    fleet.pool.engine.blocks = tokens / 16;
    const std::vector<std::int64_t> counts = simulate(fleet, load).pool.sum.batch;
    std::size_t largest = 0;
    for (std::size_t n = 0; n < counts.size(); ++n) {
      largest = counts[n] > 0 ? n : largest;
    }
    return static_cast<double>(largest);
  };
  const double contiguous = batch(places);  // as many as places of 4096 there are, whatever they use
  const double paged = batch(1000);
  CHECK(contiguous == places);
  CHECK(paged / contiguous >= 3.9);
  CHECK(paged / contiguous <= 4.0);
  // What the pages waste: of 16 tokens a block, those that 1024 do not fill.
  CHECK(1.0 - paged * 1024.0 / tokens < 0.016);
}

TEST_CASE("a promise is judged by the quantile of the counted requests, and tells by how much it is missed") {
  const ServingSimulation s = simulated({"slo.ttft_p95=1 s", "slo.tpot_mean=1 ms", "slo.e2e_p50=1 h"});
  REQUIRE(s.promises.size() == 3);
  std::vector<double> ttfts;
  for (std::size_t i = static_cast<std::size_t>(s.warm_up); i < s.load.requests.size(); ++i) {
    ttfts.push_back(seconds_of(s.result.requests[i].first_token - s.result.requests[i].arrival));
  }
  CHECK(ttfts.size() == 3600);
  std::sort(ttfts.begin(), ttfts.end());
  const double position = 0.95 * 3599.0;
  const auto below = static_cast<std::size_t>(position);
  const double p95 = ttfts[below] + (position - static_cast<double>(below)) * (ttfts[below + 1] - ttfts[below]);
  CHECK(s.promises[0].reached.raw() == near(p95));
  CHECK(s.promises[0].kept == (p95 <= 1.0));
  CHECK_FALSE(s.promises[1].kept);
  CHECK(s.promises[1].over() == near(s.metrics.all.tpot.mean.raw() / 1e-3 - 1.0));
  CHECK(s.promises[2].kept);
  CHECK_FALSE(s.good());
  CHECK(simulated({"slo.ttft_p95=1 h"}).good());
}

TEST_CASE("a request that is refused is an answer that never came") {
  // A pool of 4 to 6 GiB, 131072 B a token, and prompts of up to 60,000 tokens.
  const ServingSimulation s = simulated({"model=llama3.1-8b", "serving.memory_fraction=0.32", "traffic.rate=0.2 req/s",
                                         R"(traffic.prompt={mean=30000, law="uniform", low=0})",
                                         R"(traffic.output={mean=10})", "slo.e2e_p50=10 h", "slo.e2e_p99=10 h"});
  REQUIRE(s.metrics.all.refused > 0);
  const double share = static_cast<double>(s.metrics.all.refused) / static_cast<double>(s.metrics.all.requests);
  REQUIRE(s.promises.size() == 2);
  CHECK(share > 0.05);
  CHECK(share < 0.5);
  CHECK(s.promises[0].kept);
  CHECK_FALSE(s.promises[1].kept);
  for (const JudgedPromise& one : s.promises) {
    CHECK(one.refused == near(share));
    CHECK(one.over() < 0.0);
  }
}

TEST_CASE("intervals are as wide as past errors of queues and a fleet of other speed make them together") {
  const ServingSimulation s = simulated({"traffic.rate=0.1 req/s"});  // requests that hardly meet
  const ServingErrors ttft = errors(ServingQuantity::queue_ttft);
  const ServingErrors tpot = errors(ServingQuantity::queue_tpot);
  const ServingErrors rate = errors(ServingQuantity::rate);
  const auto together = [](double a, double b) { return std::hypot(std::log(a), std::log(b)); };
  CHECK(s.ttft.mid.p50.raw() == near(s.metrics.all.ttft.p50.raw()));
  // Alone in the fleet a request takes as much longer as iterations do; its front end does not.
  CHECK(std::log(s.tpot.high.p50 / s.tpot.mid.p50) == near(together(tpot.high, rate.low), 0.01));
  CHECK(std::log(s.tpot.mid.p50 / s.tpot.low.p50) == near(together(tpot.low, rate.high), 0.01));
  const double above = std::log(s.ttft.high.p50 / s.ttft.mid.p50);
  CHECK(above >= std::log(ttft.high));
  CHECK(above <= (1.0 + 1e-3) * together(ttft.high, rate.low));
  // A whole answer is its first token and the rest, each as far off as such times were.
  const double first = s.metrics.all.ttft.mean / s.metrics.all.e2e.mean;
  CHECK(std::log(s.e2e.high.mean / s.e2e.mid.mean) ==
        near(together(first * ttft.high + (1.0 - first) * tpot.high, rate.low), 0.02));
  // Close to saturation a slower fleet waits longer than any class of errors says.
  const ServingSimulation busy = simulated({"traffic.rate=20 req/s"}, 0.95 * s.saturation.mid.raw() / 20.0);
  CHECK(busy.ttft.high.p99.raw() > 2.0 * ttft.high * busy.ttft.mid.p99.raw());
  CHECK(busy.saturation.low.raw() == near(rate.low * busy.saturation.mid.raw()));
  CHECK(busy.served.low < busy.served.mid);
  CHECK(s.served.low.raw() == s.served.mid.raw());
}

TEST_CASE("errors of queues and a fleet's speed: squares of logarithms add up on one side of the middle") {
  const Seconds second{1.0};
  CHECK(beside_speed(second, Seconds{1.5}, 2.0).raw() == near(std::exp(std::hypot(std::log(2.0), std::log(1.5)))));
  CHECK(beside_speed(second, Seconds{0.8}, 0.5).raw() == near(std::exp(-std::hypot(std::log(0.5), std::log(0.8)))));
  CHECK(beside_speed(second, Seconds{0.8}, 2.0).raw() == near(2.0));  // a slower fleet that happens to answer earlier
  CHECK(beside_speed(Seconds{}, Seconds{1.5}, 2.0).raw() == 0.0);
  CHECK(std::isnan(beside_speed(Seconds{std::nan("")}, second, 2.0).raw()));
}

TEST_CASE("the queue's length is the time that requests spend in it, per second") {
  const ServingSimulation s = simulated({"traffic.rate=60 req/s"});
  const Picoseconds first = s.load.requests[static_cast<std::size_t>(s.warm_up)].arrival;
  const Picoseconds last = s.load.requests.back().arrival;
  Picoseconds waited{0};
  for (const RequestTimes& one : s.result.requests) {
    const Picoseconds from = std::max(one.arrival, first);
    const Picoseconds to = std::min(one.started, last);
    waited += to > from ? to - from : Picoseconds{0};
  }
  CHECK(s.queue.mean == near(seconds_of(waited) / seconds_of(last - first)));
  CHECK(s.queue.p50 <= s.queue.p95);
  CHECK(s.queue.p95 <= s.queue.p99);
  CHECK(s.queue.p99 <= s.queue.max);
  CHECK(s.queue.max >= 2);
}

TEST_CASE("a fleet answers no faster than its front ends stream, says so, and more processes of them raise it") {
  const auto told = [](const ServingSimulation& of, const std::string& what) {
    return std::any_of(of.notes.begin(), of.notes.end(),
                       [&](const std::string& note) { return note.find(what) != std::string::npos; });
  };
  // 30 answers/s and replica: its pieces alone take 200 x 96 us each, the texts of a thousand tokens some 3 ms
  const Texts engine{"serving.engine=tensorrt-llm", "strategy.tp=8", "traffic.rate=60 req/s"};
  const ServingSimulation one = simulated(engine);
  CHECK(told(one, "each replica's front end, one event loop that reads prompts and streams answers, is busy for "));
  CHECK(told(one, "serving.front_end_processes and serving.stream_interval raise that"));
  Texts more = engine;
  more.emplace_back("serving.front_end_processes=8");
  const ServingSimulation eight = simulated(more);
  CHECK_FALSE(told(eight, "front end"));
  CHECK(eight.metrics.all.ttft.mean < one.metrics.all.ttft.mean);
  CHECK(eight.saturation.mid > 1.5 * one.saturation.mid);
  more.back() = "serving.stream_interval=20";
  CHECK(simulated(more).saturation.mid > 1.5 * one.saturation.mid);
  CHECK(told(simulated({"serving.stream_interval=20"}), "serving.stream_interval has no effect: the rate at which"));
}

TEST_CASE("overload is a result: the saturation rate, near to what is then answered") {
  const ServingSimulation s = simulated({"traffic.rate=90 req/s", "traffic.requests=12000"});
  CHECK(s.overloaded());
  CHECK_FALSE(s.good());
  CHECK(s.saturation.mid.raw() < 90.0);
  CHECK(s.metrics.saturated_per_s == doctest::Approx(s.saturation.mid.raw()).epsilon(0.15));
  CHECK(s.served.mid < s.offered);
}

TEST_CASE("the saturation rate does not hang on how many requests are simulated") {
  const double many = simulated({"traffic.requests=20000"}).saturation.mid.raw();
  const double few = simulated({"traffic.requests=300"}).saturation.mid.raw();
  CHECK(few == doctest::Approx(many).epsilon(0.03));
}

TEST_CASE("a simulation that ends before the day does says so") {
  const auto told = [](const char* period) {
    const ServingSimulation s = simulated(
        {R"(traffic.over_time={shape="diurnal", peak_over_mean=1.5, period=")" + std::string{period} + R"("})"});
    return std::any_of(s.notes.begin(), s.notes.end(),
                       [](const std::string& note) { return note.find("traffic.over_time") != std::string::npos; });
  };
  CHECK(told("24 h"));  // 4,000 requests at 20 a second are 200 s
  CHECK_FALSE(told("60 s"));
}

TEST_CASE("dollars are those of all GPUs over what is served") {
  const ServingSimulation s = simulated({});
  REQUIRE(s.costs);
  CHECK(s.gpus == 2);
  const double per_s = 2 * 2.0 / 3600.0;
  const RequestMetrics& all = s.metrics.all;
  CHECK(all.finished_per_s == near(s.offered.raw()));  // what comes is answered; the end of the run does not count
  CHECK(s.costs->output_tokens.mid.raw() == near(1e6 * per_s / all.output_tokens_per_s));
  CHECK(s.costs->tokens.mid.raw() == near(1e6 * per_s / (all.output_tokens_per_s + all.input_tokens_per_s)));
  CHECK(s.costs->requests.mid.raw() == near(1e6 * per_s / all.finished_per_s));
  CHECK(s.costs->output_tokens_saturated < s.costs->output_tokens.mid);
}

TEST_CASE("a rate that is given scales every class, a fleet without a number of replicas takes what the GPUs hold") {
  const ServingSimulation twice = simulated({}, 2.0);
  CHECK(twice.offered.raw() == near(40.0));
  CHECK(twice.metrics.arrived_per_s == doctest::Approx(40.0).epsilon(0.05));
  Texts open{"kind=serve",
             "model=llama3-8b",
             "hardware.gpu=h100-sxm-80gb",
             "hardware.gpus=6",
             "strategy.tp=2",
             "serving.weights=bf16",
             "traffic.rate=5 req/s",
             "traffic.requests=500",
             "traffic.prompt={mean=500}",
             "traffic.output={mean=50}"};
  const Scenario s = scenario_from_overrides(open, sources());
  const ServingSimulation answer = simulate_serving(std::get<ServeScenario>(s.question), s.money);
  CHECK(answer.replicas == 3);
  CHECK(answer.gpus == 6);
  CHECK_FALSE(answer.costs);
}
