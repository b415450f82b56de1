// SPDX-License-Identifier: Apache-2.0
// The cheapest fleet that keeps its promises with the probability that is asked for: 0.9 here, the end of an interval.
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/serving/slow_end.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

ConfigValue document(const std::vector<std::string>& more) {
  std::vector<std::string> all{"kind=serve",
                               "confidence=0.9",
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
  return plan_fleet(read_fleet(document(more), "command line", sources()), {threads});
}

const ServeScenario& serving(const FleetOption& option) {
  return std::get<ServeScenario>(option.scenario->question);
}

/// The same without [slo].
FleetPlan plan_without_promises(const std::vector<std::string>& more) {
  ConfigValue root = document(more);
  root.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "slo"; });
  return plan_fleet(read_fleet(root, "command line", sources()), {2});
}

bool all_kept(const std::vector<KeptPromise>& judged) {
  return std::all_of(judged.begin(), judged.end(), [](const KeptPromise& one) { return one.kept; });
}

/// Whether so many replicas keep the promises at the middle, and load below saturation.
bool keeps_at_middle(const FleetOption& option, std::int64_t replicas) {
  const double of_one = option.sized->saturation.raw() / static_cast<double>(option.sized->replicas);
  const ServingMetrics metrics = simulate_fleet(serving(option), *option.served, replicas, 0);
  return option.sized->rate.raw() < static_cast<double>(replicas) * of_one &&
         all_kept(judge(*serving(option).traffic, metrics));
}

/// The same at the slow end, below 90 % of what they then answer.
bool keeps_at_slow_end(const FleetOption& option, std::int64_t replicas) {
  const double of_one = option.sized->saturation.raw() / static_cast<double>(option.sized->replicas);
  const ServeScenario& s = serving(option);
  const ServingMetrics middle = simulate_fleet(s, *option.served, replicas, 0);
  const ServingMetrics slow = simulate_slow_fleet(s, *option.served, replicas, 0, s.confidence);
  return option.sized->rate.raw() * slowest_iteration(s) < 0.9 * static_cast<double>(replicas) * of_one &&
         all_kept(judge_slow_end(s, middle, slow));
}

}  // namespace

TEST_CASE("a fleet's plan that is stopped has what was sized until then, one way at least, and is not complete") {
  const std::vector<std::string> ways{"search.tp=[1, 2, 4]", "search.weights=[\"bf16\", \"fp8\"]"};
  // The document states the weights, which are freed here.
  ConfigValue root = document(ways);
  root.find("serving")->entries.erase_if([](const ConfigEntry& entry) { return entry.key == "weights"; });
  const std::atomic<bool> stop{true};
  FleetProgress progress;
  FleetPlanOptions options;
  options.threads = 1;
  options.stop = &stop;
  options.progress = &progress;
  const FleetPlan stopped = plan_fleet(read_fleet(root, "command line", sources()), options);
  CHECK_FALSE(stopped.complete);
  REQUIRE_FALSE(stopped.options.empty());
  CHECK(stopped.options.front().sized);
  CHECK(stopped.simulated);
  CHECK(stopped.dropped.size() == 5);
  CHECK(stopped.dropped.front().why == "not looked at before the plan was stopped");
  CHECK(progress.ways == 6);
  CHECK(progress.screened == 1);
  CHECK(progress.sized == 1);
  options.stop = nullptr;
  const FleetPlan whole = plan_fleet(read_fleet(root, "command line", sources()), options);
  CHECK(whole.complete);
  CHECK(progress.screened == 1 + 6);
  CHECK(whole.options.size() > 1);
}

TEST_CASE("a replica whose pool may hold no request is left out by its parts, with what would let it hold one") {
  const FleetPlan answer = plan({"model=llama3.1-70b", "strategy.tp=2", "traffic.rate=12 req/s", "slo.ttft_p95=1 s",
                                 "traffic.prompt={mean=1024}", "traffic.output={mean=256}"});
  REQUIRE_FALSE(answer.feasible());
  REQUIRE(answer.dropped.size() == 1);
  CHECK(answer.dropped.front().cause == DropCause::memory);
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

TEST_CASE("no way out leads to more ranks than a host has GPUs, which a fleet refuses") {
  const auto why = [](const char* weights, int tp) {
    const FleetPlan answer = plan({"model=llama3.1-405b", std::string{"serving.weights="} + weights,
                                   "strategy.tp=" + std::to_string(tp), "traffic.rate=1 req/s",
                                   "traffic.prompt={mean=1024}", "traffic.output={mean=256}", "traffic.requests=200"});
    REQUIRE(answer.dropped.size() == 1);
    CHECK(answer.dropped.front().cause == (tp > 8 ? DropCause::hosts : DropCause::memory));
    return answer.dropped.front().why;
  };
  CHECK(why("bf16", 16).find("tp 16 spans hosts of 8 GPUs") != std::string::npos);
  CHECK(why("bf16", 8).find("it would with serving.weights = \"fp8\"") != std::string::npos);
  CHECK(why("bf16", 8).find("strategy.tp") == std::string::npos);
  CHECK(why("bf16", 8).find("strategy.pp = 2") != std::string::npos);
  CHECK(why("fp8", 4).find("strategy.tp = 8") != std::string::npos);  // what a host has is offered
}

TEST_CASE("stages are axes where no tensor ranks within a host hold the model, and nowhere else") {
  const auto stages = [](const std::vector<std::string>& more) {
    std::vector<std::string> all{"schema=1",         "kind=serve",      "hardware.gpu=h100-sxm-80gb",
                                 "serving.isl=2048", "serving.osl=300", "traffic.rate=1 req/s"};
    all.insert(all.end(), more.begin(), more.end());
    for (const FleetAxis& axis : read_fleet(scenario_tree(all), "command line", sources()).axes) {
      if (axis.front().knob == Knob::pp) {
        return axis.size();
      }
    }
    return std::size_t{0};
  };
  // 812 GB of weights in 16 bit: two hosts of eight H100, in two stages or, of fewer tensor ranks, in four.
  CHECK(stages({"model=llama3.1-405b"}) == 3);
  CHECK(stages({"model=llama3.1-405b", "serving.weights=fp8"}) == 0);
  CHECK(stages({"model=llama3-70b"}) == 0);
  CHECK(stages({"model=llama3-70b", "search.strategy=any"}) == 3);
  CHECK(stages({"model=llama3.1-405b", "strategy.tp=8"}) == 0);
  CHECK(stages({"model=llama3.1-405b", "strategy.pp=1"}) == 0);
  CHECK(stages({"model=llama3.1-405b", "search.weights=[\"fp8\", \"bf16\"]"}) == 3);
}

TEST_CASE("a fleet keeps its promises at the slow end, and with one replica less it does not") {
  const FleetPlan answer = plan({"strategy.tp=1"});
  REQUIRE(answer.feasible());
  const FleetOption& best = answer.options.front();
  REQUIRE(best.sized);
  REQUIRE(best.sized->replicas > 1);
  CHECK(keeps_at_slow_end(best, best.sized->replicas));
  CHECK_FALSE(keeps_at_slow_end(best, best.sized->replicas - 1));
  // What is printed of it says the same.
  REQUIRE(answer.simulated);
  for (const JudgedPromise& promise : answer.simulated->promises) {
    CHECK(promise.kept_at_slow_end);
    CHECK(promise.interval.high <= promise.promise.limit);
  }
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

TEST_CASE("requests longer than servers let in are told with their share, and counted like the others") {
  const FleetPlan all = plan({"strategy.tp=1", "traffic.requests=1000"});
  const FleetPlan cut = plan({"strategy.tp=1", "traffic.requests=1000", "serving.max_seq_len=2000"});
  const auto told = [](const std::vector<std::string>& notes) {
    std::vector<double> shares;
    for (const std::string& note : notes) {
      if (note.find("than the 2000 tokens that a server lets in (serving.max_seq_len)") != std::string::npos) {
        shares.push_back(std::stod(note));
      }
    }
    return shares;
  };
  CHECK(told(all.notes).empty());
  std::int64_t longer = 0;
  for (const Request& one : serving(cut.options.front()).traffic->load().requests) {
    longer += one.prompt_tokens + one.output_tokens > 2000 ? 1 : 0;
  }
  REQUIRE(longer > 10);
  for (const std::vector<std::string>* notes : {&cut.notes, &cut.simulated->notes}) {
    REQUIRE(told(*notes).size() == 1);
    CHECK(told(*notes).front() == doctest::Approx(0.1 * static_cast<double>(longer)).epsilon(0.06));  // of 1000
  }
  CHECK(cut.options.front().sized->replicas == all.options.front().sized->replicas);
}

TEST_CASE("what would do at the middle stands beside the fleet taken: fewer, and one less would not") {
  const FleetPlan answer = plan({"strategy.tp=1"});
  REQUIRE(answer.feasible());
  REQUIRE(answer.at_middle == std::optional<std::size_t>{0});
  const FleetOption& best = answer.options.front();
  REQUIRE(best.sized->middle);
  const std::int64_t middle = best.sized->middle->replicas;
  CHECK(middle < best.sized->replicas);
  CHECK(keeps_at_middle(best, middle));
  CHECK_FALSE(keeps_at_middle(best, middle - 1));
  CHECK(best.replicas.mid == static_cast<double>(middle));
  CHECK(best.replicas.high == static_cast<double>(best.sized->replicas));
  CHECK(best.per_hour_at_middle.raw() / best.per_hour.raw() ==
        doctest::Approx(static_cast<double>(middle) / static_cast<double>(best.sized->replicas)));
}

TEST_CASE(
    "without promises the load alone decides: below 90 % of what slow replicas answer, below saturation at least") {
  for (const double rate : {40.0, 100.0, 4000.0}) {
    CAPTURE(rate);
    const FleetPlan answer = plan_without_promises(
        {"strategy.tp=1", "traffic.requests=1000", "traffic.rate=" + std::to_string(rate) + " req/s"});
    REQUIRE(answer.feasible());
    const FleetOption& best = answer.options.front();
    REQUIRE(best.sized);
    const SizedFleet& sized = *best.sized;
    // What one replica answers, as slow as measured ones were, times their number.
    const ServeScenario& s = serving(best);
    const double slow = serving_errors(s, ServingQuantity::rate).low *
                        fleet_saturation(*s.traffic, serving_fleet(s, *best.served, 1)).raw();
    CHECK(sized.load_at_slow_end() ==
          doctest::Approx(rate / (static_cast<double>(sized.replicas) * slow)).epsilon(1e-3));
    CHECK(rate < 0.9 * static_cast<double>(sized.replicas) * slow);
    CHECK(rate >= 0.9 * static_cast<double>(sized.replicas - best.cells) * slow);  // one less a cell is too full
    REQUIRE(sized.middle);
    CHECK(sized.middle->replicas <= sized.replicas);
    CHECK((sized.replicas < 4 || sized.middle->replicas < sized.replicas));
    const double of_one = sized.saturation.raw() / static_cast<double>(sized.replicas);
    CHECK(static_cast<double>(sized.middle->replicas) * of_one > sized.rate.raw());
  }
}

TEST_CASE("replicas that saturate below their load are overloaded, however few requests are simulated") {
  const double of_one = plan_without_promises({"strategy.tp=1", "traffic.requests=1000", "fleet.replicas=1"})
                            .options.front()
                            .sized->saturation.raw();
  const auto asked = [&](double load) {
    return plan_without_promises({"strategy.tp=1", "traffic.requests=1000", "fleet.replicas=4",
                                  "traffic.rate=" + std::to_string(4.0 * load * of_one) + " req/s"});
  };
  for (const double load : {1.001, 1.02, 1.2}) {
    const FleetPlan over = asked(load);
    CHECK_FALSE(over.feasible());
    CHECK(over.options.front().sized->overloaded());
    CHECK_FALSE(over.at_middle);
    CHECK(over.options.front().enough > 4);
  }
  const FleetPlan full = asked(0.95);  // at the middle it does, at the slow end the queue grows
  CHECK_FALSE(full.feasible());
  CHECK_FALSE(full.options.front().sized->overloaded());
  CHECK(full.at_middle);
  CHECK(asked(0.5).feasible());
}

TEST_CASE("a surer fleet takes no fewer replicas, and keeps its promises up to the probability told and not beyond") {
  std::int64_t replicas = 0;
  for (const char* confidence : {"0.5", "0.8", "0.95"}) {
    CAPTURE(confidence);
    const FleetPlan answer = plan({"strategy.tp=1", std::string{"confidence="} + confidence});
    REQUIRE(answer.feasible());
    const FleetOption& best = answer.options.front();
    CHECK(best.sized->replicas >= replicas);
    replicas = best.sized->replicas;
    REQUIRE(answer.chance);
    CHECK(*answer.chance >= std::stod(confidence));
    const ServeScenario& s = serving(best);
    const ServingMetrics middle = simulate_fleet(s, *best.served, replicas, 0);
    const auto keeps = [&](double probability) {
      const ServingMetrics slow = simulate_slow_fleet(s, *best.served, replicas, 0, probability);
      return best.sized->rate.raw() * slowest_iteration(s, probability) < best.sized->saturation.raw() &&
             all_kept(judge_slow_end(s, middle, slow, probability));
    };
    CHECK(keeps(std::max(std::stod(confidence), *answer.chance - 0.03)));
    if (*answer.chance < 0.96) {
      CHECK_FALSE(keeps(*answer.chance + 0.03));
    }
    REQUIRE(answer.chance_at_middle);
    CHECK(*answer.chance_at_middle <= *answer.chance);
  }
}

TEST_CASE("how sure a fleet is does not depend on what is known of its runs, and one size has one probability") {
  for (const char* rate : {"traffic.rate=1 req/s", "traffic.rate=40 req/s"}) {
    CAPTURE(rate);
    const FleetPlan answer = plan({"strategy.tp=1", "traffic.requests=1000", rate});
    REQUIRE(answer.feasible());
    const FleetOption& best = answer.options.front();
    const SizedFleet& sized = *best.sized;
    const ServeScenario& s = serving(best);
    CHECK(sized.runs->middle.contains({sized.replicas, 0}));
    const double anew = chance_to_keep(s, *best.served, sized, {});
    CHECK(chance_to_keep(s, *best.served, sized, *sized.runs) == anew);
    CHECK(answer.chance == std::optional{std::max(anew, s.confidence)});
    REQUIRE(sized.middle);
    CHECK(answer.chance_at_middle == std::optional{chance_to_keep(s, *best.served, *sized.middle, {})});
  }
  // One replica is the least at both ends.
  const FleetPlan one = plan({"strategy.tp=1", "traffic.requests=1000", "traffic.rate=1 req/s"});
  CHECK(one.options.front().sized->replicas == one.options.front().sized->middle->replicas);
}

TEST_CASE("a promise that a lone sequence misses at the slow end alone: nothing is recommended, the middle is told") {
  // What an idle replica takes stands in the refusal of a promise below it.
  const std::string why = plan({"strategy.tp=1", "slo.tpot_p95=5.5 ms", "traffic.requests=1000"}).dropped.front().why;
  const double idle = std::stod(why.substr(why.find("it takes ") + 9));
  const FleetPlan answer = plan({"strategy.tp=1", "traffic.requests=1000", "traffic.rate=2 req/s",
                                 "slo.tpot_p95=" + std::to_string(1.1 * idle) + " ms"});
  CHECK_FALSE(answer.feasible());
  REQUIRE(answer.options.size() == 1);
  const FleetOption& only = answer.options.front();
  CHECK(only.sized->keeps_at_middle());
  CHECK_FALSE(only.sized->keeps());
  CHECK(only.why_not_slow.find("not even an idle replica keeps tpot_p95") != std::string::npos);
  CHECK(only.why_not_slow.find("with probability 90 %") != std::string::npos);
  CHECK(answer.at_middle == std::optional<std::size_t>{0});
  CHECK(keeps_at_middle(only, only.sized->middle->replicas));
  // Where another layout keeps it, that is taken, and the middle's may still be the cheaper one.
  const FleetPlan wider = plan({"search.tp=[1, 8]", "traffic.requests=1000", "traffic.rate=2 req/s",
                                "slo.tpot_p95=" + std::to_string(1.1 * idle) + " ms"});
  REQUIRE(wider.feasible());
  CHECK(serving(wider.options.front()).work.layout.tp == 8);
  REQUIRE(wider.at_middle);
  CHECK(serving(wider.options.at(*wider.at_middle)).work.layout.tp == 1);
}

TEST_CASE("the fleet that does not follow a day's load is the one that is taken") {
  const FleetPlan answer =
      plan({"strategy.tp=1", "traffic.requests=2000", "traffic.over_time.shape=diurnal",
            "traffic.over_time.peak_over_mean=2", "fleet.autoscale.cold_start=5 min", "fleet.autoscale.target=0.6"});
  REQUIRE(answer.feasible());
  REQUIRE(answer.autoscaling);
  const FleetOption& best = answer.options.front();
  CHECK(answer.autoscaling->fixed.most == best.sized->replicas);
  CHECK(answer.autoscaling->fixed.gpu_hours == doctest::Approx(24.0 * static_cast<double>(best.gpus)));
  CHECK(answer.autoscaling->scaled.gpu_hours < answer.autoscaling->fixed.gpu_hours);
  // Held at a share of what slow replicas answer, more of them follow than the model's speed would take.
  const double fewest = 2.0 * 40.0 / (0.6 * best.sized->saturation.raw() / static_cast<double>(best.sized->replicas));
  CHECK(static_cast<double>(answer.autoscaling->scaled.most) > fewest);
}

TEST_CASE("saturation lies above the knee, the knee at the asked rate or above it") {
  const SizedFleet sized = *plan({"strategy.tp=1"}).options.front().sized;
  CHECK(sized.knee.raw() >= 40.0);
  CHECK(sized.saturation > sized.knee);
}

TEST_CASE("spare replicas are on top, at the middle too, and the answer's interval holds the middle") {
  const FleetPlan bare = plan({"strategy.tp=1"});
  const FleetPlan spare = plan({"strategy.tp=1", "fleet.spare=2"});
  CHECK(spare.options.front().gpus == bare.options.front().gpus + 2);
  CHECK(spare.options.front().sized->replicas == bare.options.front().sized->replicas);
  CHECK(spare.options.front().sized->middle->gpus == bare.options.front().sized->middle->gpus + 2);
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

TEST_CASE("SKUs whose kernels nobody measured are ways to serve, and the fleet says on what they rest") {
  ConfigValue root =
      document({R"(search.gpu=["h200-sxm-141gb", "mi300x", "gaudi3"])", "strategy.tp=1", "slo.tpot_p95=60 ms"});
  root.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "hardware"; });
  const FleetPlan found = plan_fleet(read_fleet(root, "command line", sources()), {2});
  REQUIRE(found.feasible());
  for (const char* gpu : {"mi300x", "gaudi3"}) {
    CAPTURE(gpu);
    CHECK(std::any_of(found.options.begin(), found.options.end(),
                      [&](const FleetOption& option) { return serving(option).device.id == gpu; }));
    CHECK(std::count_if(found.notes.begin(), found.notes.end(), [&](const std::string& note) {
            return note.find(std::string{"kernels: nobody measured kernels of "} + gpu) != std::string::npos;
          }) == 1);
  }
  CHECK(std::none_of(found.notes.begin(), found.notes.end(),
                     [](const std::string& note) { return note.find("nobody measured kernels of h200") == 0; }));
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
  CHECK(below.dropped.front().cause == DropCause::promise);
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
  REQUIRE(large.sized->middle);
  CHECK(large.sized->middle->replicas % large.cells == 0);
  CHECK(large.sized->middle->replicas < large.sized->replicas);
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
  // Beside replicas that do both.
  REQUIRE(fast.options.size() == 2);
  const auto apart = std::find_if(fast.options.begin(), fast.options.end(),
                                  [](const FleetOption& o) { return o.question().fleet->prefill.has_value(); });
  REQUIRE(apart != fast.options.end());
  REQUIRE(apart->keeps());
  const SizedFleet& sized = *apart->sized;
  CHECK(sized.prefill_replicas >= 1);
  CHECK(apart->prefill_replicas() == sized.prefill_replicas);
  CHECK(apart->gpus == sized.replicas + sized.prefill_replicas);
  REQUIRE(sized.middle);
  CHECK(sized.middle->gpus <= sized.gpus);
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
  CHECK(answer.dropped.front().changes == Changes{{Knob::tp, 3}});
  CHECK_FALSE(answer.dropped.front().why.empty());
  CHECK(answer.dropped.front().cause == DropCause::rule);
}

TEST_CASE("a fleet is asked as typed axes over a base: each combination is the base with its values") {
  const AskedFleet asked =
      read_fleet(document({"search.tp=[3, 1]", R"(search.kv_cache=["fp8", "bf16"])"}), "command line", sources());
  REQUIRE(combinations(asked.axes) == 4);
  CHECK(combination(asked.axes, 3) == Changes{{Knob::kv_cache, Precision::bf16}, {Knob::tp, 1}});
  CHECK(asked.base.document->find("search") == nullptr);
  CHECK(asked.document->find("search") != nullptr);
  const Scenario last = changed(asked.base, combination(asked.axes, 3));
  const auto& serve = std::get<ServeScenario>(last.question);
  CHECK(serve.work.layout.tp == 1);
  CHECK(serve.work.kv == Precision::bf16);
  CHECK(std::get<ServeScenario>(asked.first.question).work.kv == Precision::fp8);
  const FleetOption made = make_option(asked.base, combination(asked.axes, 3), false);
  CHECK(made.question().work.kv == Precision::bf16);
}

TEST_CASE("what is wrong with a fleet's question is told when it is read, [search] and the rest together") {
  try {
    static_cast<void>(
        read_fleet(document({R"(search.engine=["vlm"])", "traffic.requests=many"}), "command line", sources()));
    FAIL("read");
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    CHECK(text.find("vlm") != std::string::npos);
    CHECK(text.find("'requests'") != std::string::npos);
  }
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
