// SPDX-License-Identifier: Apache-2.0
// Requests with turns, as a serving question states them.
#include <headroom/scenarios/fleet/fleet_screen.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/serving/session_pace.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using headroom::test::sources;
using test::near;

namespace {

using Texts = std::vector<std::string>;

Scenario question(const Texts& more) {
  Texts all{"kind=serve",
            "model=llama3.1-8b",
            "hardware.gpu=h100-sxm-80gb",
            "strategy.tp=1",
            "serving.isl=2000",
            "serving.osl=200",
            "serving.weights=bf16",
            "traffic.rate=4 req/s",
            "traffic.turns=6",
            "traffic.requests=3000",
            "fleet.replicas=1"};
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

const ServeScenario& serving(const Scenario& scenario) {
  return std::get<ServeScenario>(scenario.question);
}

ServingSimulation simulated(const Texts& more) {
  const Scenario scenario = question(more);
  return simulate_serving(serving(scenario), scenario.money);
}

bool says(const std::vector<std::string>& notes, std::string_view part) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("turns are read: new tokens, whole prompts, sessions at a part of the rate") {
  const Scenario scenario = question({"traffic.think=10 s"});
  const ServingTraffic& traffic = *serving(scenario).traffic;
  CHECK(traffic.has_turns());
  CHECK(traffic.rate() == Hertz{4.0});
  const ServingTraffic::Lengths lengths = traffic.lengths();
  CHECK(lengths.prompt == near(2000.0 + 2.5 * 2200.0));
  CHECK(lengths.output == near(200.0));
  CHECK(lengths.longest == 6 * 2200);
  CHECK(lengths.longest_prompt == 6 * 2000 + 5 * 200);
  CHECK(lengths.computed == near(2000.0 + 5.0 / 6.0));
  CHECK(says(scenario.assumptions, "traffic.turns = 6: the lengths of prompts are what a turn brings"));
  CHECK_FALSE(says(scenario.assumptions, "traffic.think"));
  CHECK(says(question({}).assumptions, "traffic.think = 0 s: the next turn comes with the answer"));
  const ServingTraffic off = *serving(question({"serving.prefix_caching=false"})).traffic;
  CHECK(off.lengths().computed == near(7500.0));
  CHECK(off.load().prefixes.empty());
  CHECK_FALSE(off.load().turns.empty());
}

TEST_CASE("a session's pauses and its cache decide what is found and what a replica answers") {
  const ServingSimulation quick = simulated({"traffic.think=1 s"});
  const ServingSimulation slow = simulated({"traffic.think=300 s"});
  const ServingSimulation none = simulated({"traffic.think=1 s", "serving.prefix_caching=false"});
  REQUIRE(quick.sessions.size() == 1);
  const SessionFacts& facts = quick.sessions.front();
  CHECK(facts.sessions_per_s.raw() == near(4.0 / 6.0));
  CHECK(facts.prompt == near(7500.0));
  // Little's law: six answers and five pauses each.
  const double lasts = 6.0 * quick.metrics.all.e2e.mean.raw() + 5.0;
  CHECK(facts.open == near(4.0 / 6.0 * lasts));
  const double found = quick.prefixes->metrics.hit_share();
  CHECK(found == near(5500.0 / 7500.0, 0.01));
  CHECK(found == near(facts.found, 0.02));
  CHECK(slow.prefixes->metrics.hit_share() < 0.5 * found);
  CHECK(slow.prefixes->metrics.hit_share() == doctest::Approx(slow.sessions.front().found).epsilon(0.04));
  CHECK_FALSE(none.prefixes);
  CHECK(says(none.notes, "every prompt is computed whole"));
  CHECK(quick.saturation.mid > 1.3 * none.saturation.mid);
  CHECK(quick.saturation.mid > slow.saturation.mid);
  CHECK(slow.saturation.mid >= 0.9 * none.saturation.mid);
}

TEST_CASE("a replica keeps up with sessions just below the rate at which it saturates, and not far above it") {
  const ServingSimulation asked = simulated({"traffic.think=5 s"});
  const double most = asked.saturation.mid.raw();
  CHECK_FALSE(simulated({"traffic.think=5 s", "traffic.rate=" + std::to_string(0.85 * most)}).overloaded());
  CHECK(simulated({"traffic.think=5 s", "traffic.rate=" + std::to_string(1.4 * most)}).overloaded());
}

TEST_CASE("sessions fill up at the replica's own pace, which its load slows") {
  const auto pace = [](const Texts& more, std::int64_t replicas = 1) {
    const Scenario scenario = question(more);
    return session_pace(serving(scenario), served_replica(serving(scenario)), replicas);
  };
  const std::vector<Seconds> alone = pace({"traffic.think=10 s", "traffic.rate=0.1 req/s"});
  REQUIRE(alone.size() == 1);
  const ServingSimulation run = simulated({"traffic.think=10 s", "traffic.rate=0.1 req/s", "traffic.requests=400"});
  CHECK(alone.front().raw() == near(run.metrics.all.tpot.mean.raw(), 0.1));
  const Texts load{"traffic.think=10 s", "traffic.rate=3.5 req/s"};
  const ServingSimulation busy = simulated(load);
  const Seconds loaded = pace(load).front();
  CHECK(loaded.raw() == near(busy.metrics.all.tpot.mean.raw(), 0.25));
  CHECK(loaded > alone.front());
  CHECK(pace(load, 4).front() < loaded);
  CHECK(pace({"traffic.turns=1"}).empty());
  CHECK(busy.load.filling == static_cast<std::int64_t>(0.5 * 3.5 * 5.0 * (10.0 + 200.0 * loaded.raw())));
}

TEST_CASE("the screen takes what closed forms find of sessions") {
  const auto share = [](const std::string& think) {
    const Scenario scenario = question({"traffic.think=" + think});
    const ServedReplica served = served_replica(serving(scenario));
    return screened_traffic(serving(scenario), served).cached_share;
  };
  const double most = screened_traffic(*serving(question({})).traffic).cached_share;
  CHECK(most == near(5500.0 / 7500.0, 0.01));
  CHECK(share("1 s") == near(most, 0.01));
  CHECK(share("300 s") < 0.6 * most);
}

TEST_CASE("sessions are the same from run to run") {
  const ServingSimulation a = simulated({"traffic.think=20 s"});
  const ServingSimulation b = simulated({"traffic.think=20 s"});
  REQUIRE(a.result.requests.size() == b.result.requests.size());
  for (std::size_t i = 0; i < a.result.requests.size(); ++i) {
    REQUIRE(a.result.requests[i].finished == b.result.requests[i].finished);
  }
}
