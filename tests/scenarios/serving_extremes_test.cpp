// SPDX-License-Identifier: Apache-2.0
// Times and rates of a serving question at the ends of what is legal, and beyond: answered with numbers that hang
// together, or refused by name with the way out.
#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using headroom::test::says;
using headroom::test::sources;

namespace {

using Texts = std::vector<std::string>;

/// Small, so that hundreds of them take no time; prompts share, so that tiers are asked.
Texts question(const Texts& more) {
  Texts all{"kind=serve",
            "model=llama3-8b",
            "hardware.gpu=h100-sxm-80gb",
            "strategy.tp=1",
            "serving.weights=bf16",
            "serving.max_num_seqs=8",
            "traffic.requests=120",
            R"(traffic.prompt={mean=600})",
            R"(traffic.output={mean=20})",
            "fleet.replicas=2",
            "slo.ttft_p95=1 s",
            "slo.tpot_mean=50 ms",
            "slo.e2e_p99=10 s",
            "money.price=2 $/h"};
  // What is stated again replaces what is here; of a default the words are the same.
  all.insert(all.end(), more.begin(), more.end());
  if (std::none_of(more.begin(), more.end(), [](const std::string& one) { return one.starts_with("traffic.rate"); })) {
    all.emplace_back("traffic.rate=5 req/s");
  }
  return all;
}

struct Answer {
  std::optional<ServingSimulation> simulation;
  std::string refusal;
};

Answer simulated(const Texts& more, double factor = 1.0) {
  Answer answer;
  try {
    const Scenario s = scenario_from_overrides(question(more), sources());
    answer.simulation = simulate_serving(std::get<ServeScenario>(s.question), s.money, factor);
  } catch (const ConfigError& error) {
    answer.refusal = error.what();
  }
  return answer;
}

constexpr std::array members{&TimeSummary::mean, &TimeSummary::p50, &TimeSummary::p90,
                             &TimeSummary::p95,  &TimeSummary::p99, &TimeSummary::max};

/// Finite and from 0 on, in the order of its quantiles; NaN where nothing was reached.
void check_times(const TimeSummary& times, bool reached) {
  for (const auto member : members) {
    const double time = (times.*member).raw();
    CHECK((std::isnan(time) ? !reached : std::isfinite(time) && time >= 0.0));
  }
  CHECK_FALSE(times.p50 > times.p90);
  CHECK_FALSE(times.p90 > times.p95);
  CHECK_FALSE(times.p95 > times.p99);
  CHECK_FALSE(times.p99 > times.max);
  CHECK_FALSE(times.mean > (1.0 + 1e-12) * times.max);
}

template <class Q>
void check_interval(const Interval<Q>& interval) {
  CHECK_FALSE(interval.low > interval.mid);
  CHECK_FALSE(interval.mid > interval.high);
}

void check_share(double share) {
  CHECK(share >= 0.0);
  CHECK(share <= 1.0 + 1e-9);
}

/// What holds of every simulation, whatever was asked.
void check_hangs_together(const ServingSimulation& s) {
  for (const RequestTimes& times : s.result.requests) {
    CHECK(times.arrival >= Picoseconds{0});
    CHECK(times.started >= times.arrival);
    CHECK(times.first_token >= times.started);
    CHECK(times.finished >= times.first_token);
    CHECK((times.finished == never || times.arrival <= times.started));
    CHECK((times.finished == never || times.started < times.first_token));
    CHECK((times.finished == never || times.first_token <= times.finished));
  }
  const RequestMetrics& all = s.metrics.all;
  CHECK(all.finished + all.refused + all.unfinished == all.requests);
  for (const TimeSummary* times : {&all.ttft, &all.tpot, &all.e2e}) {
    check_times(*times, all.finished > 0);
  }
  check_times(all.queue, false);
  for (const IntervalSummary* times : {&s.ttft, &s.tpot, &s.e2e}) {
    for (const auto member : members) {
      check_interval(Interval<Seconds>{times->low.*member, times->mid.*member, times->high.*member});
    }
  }
  check_interval(s.saturation);
  check_interval(s.served);
  for (const double rate : {s.saturation.low.raw(), s.saturation.high.raw(), s.served.low.raw(), s.served.high.raw(),
                            all.good_per_s, all.finished_per_s, all.output_tokens_per_s, s.queue.mean}) {
    CHECK(std::isfinite(rate));
    CHECK(rate >= 0.0);
  }
  check_share(s.metrics.pool.busy);
  check_share(s.metrics.pool.kv_mean);
  check_share(s.metrics.pool.kv_peak);
  check_share(all.good_share);
  if (s.costs) {
    check_interval(s.costs->output_tokens);
    check_interval(s.costs->requests);
  }
  for (const JudgedPromise& promise : s.promises) {
    check_interval(promise.interval);
    CHECK((!promise.kept || !(promise.reached > promise.promise.limit)));
    CHECK((!promise.kept || promise.unanswered == 0.0));
  }
  const bool kept =
      std::all_of(s.promises.begin(), s.promises.end(), [](const JudgedPromise& one) { return one.kept; });
  CHECK(s.good() == (kept && !s.overloaded()));
  CHECK((s.metrics.unanswered == 0 || s.overloaded()));
}

const Texts tiers{R"(traffic.prefix={groups=20, tokens=512})", "serving.kv_offload.disk.capacity=1 TB",
                  "serving.kv_offload.disk.bandwidth=10 GB/s"};
const Texts prefill{"fleet.prefill.tp=1", "fleet.prefill.replicas=1", "fleet.prefill.link=10 GB/s"};
const Texts speculative{"serving.speculative.draft=3", "serving.speculative.acceptance=0.5"};
const Texts bursty{"traffic.over_time.shape=bursts", "traffic.over_time.factor=10", "traffic.over_time.period=1 h",
                   "traffic.over_time.length=1 min"};
const Texts retries{"traffic.retries.failure=0.5"};

/// A key, what stands beside it, and its legal and other values.
struct Key {
  std::string_view key;
  Texts beside;
  Texts legal;
  Texts refused;
};

const std::vector<Key>& keys() {
  static const std::vector<Key> all{
      {"fleet.prefill.link",
       prefill,
       {"40 B/s", "1 kB/s", "1 MB/s", "1 GB/s", "1000 PB/s"},
       {"1e-300 B/s", "1e-3 B/s", "0.1 B/s", "1 B/s", "20 B/s", "1e300 B/s"}},
      {"fleet.prefill.latency", prefill, {"0 s", "1e-300 s", "1 ms", "1 h", "30 d"}, {"31 d", "1e7 s", "1e300 s"}},
      {"serving.speculative.draft_time",
       speculative,
       {"1 ns", "1 ms", "1 s", "1 min", "1 h"},
       {"1e-300 s", "61 min", "1e5 s", "1e7 s", "1e300 s"}},
      {"serving.kv_offload.disk.bandwidth",
       tiers,
       {"40 B/s", "1 kB/s", "1 MB/s", "1000 PB/s"},
       {"1e-300 B/s", "0.5 B/s", "1 B/s", "20 B/s"}},
      {"serving.kv_offload.disk.latency", tiers, {"0 s", "1 s", "1 d", "30 d"}, {"31 d", "9.3e6 s", "1e300 s"}},
      {"traffic.rate",
       {},
       {"0.0001 req/s", "1 req/s", "1e3 req/s", "1e9 req/s", "1e11 req/s"},
       {"1e-300 req/s", "1 req/y", "1 req/d", "1e12 req/s", "1e300 req/s"}},
      {"traffic.rate",
       {"traffic.arrivals=gamma", "traffic.cv=100"},
       {"0.001 req/s", "1 req/s", "1e9 req/s"},
       {"1 req/d"}},
      {"traffic.rate",
       {"traffic.arrivals=weibull", "traffic.shape=0.1"},
       {"0.001 req/s", "1 req/s", "1e9 req/s"},
       {"1 req/d"}},
      {"traffic.retries.backoff", retries, {"0 s", "1e-300 s", "1 s", "30 d"}, {"31 d", "1e300 s"}},
      {"traffic.over_time.period", bursty, {"61 s", "1 d", "366 d"}, {"1e-300 s", "367 d", "1e300 s"}},
      {"traffic.over_time.length", bursty, {"1 ns", "1 s", "59 min"}, {"1e-300 s", "1 h", "2 h", "1e300 s"}},
      {"slo.ttft_p95", {}, {"1 ns", "1 s", "30 d"}, {"1e-300 s", "31 d", "1e300 s"}},
      {"slo.e2e_p99", {}, {"1 ns", "30 d"}, {"1e-300 s", "1e300 s"}},
      {"fleet.autoscale.cold_start", bursty, {"0 s", "1e-300 s", "12 h", "30 d"}, {"31 d", "1e9 s", "1e300 s"}},
  };
  return all;
}

Texts with(const Key& key, const std::string& value) {
  Texts all = key.beside;
  std::erase_if(all, [&](const std::string& one) { return one.starts_with(std::string{key.key} + "="); });
  all.push_back(std::string{key.key} + "=" + value);
  return all;
}

/// Whether a fleet falls behind its load or misses a promise at the slow end, by the numbers that it is judged by.
bool shows_why_not(const SizedFleet& sized) {
  const bool answers = sized.metrics.unanswered == 0 && sized.slowest * sized.rate.raw() < 0.9 * sized.saturation.raw();
  return !answers || std::any_of(sized.slow_end.begin(), sized.slow_end.end(), [](const KeptPromise& one) {
    return !(one.reached <= one.promise.limit) || one.unanswered > 0.0 || one.refused > 0.0;
  });
}

/// The last part of a key, as messages quote it.
std::string name_of_key(std::string_view key) {
  return std::string{key.substr(key.rfind('.') + 1)};
}

}  // namespace

TEST_CASE("times and rates at the ends of what is legal: every number of a simulation hangs together with the others") {
  for (const Key& key : keys()) {
    for (const std::string& value : key.legal) {
      INFO(key.key, " = ", value);
      const Answer answer = simulated(with(key, value));
      REQUIRE_MESSAGE(answer.simulation, answer.refusal);
      check_hangs_together(*answer.simulation);
    }
  }
}

TEST_CASE("times and rates beyond what is legal are refused by name, with the value and what it may be") {
  for (const Key& key : keys()) {
    for (const std::string& value : key.refused) {
      INFO(key.key, " = ", value);
      const Answer answer = simulated(with(key, value));
      REQUIRE_FALSE(answer.simulation);
      INFO(answer.refusal);
      CHECK(says(answer.refusal, "--set " + std::string{key.key} + "=" + value));
      CHECK((says(answer.refusal, "'" + name_of_key(key.key) + "'") || says(answer.refusal, "a rate of")));
      CHECK((says(answer.refusal, "must be") || says(answer.refusal, "state ") || says(answer.refusal, "raise ") ||
             says(answer.refusal, "shorten ") || says(answer.refusal, "at most")));
    }
  }
}

TEST_CASE("two extremes at once hang together as well") {
  const std::array extremes{&keys()[0], &keys()[1], &keys()[2]};
  for (const std::string& link : keys()[0].legal) {
    for (const std::string& latency : keys()[1].legal) {
      for (const std::string& draft : {std::string{"1 ns"}, std::string{"1 h"}}) {
        INFO(link, ", ", latency, ", ", draft);
        Texts more = with(*extremes[0], link);
        more.push_back("fleet.prefill.latency=" + latency);
        more.insert(more.end(), speculative.begin(), speculative.end());
        more.push_back("serving.speculative.draft_time=" + draft);
        const Answer answer = simulated(more);
        REQUIRE_MESSAGE(answer.simulation, answer.refusal);
        check_hangs_together(*answer.simulation);
      }
    }
  }
}

TEST_CASE("a slower link never makes tokens come sooner, and one that cannot keep up is overloaded") {
  Seconds last{std::numeric_limits<double>::infinity()};
  for (const std::string& link : keys()[0].legal) {  // from slow to fast
    const Answer answer = simulated(with(keys()[0], link));
    REQUIRE(answer.simulation);
    const ServingSimulation& s = *answer.simulation;
    if (s.metrics.unanswered > 0) {
      CHECK(s.overloaded());
      CHECK_FALSE(s.good());
      continue;
    }
    CHECK(s.metrics.all.tpot.p50 <= last);
    last = s.metrics.all.tpot.p50;
  }
  CHECK(simulated(with(keys()[0], "1000 PB/s")).simulation->good());
  CHECK(simulated(with(keys()[0], "40 B/s")).simulation->overloaded());
}

TEST_CASE("a link is refused for the longest prompt's cache alone, and the rate that the message asks for is taken") {
  const std::string refusal = simulated(with(keys()[0], "20 B/s")).refusal;
  REQUIRE(says(refusal, "600 tokens"));
  const std::size_t at = refusal.find("; state ");
  REQUIRE(at != std::string::npos);
  const std::string enough = refusal.substr(at + 8, refusal.find(" or more", at) - at - 8);
  CHECK(simulated(with(keys()[0], enough)).simulation);
  // A hundred times as long, a hundred times as much.
  Texts longer = with(keys()[0], enough);
  longer.emplace_back("model=llama3.1-8b");
  longer.emplace_back("traffic.prompt={mean=60000}");
  CHECK(says(simulated(longer).refusal, "60 000 tokens"));
}

TEST_CASE("a load of fewer than a hundred requests in 60 days is refused, stated or asked for by a factor") {
  CHECK(says(simulated({"traffic.rate=1 req/d"}).refusal, "brings 60 requests in 60 days"));
  CHECK(simulated({"traffic.rate=2 req/d"}).simulation);
  const Answer fewer = simulated({"traffic.rate=2 req/d"}, 0.5);
  CHECK(says(fewer.refusal, "brings 60 requests in 60 days, fewer than the 100"));
  CHECK(says(fewer.refusal, "raise the rate, or ask what a request alone takes"));
}

TEST_CASE("fewer requests than were asked for are told, and so is a class of which hardly any come") {
  const auto tells = [](const Texts& more, double factor, std::string_view part) {
    const Scenario s = scenario_from_overrides(question(more), sources());
    Texts notes = simulate_serving(std::get<ServeScenario>(s.question), s.money, factor).notes;
    notes.insert(notes.end(), s.assumptions.begin(), s.assumptions.end());
    return std::count_if(notes.begin(), notes.end(), [&](const std::string& note) { return says(note, part); });
  };
  const Texts many{"traffic.requests=500"};
  CHECK(tells(many, 1.0, "instead of 500") == 0);
  CHECK(tells(many, 1e-5, "traffic.requests: 259 instead of 500, all that come in 60 days") == 1);
  CHECK(tells({"traffic.requests=500", "traffic.rate=5e-5 req/s"}, 1.0, "traffic.requests: 259 instead of 500") == 1);
  for (const char* rate : {"0.1 req/s", "1e-300 req/s"}) {
    const Texts classes{"kind=serve",
                        "model=llama3-8b",
                        "hardware.gpu=h100-sxm-80gb",
                        "strategy.tp=1",
                        "serving.weights=bf16",
                        "serving.max_num_seqs=8",
                        "traffic.requests=2000",
                        R"(traffic.class=[{name="chat", rate="50 req/s", prompt={mean=100}, output={mean=10}},)"
                        R"( {name="batch", prompt={mean=100}, output={mean=10}, slo={e2e_p99="1 h"}, rate=")" +
                            std::string{rate} + "\"}]"};
    const Scenario s = scenario_from_overrides(classes, sources());
    const ServingSimulation simulation = simulate_serving(std::get<ServeScenario>(s.question), s.money);
    check_hangs_together(simulation);
    REQUIRE(simulation.metrics.classes[1].requests < ServingTraffic::least_requests);
    CHECK(std::count_if(simulation.notes.begin(), simulation.notes.end(), [](const std::string& note) {
            return note.starts_with("traffic.class 'batch': ") && says(note, "fewer than the 100");
          }) == 1);
  }
}

TEST_CASE("a fleet that is planned at the ends of what is legal keeps what it says it keeps, or none is found") {
  for (const auto& [index, value] : std::array<std::pair<std::size_t, const char*>, 7>{
           {{0, "1000 PB/s"}, {0, "1 MB/s"}, {0, "40 B/s"}, {1, "30 d"}, {2, "1 h"}, {4, "30 d"}, {5, "1e11 req/s"}}}) {
    const Key& key = keys()[index];
    INFO(key.key, " = ", value);
    Texts more = question(with(key, value));
    std::erase(more, "fleet.replicas=2");
    const FleetPlan plan = plan_fleet(read_fleet(scenario_tree(more), "command line", sources()), {1});
    if (!plan.feasible()) {
      if (plan.options.empty()) {
        REQUIRE_FALSE(plan.dropped.empty());
        CHECK_FALSE(plan.dropped.front().why.empty());
        continue;
      }
      REQUIRE(plan.options.front().sized);
      CHECK(shows_why_not(*plan.options.front().sized));
      continue;
    }
    REQUIRE(plan.options.front().sized);
    const SizedFleet& sized = *plan.options.front().sized;
    CHECK_FALSE(shows_why_not(sized));
    CHECK(sized.metrics.unanswered == 0);
    CHECK(sized.saturation > Hertz{});
    for (const KeptPromise& promise : sized.promises) {
      CHECK(promise.reached <= promise.promise.limit);
    }
    check_hangs_together(*plan.simulated);
  }
}

TEST_CASE("replicas that follow a load cost no more GPU-hours than all that were ordered all the time") {
  for (const std::string cold_start : {"0 s", "25 h", "30 d"}) {
    for (const bool bursts : {false, true}) {
      INFO(cold_start, bursts ? ", bursts" : ", a day");
      Texts more = question({"traffic.rate=10 req/s", "fleet.autoscale.cold_start=" + cold_start});
      const Texts shape =
          bursts ? bursty : Texts{"traffic.over_time.shape=diurnal", "traffic.over_time.peak_over_mean=2"};
      more.insert(more.end(), shape.begin(), shape.end());
      // Nothing to size: two replicas keep what is hardly promised.
      std::erase_if(more, [](const std::string& one) { return one.starts_with("slo."); });
      more.emplace_back("slo.e2e_p50=1 h");
      const FleetPlan plan = plan_fleet(read_fleet(scenario_tree(more), "command line", sources()), {1});
      REQUIRE(plan.autoscaling);
      const Autoscaling& a = *plan.autoscaling;
      const double hours = bursts ? 1.0 : 24.0;
      for (const ScaledFleet* fleet : {&a.fixed, &a.scaled}) {
        CHECK(std::isfinite(fleet->gpu_hours));
        CHECK(fleet->gpu_hours > 0.0);
        CHECK(fleet->gpu_hours <= static_cast<double>(fleet->most) * hours * (1.0 + 1e-9));
        CHECK(fleet->gpu_hours >= static_cast<double>(fleet->least) * hours * (1.0 - 1e-9));
        check_share(fleet->missed);
        check_share(fleet->overloaded);
        CHECK(std::isfinite(fleet->longest_wait.raw()));
      }
      CHECK(a.fixed.most == 2);
      CHECK(a.freed_gpu_hours() >= 0.0);
      CHECK(a.freed_gpu_hours() <= a.fixed.gpu_hours);
      CHECK(a.above_gpu_hours() >= 0.0);
      CHECK(std::abs(a.freed_gpu_hours() - a.above_gpu_hours() - (a.fixed.gpu_hours - a.scaled.gpu_hours)) <
            1e-9 * a.fixed.gpu_hours);
    }
  }
}
