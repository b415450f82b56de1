// SPDX-License-Identifier: Apache-2.0
// Prefix caches, tiers below them and swapping, as a serving question states them.
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/scenarios/fleet/fleet_screen.hpp>
#include <headroom/scenarios/fleet/fleet_sizing.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>
#include <headroom/scenarios/traffic/kv_offload.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/scratch_folder.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using headroom::test::ScratchFolder;
using headroom::test::sources;
using test::near;

namespace {

using Texts = std::vector<std::string>;

Scenario question(const Texts& more) {
  Texts all{"kind=serve", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "strategy.tp=1", "serving.weights=bf16"};
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

Scenario grouped(const Texts& more) {
  Texts all{"traffic.rate=12 req/s",
            "traffic.requests=2500",
            "traffic.prompt={mean=3000}",
            "traffic.output={mean=60}",
            "traffic.prefix={groups=150, tokens=2048}",
            "fleet.replicas=2"};
  all.insert(all.end(), more.begin(), more.end());
  return question(all);
}

const ServeScenario& serving(const Scenario& scenario) {
  return std::get<ServeScenario>(scenario.question);
}

ServingSimulation simulated(const Scenario& scenario) {
  return simulate_serving(serving(scenario), scenario.money);
}

bool says(const std::vector<std::string>& notes, std::string_view part) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("bytes of a tier are blocks of the cache, and its bandwidth the time of one") {
  const Scenario scenario = grouped({"serving.kv_offload.cpu={capacity=\"100 GiB\", bandwidth=\"50 GB/s\"}",
                                     "serving.kv_offload.remote={capacity=\"1 TiB\", bandwidth=\"10 GB/s\", "
                                     "latency=\"2 ms\"}",
                                     "serving.preemption_mode=swap"});
  const ServeScenario& s = serving(scenario);
  const ServedReplica served = served_replica(s);
  const ServingFleet fleet = serving_fleet(s, served, 2);
  // K and V of 32 layers, 8 heads of 128 in 2 bytes: 131,072 bytes a token, 2 MiB a block of 16.
  CHECK(served.cache_per_token.raw() == near(131072.0));
  CHECK(fleet.tiers[0].blocks == 51'200);
  CHECK(fleet.tiers[0].per_block == picoseconds(2097152.0 / 50e9));
  CHECK_FALSE(fleet.tiers[0].all_replicas);
  CHECK(fleet.tiers[1].blocks == 0);
  CHECK(fleet.tiers[2].blocks == 524'288);
  CHECK(fleet.tiers[2].latency == picoseconds(2e-3));
  CHECK(fleet.tiers[2].all_replicas);
  const double link = host_link_of(s.device, s.host ? &*s.host : nullptr).value().raw();
  CHECK(fleet.pool.engine.rules.eviction == Eviction::swap);
  CHECK(fleet.pool.engine.swap_per_block == picoseconds(2097152.0 / link));
  CHECK(says(scenario.assumptions, "serving.kv_offload.cpu.latency = 0 s"));
  // A blank bandwidth of the host's memory is that of the links.
  const Scenario blank = grouped({"serving.kv_offload.cpu.capacity=100 GiB"});
  CHECK(serving(blank).fleet->kv_offload.bandwidth(0, 4).raw() == near(4.0 * link));
  CHECK(says(blank.assumptions, "serving.kv_offload.cpu.bandwidth = "));
}

TEST_CASE("without prefix caching an evicted sequence is computed again, whatever the engine keeps by default") {
  CHECK(serving(question({"traffic.rate=1 req/s", "traffic.prompt={mean=300}", "traffic.output={mean=60}"}))
            .engine.scheduler.remembers);
  CHECK_FALSE(serving(question({"traffic.rate=1 req/s", "traffic.prompt={mean=300}", "traffic.output={mean=60}",
                                "serving.prefix_caching=false"}))
                  .engine.scheduler.remembers);
}

TEST_CASE("host links: a part of its own on each attention rank, copies move no faster") {
  const ServeScenario s =
      serving(question({"traffic.rate=1 req/s", "traffic.prompt={mean=300}", "traffic.output={mean=60}"}));
  Architecture arch = s.architecture;  // eight KV heads
  CHECK(host_links(arch, {4, 1, 1}) == 4);
  CHECK(host_links(arch, {16, 1, 1}) == 8);
  CHECK(host_links(arch, {2, 3, 1}) == 6);
  arch.kv_heads = 1;
  CHECK(host_links(arch, {8, 1, 1}) == 1);
  CHECK(host_links(sources().models.find("deepseek-v3"), {8, 1, 1}) == 1);
}

TEST_CASE("prompts that share are computed in part, the rest is found, and a tier below finds more") {
  const ServingSimulation pool = simulated(grouped({}));
  REQUIRE(pool.prefixes);
  const PrefixMetrics& m = pool.prefixes->metrics;
  // 2,048 of 3,000 tokens are shared by all.
  CHECK(m.share(m.shareable) == near(2048.0 / 3000.0));
  CHECK(m.hit_share() > 0.05);
  CHECK(m.hit_share() < m.share(m.shareable));
  CHECK(pool.metrics.all.ttft.mean < pool.prefixes->ttft_without.mean);
  const ServingSimulation tiers =
      simulated(grouped({"serving.kv_offload.cpu={capacity=\"400 GB\", bandwidth=\"50 GB/s\"}"}));
  const PrefixMetrics& t = tiers.prefixes->metrics;
  CHECK(t.hit_share() > m.hit_share() + 0.02);
  CHECK(t.hit_share() < t.share(t.shareable));
  CHECK(t.tiers[0].tokens > 0);
  CHECK(tiers.prefixes->loaded[0].raw() == near(131072.0 * static_cast<double>(t.tiers[0].loaded)));
  CHECK(tiers.prefixes->text().find(" in cpu") != std::string::npos);
  CHECK_FALSE(says(tiers.notes, "computing one"));
  // A disk that is slower than the GPU is told, and so is one that cannot be written as fast as prompts are computed.
  const ServingSimulation slow =
      simulated(grouped({"serving.kv_offload.disk={capacity=\"4 TB\", bandwidth=\"0.5 GB/s\"}"}));
  CHECK(says(slow.notes, "serving.kv_offload.disk: loading a token takes 262 us, computing one"));
  CHECK(says(slow.notes, "serving.kv_offload.disk: to write what is computed takes"));
  // Saturation counts what is found.
  const ServingSimulation none = simulated(grouped({"serving.prefix_caching=false"}));
  CHECK_FALSE(none.prefixes);
  CHECK(pool.saturation.mid > none.saturation.mid);
}

TEST_CASE("the screen takes all that prompts share as found, and nothing where the engine keeps nothing") {
  const ServingTraffic shared = *serving(grouped({"traffic.prefix.share=0.5"})).traffic;
  CHECK(shared.lengths().computed == near(3000.0 - 1024.0));
  CHECK(screened_traffic(shared).cached_share == near(1024.0 / 3000.0));
  CHECK(shared.shares_prefixes());
  const ServingTraffic whole = *serving(grouped({"serving.prefix_caching=false"})).traffic;
  CHECK(whole.lengths().computed == near(3000.0));
  CHECK(screened_traffic(whole).cached_share == 0.0);
  CHECK(whole.load().prefixes.empty());
  const Scenario scenario = grouped({"slo.ttft_p95=1 s"});
  CHECK(says(scenario.assumptions, "serving.prefix_caching = true"));
  CHECK(says(scenario.assumptions, "traffic.prefix.zipf = 0"));
  // An idle replica is asked with the first of the requests, and with their ids alone.
  CHECK_FALSE(out_of_reach(serving(scenario), served_replica(serving(scenario))).at_middle);
}

TEST_CASE("hash ids of a log are ids of the load, and a log that is run through again shares nothing with itself") {
  std::string rows;
  for (int i = 0; i < 60; ++i) {
    rows += R"({"timestamp": )" + std::to_string(500 * i) +
            R"(, "input_length": 1600, "output_length": 4, "hash_ids": [)" + std::to_string(i % 3) + ", " +
            std::to_string(10 + i) + "]}\n";
  }
  const ScratchFolder folder;
  const Texts log{"traffic.trace=" + folder.write("log.jsonl", rows), "traffic.requests=120", "fleet.replicas=1"};
  const ServingTraffic traffic = *serving(question(log)).traffic;
  const RequestLoad load = traffic.load();
  REQUIRE(load.requests.size() == 120);
  CHECK(load.prefixes.distinct == 6);
  CHECK(load.prefixes.of(4).size() == 1);
  CHECK(load.prefixes.of(4)[0] == 1);
  CHECK(load.prefixes.of(64)[0] == 4);
  CHECK(load.requests[4].cached_tokens == 0);
  // The screen's: all but the first of each, of a cache without an end.
  CHECK(traffic.lengths().computed == near(1600.0 - 512.0 * 57.0 / 60.0));
  const Texts off{log[0], log[1], log[2], "serving.prefix_caching=false"};
  CHECK(serving(question(off)).traffic->load().prefixes.empty());
  CHECK(serving(question(off)).traffic->lengths().computed == near(1600.0));
}
