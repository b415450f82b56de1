// SPDX-License-Identifier: Apache-2.0
// [traffic], [slo] and [fleet] of a serving question.
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "../support/scratch_folder.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::says;
using headroom::test::ScratchFolder;
using headroom::test::sources;

namespace {

Scenario question(const std::vector<std::string>& more) {
  std::vector<std::string> all{"kind=serve", "model=llama3.1-70b", "hardware.gpu=h100-sxm-80gb", "serving.weights=fp8",
                               "strategy.tp=4"};
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

const ServeScenario& serving(const Scenario& scenario) {
  return std::get<ServeScenario>(scenario.question);
}

/// Everything that is wrong, in one text.
std::string refusal(const std::vector<std::string>& more) {
  try {
    static_cast<void>(question(more));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

bool assumes(const Scenario& scenario, std::string_view text) {
  return std::any_of(scenario.assumptions.begin(), scenario.assumptions.end(),
                     [&](const std::string& note) { return says(note, text); });
}

}  // namespace

TEST_CASE("in a scenario a million requests a day are 11.574 a second, and bursts of ten times the rest 115.7") {
  const Scenario scenario =
      question({"traffic.rate=1e6 req/d", "serving.isl=1000", "serving.osl=100", "traffic.over_time.shape=bursts",
                "traffic.over_time.factor=10", "traffic.over_time.period=1 h", "traffic.over_time.length=36 s"});
  const ServingTraffic& traffic = *serving(scenario).traffic;
  CHECK(traffic.rate().raw() == doctest::Approx(11.574).epsilon(1e-4));
  // A hundredth of the time at ten times the rest: the rest is 1 / 1.09 of the mean.
  CHECK(traffic.classes[0].traffic.arrivals.curve.peak() == doctest::Approx(10.0 / 1.09).epsilon(1e-9));
}

TEST_CASE("what is not asked is told: arrivals, lengths, promises' spare replicas, the day's shape") {
  const Scenario scenario = question({"traffic.rate=5 req/s", "serving.isl=1000", "serving.osl=100"});
  CHECK(assumes(scenario, "traffic.arrivals = poisson (not stated)"));
  CHECK(assumes(scenario, "traffic.prompt: every request 1000 tokens (serving.isl)"));
  CHECK(assumes(scenario, "traffic.over_time = constant"));
  CHECK(assumes(scenario, "fleet.spare = 0"));
  CHECK_FALSE(serving(scenario).traffic->objectives_stated);
  CHECK(serving(scenario).work.gpus == 4);  // one replica, until the fleet is sized
}

TEST_CASE("lengths of classes are weighed by their rates, and the longest is of the longest class") {
  const Scenario scenario = question(
      {R"(traffic.class=[{name="chat", rate="3 req/s", prompt={mean=1000}, output={mean=200}, slo={ttft_p95="1 s"}},)"
       R"( {name="code", rate="1 req/s", prompt={mean=5000, law="uniform", low=0.5}, output={mean=600}}])",
       "slo.tpot_p99=50 ms"});
  const ServingTraffic& traffic = *serving(scenario).traffic;
  CHECK(traffic.rate().raw() == doctest::Approx(4.0));
  CHECK(traffic.lengths().prompt == doctest::Approx(2000.0));
  CHECK(traffic.lengths().output == doctest::Approx(300.0));
  CHECK(traffic.lengths().longest == 7500 + 600);
  // A class's own promises stand in place of the common ones.
  REQUIRE(traffic.classes.size() == 2);
  CHECK(traffic.classes[0].objectives.at(0).metric == LatencyMetric::ttft);
  CHECK(traffic.classes[1].objectives.at(0).metric == LatencyMetric::tpot);
  CHECK(traffic.classes[1].objectives.at(0).quantile == 0.99);
}

TEST_CASE("a load is the asked number of requests at the asked rate, and faster by the factor asked") {
  const Scenario scenario = question({"traffic.rate=20 req/s", "serving.isl=1000", "serving.osl=100"});
  const ServingTraffic& traffic = *serving(scenario).traffic;
  const RequestLoad load = traffic.load();
  CHECK(load.requests.size() == 20'000);
  const double seconds = seconds_of(load.requests.back().arrival);
  CHECK(seconds == doctest::Approx(1000.0).epsilon(0.03));
  // The same gaps, half as long.
  CHECK(seconds_of(traffic.load(2.0).requests.back().arrival) == doctest::Approx(0.5 * seconds).epsilon(1e-9));
}

TEST_CASE("a trace gives times and lengths, and its rate unless another is stated") {
  const ScratchFolder folder;
  const std::string file =
      folder.write("log.csv", "arrival_s,prompt_tokens,output_tokens\n0,100,10\n1,300,30\n4,200,20\n");
  const Scenario scenario = question({"traffic.trace=" + file, "traffic.requests=100"});
  const ServingTraffic& traffic = *serving(scenario).traffic;
  CHECK(traffic.rate().raw() == doctest::Approx(0.5));
  CHECK(traffic.lengths().prompt == doctest::Approx(200.0));
  CHECK(traffic.lengths().longest == 330);
  CHECK(traffic.load().requests.size() == 100);
  CHECK(serving(question({"traffic.trace=" + file, "traffic.rate=10 req/s"})).traffic->rate().raw() == 10.0);
  CHECK(says(refusal({"traffic.trace=" + file, "traffic.arrivals=gamma"}), "'arrivals' beside 'trace'"));

  folder.write("log.csv", "arrival_s,prompt_tokens,output_tokens\n5,100,10\n1,300,0\n-2,1,1\n");
  const std::string wrong = refusal({"traffic.trace=" + file});
  CHECK(says(wrong, file + ":3"));
  CHECK(says(wrong, file + ":4"));
  folder.write("log.csv", "arrival,prompt_tokens,output_tokens\n5,100,10\n");
  CHECK(says(refusal({"traffic.trace=" + file}), "arrival"));
}

TEST_CASE("loads that mean nothing are refused, all at once") {
  const std::string wrong =
      refusal({"traffic.rate=0 req/s", "traffic.arrivals=gamma", "traffic.prompt.mean=0", "traffic.output.mean=100",
               "traffic.output.most=50", "slo.ttft_p96=1 s", "fleet.routing=nearest", "serving.concurrency=4"});
  for (const std::string_view part :
       {"'rate' is '0 req/s'", "missing key 'cv'", "'most' is 50, below the mean of 100", "unknown key 'ttft_p96'",
        "'routing' is 'nearest'", "'concurrency' is a fixed load"}) {
    CAPTURE(part);
    CHECK(says(wrong, part));
  }
  CHECK(says(refusal({"traffic.rate=inf req/s", "serving.isl=1", "serving.osl=1"}), "not a finite number"));
  CHECK(says(refusal({"slo.ttft_p95=1 s", "serving.isl=1", "serving.osl=1", "hardware.gpus=4"}), "missing [traffic]"));
  CHECK(says(refusal({"traffic.rate=1 req/s"}), "missing [traffic.prompt]"));
}

TEST_CASE("GPUs that are stated are the fleet, its spare replicas among them") {
  const std::vector<std::string> load{"traffic.rate=1 req/s", "serving.isl=100", "serving.osl=10"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), load.begin(), load.end());
    return more;
  };
  CHECK(serving(question(with({"hardware.gpus=16"}))).fleet->replicas == 4);
  CHECK(serving(question(with({"hardware.gpus=16", "fleet.spare=1"}))).fleet->replicas == 3);
  CHECK_FALSE(serving(question(with({}))).fleet->replicas.has_value());
  CHECK(
      says(refusal(with({"hardware.gpus=16", "fleet.replicas=2"})), "are not the 4 replicas that hardware.gpus makes"));
  CHECK(says(refusal(with({"hardware.gpus=4", "fleet.spare=1"})), "nothing serves"));
}

TEST_CASE("a plan under a fixed load refuses requests that come when they come, and says who answers them") {
  const Scenario scenario = question({"traffic.rate=1 req/s", "serving.isl=100", "serving.osl=10"});
  CHECK_THROWS_WITH_AS(static_cast<void>(make_plan(scenario, false)), doctest::Contains("'headroom simulate' runs"),
                       ConfigError);
  CHECK(make_plan(scenario, false, PlanPart::memory).feasible());
}

TEST_CASE("spare replicas follow from failures: ten that are up 99 % of the time want two more for 99.9 %") {
  // All ten: 0.99^10. Of eleven at least ten: 0.99^11 + 11 x 0.01 x 0.99^10.
  CHECK(enough_up(10, 10, 0.99) == doctest::Approx(0.904382).epsilon(1e-6));
  CHECK(enough_up(10, 11, 0.99) == doctest::Approx(0.895338 + 0.099482).epsilon(1e-5));
  CHECK(spare_for(10, 0.99, 0.90) == 0);
  CHECK(spare_for(10, 0.99, 0.99) == 1);
  CHECK(spare_for(10, 0.99, 0.999) == 2);
  CHECK(spare_for(10, 1.0, 0.999) == 0);
  // 4 GPUs that fail every 4,000 h each and a replica preempted every 1,000 h: every 500 h, back in 5.
  const FleetFailures failures{Seconds{4000.0 * 3600.0}, Seconds{1000.0 * 3600.0}, Seconds{5.0 * 3600.0}, 0.999};
  CHECK(failures.up(4) == doctest::Approx(500.0 / 505.0).epsilon(1e-12));
  const std::string wrong = refusal({"traffic.rate=1 req/s", "serving.isl=100", "serving.osl=10", "fleet.spare=1",
                                     "fleet.failures.back=1 h", "fleet.failures.availability=0.99"});
  CHECK(says(wrong, "'spare' beside [fleet.failures]"));
  CHECK(says(wrong, "says of nothing how often it happens"));
}
