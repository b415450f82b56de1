// SPDX-License-Identifier: Apache-2.0
// Sessions of several turns: their load, what prefix caches find of them, and the closed form of that.
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/screen/session_hits.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/prefix_metrics.hpp>
#include <headroom/model/serve/simulation/saturation.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "serving_tables.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace headroom;
using test::near;

namespace {

constexpr std::int64_t ms = 1'000'000'000;
constexpr std::int64_t block = 16;

IterationTables usual() {
  return test::simple_tables({5 * ms, ms / 10, ms / 100, 100, 0});
}

ServingFleet fleet_of(const IterationTables& tables, std::int64_t replicas, std::int64_t blocks) {
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.replicas = replicas;
  fleet.pool.engine.max_num_seqs = 64;
  fleet.pool.engine.max_num_tokens = 2048;
  fleet.pool.engine.block_tokens = block;
  fleet.pool.engine.blocks = blocks;
  return fleet;
}

TrafficClass chats(double rate, std::int64_t turns, double think) {
  TrafficClass one;
  one.arrivals.rate = Hertz{rate};
  one.prompt = {.shape = LengthShape::uniform, .mean = 400, .low = 0.5};
  one.output = {.shape = LengthShape::uniform, .mean = 50, .low = 0.5};
  one.turns = turns;
  one.think = Seconds{think};
  return one;
}

RequestLoad load_of(const TrafficClass& one, std::int64_t count = 4000) {
  return open_load({&one, 1}, count, 1);
}

double hit_share(const ServingFleet& fleet, const RequestLoad& load) {
  REQUIRE(problems(fleet, load).empty());
  return prefix_metrics(load, simulate(fleet, load), load.filling).hit_share();
}

std::int64_t whole_blocks(std::int64_t tokens) {
  return tokens / block * block;
}

}  // namespace

TEST_CASE("a turn's prompt holds what its session asked and was answered, and comes a pause after the answer") {
  const IterationTables tables = usual();
  const ServingFleet fleet = fleet_of(tables, 3, 100'000);
  const RequestLoad load = load_of(chats(20.0, 5, 2.0));
  REQUIRE(problems(fleet, load).empty());
  const FleetResult result = simulate(fleet, load);
  std::int64_t followed = 0;
  double pauses = 0.0;
  for (std::size_t i = 0; i < load.requests.size(); ++i) {
    const std::uint32_t before = load.turns.previous[i];
    const RequestTimes& times = result.requests[i];
    if (before == SessionTurns::none) {
      CHECK(times.arrival == load.requests[i].arrival);
      CHECK(load.requests[i].prompt_tokens <= 600);
      continue;
    }
    ++followed;
    pauses += seconds_of(load.turns.pause[i]);
    const Request& last = load.requests[before];
    const std::int64_t fresh = load.requests[i].prompt_tokens - last.prompt_tokens - last.output_tokens;
    REQUIRE(fresh >= 200);
    REQUIRE(fresh <= 600);
    REQUIRE(times.arrival == result.requests[before].finished + load.turns.pause[i]);
    REQUIRE(times.replica == result.requests[before].replica);  // a session keeps to its replica
  }
  CHECK(followed > 3000);
  CHECK(pauses / static_cast<double>(followed) == near(2.0, 0.05));
  CHECK(result.unanswered == 0);
  // The rate is that of turns.
  const double span = seconds_of(load.requests.back().arrival);
  const auto filling = static_cast<std::size_t>(load.filling);
  const double since = span - seconds_of(load.requests[filling].arrival);
  CHECK(static_cast<double>(load.requests.size() - filling) / since == near(20.0, 0.02));
}

TEST_CASE("with room for all, a turn finds all whole blocks that its session left") {
  const IterationTables tables = usual();
  const ServingFleet fleet = fleet_of(tables, 2, 1'000'000);
  const RequestLoad load = load_of(chats(20.0, 6, 3.0));
  REQUIRE(problems(fleet, load).empty());
  const FleetResult result = simulate(fleet, load);
  double asked = 0.0;
  double found = 0.0;
  for (std::size_t i = 0; i < load.requests.size(); ++i) {
    const std::uint32_t before = load.turns.previous[i];
    // The last token of an answer is never computed.
    const std::int64_t left = before == SessionTurns::none
                                  ? 0
                                  : load.requests[before].prompt_tokens + load.requests[before].output_tokens - 1;
    REQUIRE(result.hits[i].pool == whole_blocks(left));
    asked += load.requests[i].prompt_tokens;
    found += static_cast<double>(left);
  }
  const SessionFlow flow{Hertz{10.0}, 6, 400.0, 50.0, Seconds{3.0}, Seconds{}};
  const SessionHits all = session_hits({&flow, 1}, std::numeric_limits<double>::infinity());
  CHECK(std::isinf(all.kept.raw()));
  CHECK(all.found == near((2.5 * 450.0 - 5.0 / 6.0) / (2.5 * 450.0 + 400.0)));
  CHECK(found / asked == near(all.found, 0.02));
}

TEST_CASE("of engines that compute prompts alone a turn finds no answer that no later prompt held") {
  SessionFlow flow{Hertz{10.0}, 6, 400.0, 50.0, Seconds{3.0}, Seconds{}};
  flow.answers_kept = false;
  const SessionHits all = session_hits({&flow, 1}, std::numeric_limits<double>::infinity());
  CHECK(all.found == near((2.5 * 450.0 - 50.0 * 5.0 / 6.0) / (2.5 * 450.0 + 400.0)));
}

TEST_CASE("what is found of sessions falls with longer pauses and smaller pools, as Che's approximation says") {
  const IterationTables tables = usual();
  const double rate = 10.0;
  const std::int64_t turns = 6;
  double last = 1.0;
  for (const double think : {1.0, 10.0, 30.0, 100.0, 1000.0}) {
    CAPTURE(think);
    const ServingFleet fleet = fleet_of(tables, 1, 8'000);
    const RequestLoad load = load_of(chats(rate, turns, think), 8000);
    const FleetResult result = simulate(fleet, load);
    const ServingMetrics metrics = serving_metrics(load, result, {}, load.filling);
    const double hits = prefix_metrics(load, result, load.filling).hit_share();
    const SessionFlow flow{Hertz{rate}, turns, 400.0, 50.0, Seconds{think}, metrics.all.queue.mean};
    const double spare = (1.0 - metrics.pool.kv_mean) * 8'000 * block;
    CHECK(hits == doctest::Approx(session_hits({&flow, 1}, spare).found).epsilon(0.03));
    CHECK(hits < last);
    last = hits;
  }
  CHECK(last < 0.05);
  last = 0.0;
  for (const std::int64_t blocks : {300, 1'500, 4'000, 200'000}) {
    CAPTURE(blocks);
    const double hits = hit_share(fleet_of(tables, 1, blocks), load_of(chats(2.0, turns, 20.0)));
    CHECK(hits > last);
    last = hits;
  }
}

TEST_CASE("a pool that holds one session at a time finds nothing of another's") {
  const IterationTables tables = usual();
  // Two sessions of two turns by turns: 30 blocks hold the longer prompt and nothing beside it.
  TrafficClass one = chats(1.0, 2, 0.0);
  one.prompt = {.mean = 160};
  one.output = {.mean = 17};
  RequestLoad load = whole_sessions({&one, 1}, 4, 1);
  load.requests[2].arrival = Picoseconds{400 * ms};
  load.requests[3].arrival = Picoseconds{400 * ms};
  load.turns.pause[1] = Picoseconds{10'000 * ms};
  load.turns.pause[3] = Picoseconds{20'000 * ms};
  for (const auto& [blocks, first, second] : std::vector<std::array<std::int32_t, 3>>{{22, 0, 0}, {1000, 176, 176}}) {
    CAPTURE(blocks);
    const ServingFleet fleet = fleet_of(tables, 1, blocks);
    REQUIRE(problems(fleet, load).empty());
    const FleetResult result = simulate(fleet, load);
    CHECK(result.unanswered == 0);
    // Its tail goes first: what the other session wanted is of the end of what was left.
    CHECK(result.hits[1].pool == first);
    CHECK(result.hits[3].pool == second);
  }
}

TEST_CASE("prompts on engines of their own find what was asked again, but no answers") {
  const IterationTables tables = usual();
  ServingFleet fleet = fleet_of(tables, 2, 100'000);
  fleet.prefill = fleet.pool;
  const RequestLoad load = load_of(chats(10.0, 4, 1.0), 1000);
  REQUIRE(problems(fleet, load).empty());
  const FleetResult result = simulate(fleet, load);
  double asked = 0.0;
  double found = 0.0;
  for (std::size_t i = 0; i < load.requests.size(); ++i) {
    const std::uint32_t before = load.turns.previous[i];
    const std::int64_t left = before == SessionTurns::none ? 0 : load.requests[before].prompt_tokens;
    REQUIRE(result.hits[i].pool == whole_blocks(left));
    asked += load.requests[i].prompt_tokens;
    found += static_cast<double>(left);
  }
  const SessionFlow flow{Hertz{10.0}, 4, 400.0, 50.0, Seconds{1.0}, Seconds{}, false};
  CHECK(found / asked == near(session_hits({&flow, 1}, std::numeric_limits<double>::infinity()).found, 0.05));
}

TEST_CASE("one turn is a request like any other, whatever the pause") {
  TrafficClass one = chats(10.0, 1, 7.0);
  const RequestLoad load = load_of(one, 500);
  CHECK(load.turns.empty());
  CHECK(load.prefixes.empty());
  CHECK(load.filling == 0);
  CHECK(load.requests.size() == 500);
  // Beside a class with turns it has neither ids nor a turn before or after it.
  const std::vector<TrafficClass> both{one, chats(10.0, 3, 1.0)};
  const RequestLoad mixed = open_load(both, 2000, 1);
  const IterationTables tables = usual();
  REQUIRE(problems(fleet_of(tables, 1, 10'000), mixed).empty());
  std::int64_t alone = 0;
  std::vector<Request> first;
  for (std::size_t i = 0; i < mixed.requests.size(); ++i) {
    if (mixed.requests[i].service_class == 0) {
      ++alone;
      first.push_back(mixed.requests[i]);
      CHECK(mixed.prefixes.of(i).empty());
      CHECK(mixed.turns.next[i] == SessionTurns::none);
      CHECK(mixed.turns.previous[i] == SessionTurns::none);
    }
  }
  CHECK(alone > 900);
  for (std::size_t i = 0; i < 500; ++i) {  // and its lengths and times are its own
    CHECK(first[i].arrival == load.requests[i].arrival);
    CHECK(first[i].prompt_tokens == load.requests[i].prompt_tokens);
  }
}

TEST_CASE("sessions behind a system prompt find it from their first turn on") {
  TrafficClass one = chats(10.0, 4, 1.0);
  one.prefixes = {.groups = 1, .tokens = 128};
  const RequestLoad load = load_of(one, 1000);
  const IterationTables tables = usual();
  const ServingFleet fleet = fleet_of(tables, 1, 100'000);
  REQUIRE(problems(fleet, load).empty());
  const FleetResult result = simulate(fleet, load);
  for (std::size_t i = 20; i < load.requests.size(); ++i) {
    CHECK(result.hits[i].pool >= 128);
  }
}

TEST_CASE("sessions that come faster than they are served are an overload") {
  const IterationTables tables = usual();
  const ServingFleet fleet = fleet_of(tables, 1, 100'000);
  const TrafficClass one = chats(1.0, 5, 2.0);
  RequestLoad closed = whole_sessions({&one, 1}, 3000, 1, 40);
  closed.concurrency = 40;
  REQUIRE(problems(fleet, closed).empty());
  const FleetResult busy = simulate(fleet, closed);
  CHECK(busy.unanswered == 0);
  const double most = finish_rate(busy).raw();
  // No client has two requests under way.
  std::vector<std::pair<Picoseconds, int>> steps;
  for (const RequestTimes& times : busy.requests) {
    steps.emplace_back(times.arrival, 1);
    steps.emplace_back(times.finished, -1);
  }
  std::sort(steps.begin(), steps.end());
  int under_way = 0;
  for (const auto& [time, step] : steps) {
    under_way += step;
    REQUIRE(under_way <= 40);
  }
  for (const double share : {0.7, 1.5}) {
    CAPTURE(share);
    const RequestLoad load = load_of(chats(share * most, 5, 2.0), 6000);
    const ServingMetrics metrics = serving_metrics(load, simulate(fleet, load), {}, load.filling);
    CHECK(metrics.overloaded == (share > 1.0));
  }
}

TEST_CASE("slow answers at a rate that is served are no overload, however short the load") {
  // 100 ms a token, not the 30 that turns are planned with: sessions are still filling up when the load ends.
  const IterationTables tables = test::simple_tables({100 * ms, ms / 100, ms / 1000, 100, 0});
  const ServingFleet fleet = fleet_of(tables, 4, 1'000'000);
  const RequestLoad load = load_of(chats(10.0, 10, 2.0), 600);
  REQUIRE(problems(fleet, load).empty());
  const ServingMetrics metrics = serving_metrics(load, simulate(fleet, load), {}, load.filling);
  CHECK_FALSE(metrics.overloaded);
}

TEST_CASE("loads fill up for as long as answers at the replica's own pace last") {
  TrafficClass one = chats(10.0, 10, 2.0);
  const std::int64_t usual_pace = load_of(one).filling;
  CHECK(usual_pace == static_cast<std::int64_t>(0.5 * 10.0 * 9.0 * (2.0 + 50.0 * 0.03)));
  one.token = Seconds{0.1};
  const RequestLoad load = load_of(one, 3000);
  CHECK(load.filling == static_cast<std::int64_t>(0.5 * 10.0 * 9.0 * (2.0 + 50.0 * 0.1)));
  // At that pace the rate of turns is reached when the counted ones begin: as many come in their first half as in the
  // second.
  const IterationTables tables = test::simple_tables({95 * ms, ms / 100, ms / 1000, 100, 0});
  const ServingFleet fleet = fleet_of(tables, 4, 1'000'000);
  REQUIRE(problems(fleet, load).empty());
  const FleetResult result = simulate(fleet, load);
  std::vector<Picoseconds> counted;
  for (std::size_t i = static_cast<std::size_t>(load.filling); i < result.requests.size(); ++i) {
    counted.push_back(result.requests[i].arrival);
  }
  std::sort(counted.begin(), counted.end());
  const double half = seconds_of(counted[counted.size() / 2] - counted.front());
  CHECK(half / seconds_of(counted.back() - counted.front()) == near(0.5, 0.1));
}

TEST_CASE("sessions have ids for the turns that are in the load, and no more of a load that is cut") {
  RequestLoad load = load_of(chats(1.0, 100, 10.0), 1000);
  CHECK(load.prefixes.distinct <= 2 * load.requests.size());
  load.keep(300);
  CHECK(load.prefixes.distinct <= 600);
  CHECK(load.prefixes.tokens.size() == load.prefixes.distinct);
  const IterationTables tables = usual();
  const ServingFleet fleet = fleet_of(tables, 1, 100'000);
  REQUIRE(problems(fleet, load).empty());
  const FleetResult result = simulate(fleet, load);
  for (std::size_t i = 0; i < load.requests.size(); ++i) {
    const std::uint32_t before = load.turns.previous[i];
    if (before != SessionTurns::none) {
      const Request& last = load.requests[before];
      REQUIRE(result.hits[i].pool == whole_blocks(last.prompt_tokens + last.output_tokens - 1));
    }
  }
}

TEST_CASE("of fewer clients than turns each begins at another, from the first to the last") {
  const TrafficClass one = chats(1.0, 100, 1.0);
  const RequestLoad load = whole_sessions({&one, 1}, 1000, 1, 10);
  std::vector<std::int64_t> sent;
  for (std::size_t i = 0; i < load.requests.size(); ++i) {
    if (load.turns.previous[i] == SessionTurns::none) {
      sent.push_back(0);
    }
    ++sent.back();
  }
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(sent[i] == 100 - 10 * static_cast<std::int64_t>(i));
  }
}

TEST_CASE("sessions that open all at once, or in bursts of no length, have times") {
  TrafficClass one = chats(std::numeric_limits<double>::infinity(), 3, 0.0);
  TrafficClass bursts = chats(10.0, 3, 0.0);
  bursts.arrivals.gaps = GapShape::gamma;
  bursts.arrivals.cv = 100.0;
  for (const TrafficClass& traffic : {one, bursts}) {
    REQUIRE(problems({&traffic, 1}).empty());
    const RequestLoad load = load_of(traffic, 50);
    CHECK(load.requests.size() >= 50);
    for (const Request& request : load.requests) {
      CHECK(request.arrival >= Picoseconds{0});
    }
  }
}

TEST_CASE("a load that is cut short sends no turn that is no longer in it") {
  RequestLoad load = load_of(chats(20.0, 5, 2.0), 1000);
  load.keep(300);
  const IterationTables tables = usual();
  const ServingFleet fleet = fleet_of(tables, 1, 100'000);
  REQUIRE(problems(fleet, load).empty());
  CHECK(simulate(fleet, load).unanswered == 0);
}

TEST_CASE("sessions that cannot be are refused with the way out") {
  std::vector<TrafficClass> classes(4, chats(1.0, 3, 1.0));
  classes[0].turns = 0;
  classes[1].think = Seconds{-1.0};
  classes[2].cached_share = 0.5;
  const std::vector<std::string> found = problems(classes);
  REQUIRE(found.size() == 3);
  CHECK(found[0].find("1 to 1000") != std::string::npos);
  CHECK(found[1].find("from 0 s to") != std::string::npos);
  CHECK(found[2].find("leave one out") != std::string::npos);
  RequestLoad load = load_of(classes[3], 100);
  const IterationTables tables = usual();
  RequestLoad strange = load;
  strange.prefixes.answer[0] = strange.prefixes.distinct;
  REQUIRE(problems(fleet_of(tables, 1, 10'000), strange).size() == 1);
  load.turns.next[5] = 2;
  const std::vector<std::string> wrong = problems(fleet_of(tables, 1, 10'000), load);
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].find("earlier one") != std::string::npos);
}
