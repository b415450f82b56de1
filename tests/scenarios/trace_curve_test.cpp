// SPDX-License-Identifier: Apache-2.0
// A trace over its time: its curve, the fleet of its fullest part, the floor below what follows it, and what a cold
// start is made of.
#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>
#include <headroom/scenarios/fleet/fleet_following.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/traffic/trace_curve.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "../support/scratch_folder.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::says;
using headroom::test::ScratchFolder;
using headroom::test::sources;

namespace {

using Texts = std::vector<std::string>;

std::vector<Request> at_times(const std::vector<double>& seconds) {
  std::vector<Request> trace;
  for (const double second : seconds) {
    trace.emplace_back().arrival = picoseconds(second);
  }
  return trace;
}

/// A log in a folder of its own.
class Log {
 public:
  explicit Log(const std::string& rows)
      : path_{folder_.write("log.csv", "arrival_s,prompt_tokens,output_tokens\n" + rows)} {}
  [[nodiscard]] std::string stated() const { return "traffic.trace=" + path_; }

 private:
  ScratchFolder folder_;
  std::string path_;
};

/// So many requests in each 10 s, evenly spaced, the last of them at the end.
std::string even_rows(const std::vector<int>& counts) {
  std::string rows;
  for (std::size_t part = 0; part < counts.size(); ++part) {
    for (int i = 0; i < counts[part]; ++i) {
      const bool last = part + 1 == counts.size() && i + 1 == counts[part];
      const double at = 10.0 * static_cast<double>(part) + 10.0 * (last ? 1.0 : i / static_cast<double>(counts[part]));
      rows += std::to_string(at) + ",1000,200\n";
    }
  }
  return rows;
}

Texts question(const Texts& more) {
  Texts all{"kind=serve",           "confidence=0.9", "model=llama3-8b",     "hardware.gpu=h100-sxm-80gb",
            "serving.weights=bf16", "strategy.tp=1",  "slo.ttft_p95=500 ms", "slo.tpot_p95=30 ms"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

FleetPlan plan(const Texts& more) {
  return plan_fleet(read_fleet(scenario_tree(question(more)), "command line", sources()), {1});
}

Scenario read(const Texts& more) {
  return scenario_from_overrides(question(more), sources());
}

std::string refusal(const Texts& more) {
  try {
    static_cast<void>(read(more));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

const ServingTraffic& traffic_of(const Scenario& scenario) {
  return *std::get<ServeScenario>(scenario.question).traffic;
}

bool notes_say(const std::vector<std::string>& notes, const std::string& text) {
  return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) { return says(note, text); });
}

}  // namespace

TEST_CASE("a trace's parts, by hand: 6, 0 and 2 requests of 30 s are rates of 2.25, 0 and 0.75 times the mean") {
  const std::vector<Request> trace = at_times({5.0, 6.0, 8.0, 9.0, 11.0, 14.0, 26.0, 35.0});
  CHECK(counts_of(trace, 3) == std::vector<std::int64_t>{6, 0, 2});
  const LoadCurve curve = curve_of(trace, Seconds{60.0}, 3);  // told in half the trace's rate
  CHECK_FALSE(curve.repeats);
  CHECK(curve.period.raw() == 60.0);
  REQUIRE(curve.points.size() == 6);
  CHECK(curve.at(Seconds{10.0}).raw() == doctest::Approx(2.25));
  CHECK(curve.at(Seconds{30.0}).raw() == 0.0);
  CHECK(curve.at(Seconds{59.0}).raw() == doctest::Approx(0.75));
  CHECK(curve.peak().raw() == doctest::Approx(2.25));
}

TEST_CASE("a trace at one rate, by hand: each part takes the time of its share of the requests, and gaps in it scale") {
  const std::vector<Request> trace = at_times({5.0, 6.0, 8.0, 9.0, 11.0, 14.0, 26.0, 35.0});
  const std::vector<Request> level = at_one_rate(trace, 3);
  // The first 10 s have 6 of 8 requests: they take 22.5 s; the last 10 s have 2, and take 7.5.
  const std::array<double, 8> expected{5.0, 7.25, 11.75, 14.0, 18.5, 25.25, 28.25, 35.0};
  REQUIRE(level.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(seconds_of(level[i].arrival) == doctest::Approx(expected[i]));
  }
  CHECK(rate_of(level).raw() == doctest::Approx(rate_of(trace).raw()));
  CHECK(counts_of(at_one_rate(trace, 1), 1) == counts_of(trace, 1));
}

TEST_CASE("parts of a trace: a minute at least, 50 requests on average, 1440 at most, or as stated") {
  CHECK(bins_of(1'000'000, Seconds{86400.0}, std::nullopt) == 1440);
  CHECK(bins_of(1'000'000, Seconds{3600.0}, std::nullopt) == 60);
  CHECK(bins_of(600, Seconds{3600.0}, std::nullopt) == 12);
  CHECK(bins_of(49, Seconds{3600.0}, std::nullopt) == 1);
  CHECK(bins_of(1'000'000, Seconds{30.0}, std::nullopt) == 1);
  CHECK(bins_of(100, Seconds{30.0}, Seconds{10.0}) == 3);
  CHECK(bins_of(100, Seconds{3600.0}, Seconds{7.0 * 60.0}) == 9);  // 8.6
}

TEST_CASE("a trace has a curve where somebody follows it, scaled to a stated rate, without that it is as it was") {
  const Log log{even_rows({20, 160, 40})};
  const Texts plain{log.stated(), "traffic.requests=200"};
  CHECK_FALSE(traffic_of(read(plain)).day);
  CHECK(traffic_of(read(plain)).traced->bins == 0);
  Texts binned = plain;
  binned.emplace_back("traffic.bin=10 s");
  const Scenario asked = read(binned);
  const ServingTraffic& traffic = traffic_of(asked);
  REQUIRE(traffic.day);
  CHECK(traffic.traced->bins == 3);
  const double mean = 219.0 / 30.0;
  CHECK(traffic.rate().raw() == doctest::Approx(mean));
  CHECK(traffic.day->peak().raw() == doctest::Approx(mean * 3.0 * 160.0 / 220.0));
  CHECK(notes_say(asked.assumptions, "(20 to 160 in one)"));
  const ServingTraffic peak = traffic.at_peak();
  CHECK(peak.rate().raw() == doctest::Approx(traffic.day->peak().raw()));
  CHECK(rate_of(peak.load().requests).raw() == doctest::Approx(peak.rate().raw()).epsilon(0.02));
  // Twice the rate: the same parts in half the time.
  binned.emplace_back("traffic.rate=" + std::to_string(2.0 * mean) + " req/s");
  binned[2] = "traffic.bin=5 s";
  const Scenario faster = read(binned);
  CHECK(traffic_of(faster).traced->bins == 3);
  CHECK(traffic_of(faster).day->period.raw() == doctest::Approx(15.0));
  CHECK(traffic_of(faster).day->peak().raw() == doctest::Approx(2.0 * traffic.day->peak().raw()));
}

TEST_CASE("traces and parts that mean nothing are refused, with the way out") {
  const Log log{even_rows({20, 160, 40})};
  CHECK(says(refusal({log.stated(), "traffic.bin=1 h"}), "of this trace of 30.0 s it must be"));
  CHECK(says(refusal({log.stated(), "traffic.bin=1 ms"}), "it must be 3.00 ms to 30.0 s"));
  CHECK(says(refusal({"traffic.rate=1 req/s", "serving.isl=100", "serving.osl=10", "traffic.bin=1 min"}),
             "'bin' without 'trace'"));
  const Log at_once{"1,100,10\n1,100,10\n1,100,10\n"};
  CHECK(says(refusal({at_once.stated(), "traffic.rate=1 req/s", "fleet.autoscale.cold_start=5 min"}),
             "all requests arrive at one time, and have no rate that changes"));
}

TEST_CASE("the floor of a three-part trace is, part by part, the fleet that its rate alone is sized to") {
  const Log log{even_rows({200, 1600, 400})};
  const FleetPlan followed = plan({log.stated(), "traffic.bin=10 s", "traffic.requests=2000",
                                   "fleet.autoscale.cold_start=2 s", "fleet.autoscale.target=0.6"});
  REQUIRE(followed.feasible());
  REQUIRE(followed.autoscaling);
  const Autoscaling& a = *followed.autoscaling;
  REQUIRE(a.floor);
  REQUIRE(a.floor->units.size() % 3 == 0);
  const std::size_t part = a.floor->units.size() / 3;
  const double scale = 2199.0 / 2200.0;
  double hours = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double rate = scale * std::array{20.0, 160.0, 40.0}[i];
    const FleetPlan alone = plan({"traffic.rate=" + std::to_string(rate) + " req/s", "traffic.arrivals=constant",
                                  "serving.isl=1000", "serving.osl=200", "traffic.requests=2000"});
    REQUIRE(alone.feasible());
    const std::int64_t replicas = alone.options.front().sized->replicas;
    for (std::size_t step = i * part; step < (i + 1) * part; ++step) {
      CHECK(a.floor->units[step] == replicas);
    }
    hours += 10.0 / 3600.0 * static_cast<double>(replicas);
  }
  CHECK(a.floor->gpu_hours == doctest::Approx(hours));
  CHECK(followed.floor_sizes.size() == 3);
  CHECK(a.fixed.most == a.floor->most);
  CHECK(a.floor->gpu_hours < a.fixed.gpu_hours);
  CHECK(a.fixed.gpu_hours == doctest::Approx(30.0 / 3600.0 * static_cast<double>(a.fixed.most)));
}

TEST_CASE("a burst shorter than the cold start: more replicas do not help, and the answer says how many warm ones do") {
  const Log log{even_rows({200, 1600, 200, 200, 200, 200})};
  const Texts asked{log.stated(), "traffic.bin=10 s", "traffic.requests=2000", "fleet.autoscale.target=0.5",
                    "fleet.autoscale.cold_start=20 s"};
  const FleetPlan late = plan(asked);
  REQUIRE(late.feasible());  // the fixed fleet
  REQUIRE(late.no_help);
  CHECK(late.no_help->cause == NoHelpCause::burst);
  CHECK(late.no_help->at.raw() == doctest::Approx(10.0).epsilon(0.02));
  CHECK(late.no_help->length.raw() == doctest::Approx(10.0).epsilon(0.02));
  CHECK(late.no_help->peak.raw() == doctest::Approx(160.0).epsilon(0.01));
  CHECK(late.no_help->enough == late.options.front().sized->replicas);
  CHECK(late.no_help->stated < late.no_help->enough);
  CHECK(says(no_help_text(*late.no_help), "more replicas will not help, because the burst of 10.0 s at 10.0 s"));
  // Warm ones do.
  Texts warm = asked;
  warm.emplace_back("fleet.autoscale.least=" + std::to_string(late.no_help->enough));
  CHECK_FALSE(plan(warm).no_help);
  // So does a cold start that is over in time to serve in it.
  Texts sooner = asked;
  sooner.back() = "fleet.autoscale.cold_start=1 s";
  CHECK_FALSE(plan(sooner).no_help);
}

TEST_CASE("a trace shorter than the cold start: nothing that is ordered serves, which is told") {
  const Log log{even_rows({200, 400})};
  const FleetPlan late =
      plan({log.stated(), "traffic.bin=10 s", "traffic.requests=600", "fleet.autoscale.cold_start=1 h"});
  REQUIRE(late.autoscaling);
  CHECK(late.autoscaling->scaled.least == late.autoscaling->scaled.most);
  CHECK(notes_say(late.notes, "a cold start of 1.00 h is no shorter than the trace, 20.0 s"));
}

TEST_CASE("an idle replica that misses the promise is the typed reason that more do not help, with what does") {
  const FleetPlan none = plan(
      {"traffic.rate=2 req/s", "serving.isl=1000", "serving.osl=200", "traffic.requests=500", "slo.tpot_p95=1 us"});
  CHECK(none.options.empty());
  REQUIRE(none.no_help);
  CHECK(none.no_help->cause == NoHelpCause::datasheet);
  CHECK(none.no_help->promise.metric == LatencyMetric::tpot);
  CHECK(none.no_help->reached > Seconds{1e-6});
  CHECK(none.dropped.front().why == cause_text(*none.no_help));
  CHECK(helping_keys(*none.no_help).front() == "strategy.tp");
  const FleetPlan some = plan({"traffic.rate=2 req/s", "serving.isl=1000", "serving.osl=200", "traffic.requests=500"});
  REQUIRE(some.feasible());
  CHECK_FALSE(some.no_help);
}

TEST_CASE("prompts that wait for the stated replicas that prefill: more of the others do not help, more of those do") {
  const Texts asked{
      "traffic.rate=60 req/s",   "serving.isl=4000",    "serving.osl=20",     "traffic.requests=1000",
      "slo.ttft_p95=2 s",        "slo.tpot_p95=100 ms", "fleet.prefill.tp=1", "fleet.prefill.link=400 GB/s",
      "fleet.prefill.replicas=1"};
  const FleetPlan few = plan(asked);
  CHECK_FALSE(few.feasible());
  REQUIRE(few.no_help);
  CHECK(few.no_help->cause == NoHelpCause::prefill);
  CHECK(few.no_help->stated == 1);
  REQUIRE(few.no_help->enough > 1);
  Texts enough = asked;
  enough.back() = "fleet.prefill.replicas=" + std::to_string(few.no_help->enough);
  CHECK(plan(enough).feasible());
}

TEST_CASE("a cold start is the sum of its parts, or stated, and not both, weights are read at the host's rate") {
  const Texts base{"traffic.rate=10 req/s",
                   "serving.isl=1000",
                   "serving.osl=200",
                   "traffic.requests=500",
                   "traffic.over_time.shape=diurnal",
                   "traffic.over_time.peak_over_mean=1.5"};
  const auto with = [&](const Texts& more) {
    Texts all = base;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::string autoscale = "fleet.autoscale.";
  const Texts parts{autoscale + "node=45 s", autoscale + "image=20 s", autoscale + "weights=48 s",
                    autoscale + "compile=8 s", autoscale + "graphs=10 s"};
  const FleetPlan whole = plan(with(parts));
  REQUIRE(whole.cold_start);
  CHECK(whole.cold_start->whole.raw() == doctest::Approx(131.0));
  CHECK(says(parts_text(*whole.cold_start), "a cold start takes 131 s: node 45.0 s (34.4 %), image 20.0 s"));
  CHECK(says(parts_text(*whole.cold_start), "weights 48.0 s (36.6 %)"));
  // As if stated as a whole.
  const FleetPlan stated = plan(with({autoscale + "cold_start=131 s"}));
  REQUIRE(stated.cold_start);
  CHECK_FALSE(stated.cold_start->parts);
  CHECK(parts_text(*stated.cold_start).empty());
  CHECK(stated.autoscaling->scaled.gpu_hours == whole.autoscaling->scaled.gpu_hours);
  CHECK(stated.autoscaling->scaled.units == whole.autoscaling->scaled.units);

  Texts stored = parts;
  stored[2] = autoscale + "storage=2 GB/s";
  const FleetPlan read_from = plan(with(stored));
  const Bytes weights = read_from.options.front().served->terms()[MemoryTerm::weights];
  CHECK(weights > Bytes{15e9});  // 8 billion parameters of 2 bytes
  CHECK(read_from.cold_start->whole.raw() == doctest::Approx(83.0 + weights.raw() / 2e9));

  Texts both = parts;
  both.push_back(autoscale + "cold_start=2 min");
  CHECK(says(refusal(with(both)), "'cold_start' beside node, image, weights, compile, graphs, whose sum it is"));
  Texts twice = parts;
  twice.push_back(autoscale + "storage=2 GB/s");
  CHECK(says(refusal(with(twice)), "'weights' beside 'storage'"));
  CHECK(says(refusal(with({autoscale + "node=45 s", autoscale + "weights=48 s"})),
             "states node, weights of a cold start, but not image, compile, graphs"));
  CHECK(says(refusal(with({autoscale + "target=0.7"})), "missing key 'cold_start'"));
}
