// SPDX-License-Identifier: Apache-2.0
// The cheapest fleet that keeps its promises.
#include <headroom/scenarios/serving/fleet_axes.hpp>
#include <headroom/scenarios/serving/fleet_plan.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace headroom;

namespace {

const Sources& sources() {
  static const Sources standard = Sources::standard();
  return standard;
}

ConfigValue document(const std::vector<std::string>& more) {
  std::vector<std::string> all{"kind=serve",
                               "model=llama3-8b",
                               "hardware.gpu=h100-sxm-80gb",
                               "serving.weights=bf16",
                               "traffic.rate=40 req/s",
                               "traffic.requests=4000",
                               R"(traffic.prompt={mean=1000, law="lognormal", cv=0.8, most=6000})",
                               R"(traffic.output={mean=200, law="lognormal", cv=0.6, most=1500})",
                               "slo.ttft_p95=500 ms",
                               "slo.tpot_p95=30 ms",
                               "money.price=2 $/h"};
  all.insert(all.end(), more.begin(), more.end());
  return scenario_tree(all);
}

FleetPlan plan(const std::vector<std::string>& more, unsigned threads = 2) {
  return plan_fleet(document(more), "command line", sources(), {threads});
}

const ServeScenario& serving(const FleetOption& option) {
  return std::get<ServeScenario>(option.scenario->question);
}

}  // namespace

TEST_CASE("a replica whose pool may hold no request is left out by its parts, with what would let it hold one") {
  const FleetPlan answer = plan({"model=llama3.1-70b", "strategy.tp=2", "traffic.rate=12 req/s", "slo.ttft_p95=1 s",
                                 "traffic.prompt={mean=1024}", "traffic.output={mean=256}"});
  REQUIRE_FALSE(answer.feasible());
  REQUIRE(answer.dropped.size() == 1);
  const std::string& why = answer.dropped.front().why;
  // 0.24 GiB of pool, 0.8 GiB of uncertainty, 0.195 GiB a sequence
  CHECK(why.find("the KV pool is 250 MiB give or take 819 MiB, one sequence 200 MiB per GPU") != std::string::npos);
  CHECK(why.find("it would with serving.weights = \"fp8\"") != std::string::npos);
  CHECK(why.find("serving.memory_fraction = 0.9") != std::string::npos);
  CHECK(why.find("strategy.tp = 4") != std::string::npos);
  for (const char* way : {"serving.weights=fp8", "strategy.tp=4"}) {
    const FleetPlan mended =
        plan({"model=llama3.1-70b", "strategy.tp=2", way, "traffic.rate=2 req/s", "slo.ttft_p95=1 s",
              "slo.tpot_p95=60 ms", "traffic.prompt={mean=1024}", "traffic.output={mean=256}", "traffic.requests=200"});
    CAPTURE(way);
    CHECK(std::none_of(mended.dropped.begin(), mended.dropped.end(),
                       [](const DroppedOption& d) { return d.why.find("KV pool") != std::string::npos; }));
  }
}

TEST_CASE("a fleet keeps its promises, and with one replica less it does not") {
  const FleetPlan answer = plan({"strategy.tp=1"});
  REQUIRE(answer.feasible());
  const FleetOption& best = answer.options.front();
  REQUIRE(best.sized);
  REQUIRE(best.sized->replicas > 1);
  const ServingMetrics fewer = simulate_fleet(serving(best), *best.served, best.sized->replicas - 1, 0);
  const std::vector<KeptPromise> judged = judge(*serving(best).traffic, fewer);
  const double fewer_saturation =
      best.sized->saturation.raw() * (1.0 - 1.0 / static_cast<double>(best.sized->replicas));
  CHECK((fewer_saturation <= 40.0 ||
         std::any_of(judged.begin(), judged.end(), [](const KeptPromise& one) { return !one.kept; })));
  CHECK(best.gpus == best.sized->replicas);
  // 2 $ an hour and GPU; everything over the output tokens of the load.
  CHECK(best.per_hour.raw() == doctest::Approx(2.0 * static_cast<double>(best.gpus)));
  const double tokens_per_hour = 3600.0 * 40.0 * serving(best).traffic->lengths().output;
  CHECK(best.per_million_output_of_all.mid.raw() ==
        doctest::Approx(1e6 * best.per_hour.raw() / tokens_per_hour).epsilon(1e-9));
  // Money for input and output tokens together is all of it.
  const ServingTraffic::Lengths lengths = serving(best).traffic->lengths();
  CHECK(best.per_million_input.mid.raw() * lengths.prompt / lengths.output + best.per_million_output.mid.raw() ==
        doctest::Approx(best.per_million_output_of_all.mid.raw()).epsilon(1e-9));
}

TEST_CASE("saturation lies above the knee, the knee at the asked rate or above it") {
  const SizedFleet sized = *plan({"strategy.tp=1"}).options.front().sized;
  CHECK(sized.knee.raw() >= 40.0);
  CHECK(sized.saturation > sized.knee);
}

TEST_CASE("spare replicas are on top, and the answer's interval holds the middle") {
  const FleetPlan bare = plan({"strategy.tp=1"});
  const FleetPlan spare = plan({"strategy.tp=1", "fleet.spare=2"});
  CHECK(spare.options.front().gpus == bare.options.front().gpus + 2);
  CHECK(spare.options.front().sized->replicas == bare.options.front().sized->replicas);
  const Interval<double>& r = bare.options.front().replicas;
  CHECK(r.low <= r.mid);
  CHECK(r.mid <= r.high);
  CHECK(r.low < r.high);
}

TEST_CASE("layouts are searched when none is stated, cheapest first, and the front is not beaten") {
  const FleetPlan answer = plan({"traffic.requests=1500"});
  CHECK(answer.combinations == 4);  // tp 1, 2, 4, 8
  REQUIRE(answer.options.size() == 4);
  CHECK(std::is_sorted(answer.options.begin(), answer.options.end(),
                       [](const FleetOption& a, const FleetOption& b) { return a.per_hour < b.per_hour; }));
  REQUIRE_FALSE(answer.front.empty());
  CHECK(answer.front.front() == 0);  // the cheapest is always on it
  for (const std::size_t i : answer.front) {
    CHECK(answer.options[i].sized->keeps());
  }
}

TEST_CASE("the answer does not depend on the number of threads") {
  const std::vector<std::string> more{"traffic.requests=1000", R"(search.kv_cache=["bf16", "fp8"])"};
  const FleetPlan one = plan(more, 1);
  const FleetPlan three = plan(more, 3);
  REQUIRE(one.options.size() == three.options.size());
  for (std::size_t i = 0; i < one.options.size(); ++i) {
    CHECK(one.options[i].changes == three.options[i].changes);
    CHECK(one.options[i].gpus == three.options[i].gpus);
    REQUIRE(one.options[i].sized.has_value() == three.options[i].sized.has_value());
    if (!one.options[i].sized) {
      continue;
    }
    CHECK(one.options[i].sized->metrics.all.ttft.p95 == three.options[i].sized->metrics.all.ttft.p95);
  }
}

TEST_CASE("a promise below what the hardware can do is told with the floor, and no fleet is proposed") {
  // 8 B weights in 16 bit over 3.35 TB/s: 4.8 ms a token.
  const FleetPlan below = plan({"strategy.tp=1", "slo.tpot_p95=3 ms"});
  CHECK_FALSE(below.feasible());
  REQUIRE(below.dropped.size() == 1);
  CHECK(below.dropped.front().misses);
  CHECK(below.dropped.front().why.find("tpot_p95 of 3.00 ms lies below the floor of 4.") != std::string::npos);
  // Above the floor, and still more than one replica with nobody else on it can do.
  const FleetPlan idle = plan({"strategy.tp=1", "slo.tpot_p95=5.5 ms"});
  REQUIRE(idle.dropped.size() == 1);
  CHECK(idle.dropped.front().why.find("not even an idle replica keeps tpot_p95") != std::string::npos);
}

TEST_CASE("a stated number of replicas is judged, and overload is an answer with the rate of saturation") {
  const FleetPlan few = plan({"strategy.tp=1", "fleet.replicas=1", "traffic.rate=400 req/s"});
  CHECK_FALSE(few.feasible());
  REQUIRE(few.options.size() == 1);
  const SizedFleet& sized = *few.options.front().sized;
  CHECK(sized.replicas == 1);
  CHECK(sized.overloaded());
  CHECK(sized.saturation.raw() > 1.0);
  CHECK(sized.saturation.raw() < 400.0);
}

TEST_CASE("a large fleet is simulated as equal cells, and what they are is what the fleet is") {
  const FleetOption large =
      plan({"strategy.tp=1", "traffic.rate=4000 req/s", "traffic.requests=30000"}).options.front();
  REQUIRE(large.cells > 1);
  REQUIRE(large.sized);
  CHECK(large.sized->replicas % large.cells == 0);
  CHECK(large.sized->replicas / large.cells <= 64);
  CHECK(large.gpus == large.sized->replicas);
  CHECK(large.sized->rate.raw() == doctest::Approx(4000.0).epsilon(1e-9));
  CHECK(large.sized->keeps());
  // Ten times the load takes ten times the replicas, or a little less: larger cells share better.
  const FleetOption tenth = plan({"strategy.tp=1", "traffic.rate=400 req/s", "traffic.requests=30000"}).options.front();
  CHECK(static_cast<double>(large.sized->replicas) ==
        doctest::Approx(10.0 * static_cast<double>(tenth.sized->replicas)).epsilon(0.15));
  CHECK(large.sized->saturation.raw() == doctest::Approx(10.0 * tenth.sized->saturation.raw()).epsilon(0.15));
}

TEST_CASE("what would be enough is told where the stated replicas are not, however short the simulation") {
  const FleetPlan few = plan({"strategy.tp=1", "fleet.replicas=1", "traffic.rate=400 req/s", "traffic.requests=1000"});
  const std::int64_t enough = few.options.front().enough;
  CHECK(enough > 5);
  CHECK(enough < 60);
  CHECK(plan({"strategy.tp=1", "fleet.replicas=" + std::to_string(enough), "traffic.rate=400 req/s",
              "traffic.requests=1000"})
            .feasible());
}

TEST_CASE("replicas that prefill apart: both pools are sized, and the cache goes over the link") {
  const FleetPlan fast = plan({"strategy.tp=1", "fleet.prefill.link=50 GB/s", "traffic.requests=2000"});
  REQUIRE(fast.feasible());
  const SizedFleet& sized = *fast.options.front().sized;
  CHECK(sized.prefill_replicas >= 1);
  CHECK(fast.options.front().gpus == sized.replicas + sized.prefill_replicas);
  // 1000 tokens of 128 KiB over 1 GB/s take 134 ms, which no token of the first iterations hides.
  const FleetPlan slow = plan({"strategy.tp=1", "fleet.prefill.link=1 GB/s", "traffic.requests=2000",
                               "fleet.replicas=" + std::to_string(sized.replicas),
                               "fleet.prefill.replicas=" + std::to_string(sized.prefill_replicas)});
  CHECK(slow.options.front().sized->metrics.all.e2e.p50 > sized.metrics.all.e2e.p50);
}

TEST_CASE("what cannot be is left out with its reason, and the rest is planned") {
  const FleetPlan answer = plan({"traffic.requests=500", R"(search.tp=[1, 3])"});
  CHECK(answer.options.size() == 1);
  REQUIRE(answer.dropped.size() == 1);
  CHECK(answer.dropped.front().changes == std::vector<std::string>{"strategy.tp=3"});
  CHECK_FALSE(answer.dropped.front().why.empty());
  CHECK_FALSE(answer.dropped.front().misses);
}

TEST_CASE("axes that are unknown, empty, or stated elsewhere are refused together") {
  Diagnostics diagnostics;
  static_cast<void>(read_fleet_axes(document({"strategy.tp=2", R"(search={tp=[1,2], gpu=[], engines="any"})"}),
                                    sources().catalog, diagnostics));
  std::string text;
  for (const Diagnostic& d : diagnostics.sorted()) {
    text += d.message + "\n";
  }
  CHECK(text.find("'tp' is searched and stated as strategy.tp") != std::string::npos);
  CHECK(text.find("'gpu' lists nothing") != std::string::npos);
  CHECK(text.find("'engines'") != std::string::npos);
}
