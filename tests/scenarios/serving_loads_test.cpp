// SPDX-License-Identifier: Apache-2.0
// From a measured row of a queue to the requests of its run, and what the run says.
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/model/serve/load/lengths.hpp>
#include <headroom/model/serve/time/random_stream.hpp>
#include <headroom/scenarios/measured/serving_loads.hpp>
#include <headroom/scenarios/measured/serving_row.hpp>
#include <headroom/scenarios/measured/serving_simulated.hpp>

#include <doctest/doctest.h>

#include "../model/serving_tables.hpp"
#include "../near.hpp"
#include "../support/model_data.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using headroom::test::sources;
using test::near;

namespace {

ServingConfiguration run(std::string_view scenario) {
  ServingConfiguration c;
  c.model = "Llama-3.1-8B";
  c.gpu = "H100-SXM5-80GB";
  c.weight_dtype = c.act_dtype = c.kv_dtype = "bf16";
  c.engine = "vLLM";
  c.engine_version = "0.9.0";
  c.gpus = c.tp = 1;
  c.isl = 1000;
  c.osl = 100;
  c.options["scenario"] = scenario;
  c.options["requests"] = "200";
  return c;
}

RowPrediction predicted(const ServingConfiguration& c, std::string_view metric) {
  static ServingRowModel model{sources()};
  return model.predict(c, metric, metric.find("_ms_") != std::string_view::npos ? "ms" : "1/s");
}

PublishedLoads loads_of(const std::string& lengths, Diagnostics& diagnostics) {
  return read_published_loads(
      parse_toml(
          "schema = 1\nid = \"serve-loads\"\nseed = 1\nrepeats = 2\nrequests = "
          "500\nwaves = 4\nserver_requests = 900\nserver_seconds = 30\nserver_most = 2000\nsource = \"a test\"\n" +
              lengths,
          "loads.toml"),
      diagnostics);
}

const std::string chat =
    "[[lengths]]\nid = \"chat\"\nprompt = [200, 300]\noutput = [100, 150]\noutput_mean = 120\n"
    "prompt_shape = \"lognormal\"\nprompt_spread = 0.5\nprompt_most = 4000\noutput_shape = \"uniform\"\n"
    "output_spread = 0.25\noutput_most = 200\nsource = \"a test\"\n";

}  // namespace

TEST_CASE("a set of lengths without bounds is known by its name alone") {
  Diagnostics diagnostics;
  std::string named = chat;
  for (const std::string_view bounds : {"prompt = [200, 300]\n", "output = [100, 150]\n"}) {
    named.erase(named.find(bounds), bounds.size());
  }
  const PublishedLoads loads = loads_of(named, diagnostics);
  CHECK(diagnostics.empty());
  ServingConfiguration c = run("offline");
  std::string why;
  CHECK(client_load(c, 250, 120, loads, why)->output.shape == LengthShape::fixed);
  c.options["lengths"] = "chat";
  CHECK(client_load(c, 250, 120, loads, why)->output.shape == LengthShape::uniform);
}

TEST_CASE("answers that somebody counted are drawn as they were counted, cut at the set's own limit") {
  const std::string counted =
      "[[counted]]\nid = \"short and cut\"\nanswers = [2, 150, 300, 512]\nsource = \"a test\"\n";
  std::string named = chat;
  named.insert(named.find("source"), "output_counted = \"short and cut\"\n");
  Diagnostics diagnostics;
  const PublishedLoads loads = loads_of(counted + named, diagnostics);
  REQUIRE(diagnostics.empty());
  ServingConfiguration c = run("offline");
  c.options["requests"] = "20000";
  std::string why;
  const std::optional<ClientLoad> load = client_load(c, 250, 120, loads, why);
  REQUIRE(load);
  const RequestLoad drawn = requests_of(*load, 5);
  for (const int tokens : {2, 150, 200}) {
    const auto of = std::count_if(drawn.requests.begin(), drawn.requests.end(),
                                  [&](const Request& r) { return r.output_tokens == tokens; });
    CHECK(static_cast<double>(of) / 20000.0 == near(tokens == 200 ? 0.5 : 0.25, 0.05));
  }
  ClientLoad by_law = *load;
  by_law.known = nullptr;  // prompts and arrivals do not hang on where answers come from
  const RequestLoad others = requests_of(by_law, 5);
  CHECK(std::equal(drawn.requests.begin(), drawn.requests.end(), others.requests.begin(),
                   [](const Request& a, const Request& b) { return a.prompt_tokens == b.prompt_tokens; }));
  Diagnostics unknown;
  static_cast<void>(loads_of(named, unknown));
  CHECK(unknown.size() == 1);
  Diagnostics empty;
  static_cast<void>(loads_of("[[counted]]\nid = \"none\"\nanswers = [0]\nsource = \"a test\"\n", empty));
  CHECK(empty.size() == 1);
}

TEST_CASE("percentiles of a load that runs several times are those of all its requests together") {
  // One request in 150 takes 500 tokens: of single runs of 100 the 99th percentile is that long, or is not.
  std::string answers = "answers = [500";
  for (int i = 1; i < 150; ++i) {
    answers += ", 10";
  }
  std::string named = chat;
  named.insert(named.find("source"), "output_counted = \"rare\"\n");
  named.replace(named.find("output_most = 200"), 17, "output_most = 600");
  Diagnostics diagnostics;
  PublishedLoads loads =
      loads_of("[[counted]]\nid = \"rare\"\n" + answers + "]\nsource = \"a test\"\n" + named, diagnostics);
  REQUIRE(diagnostics.empty());
  loads.requests = 10'000;
  loads.repeats = 100;
  ServingConfiguration c = run("online");
  c.request_rate = 0.2;
  c.options["requests"] = "100";
  std::string why;
  const std::optional<ClientLoad> load = client_load(c, 250, 120, loads, why);
  REQUIRE(load);
  REQUIRE(load->repeats(loads) == 100);
  const IterationTables tables = test::simple_tables({10'000'000'000, 0, 0, 0, 0});
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.engine.max_num_seqs = 64;
  fleet.pool.engine.max_num_tokens = 8192;
  fleet.pool.engine.blocks = 10'000;
  TimesOfRuns times;
  double mean_of_runs = 0.0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const RequestLoad drawn = requests_of(*load, seed);
    const FleetResult result = simulate(fleet, drawn);
    times.add(drawn, result);
    mean_of_runs += 0.01 * serving_metrics(drawn, result).all.e2e.p99.raw();
  }
  ClientReport report;
  times.report(report);
  CHECK(report.e2e[4] < 0.2);       // 10 tokens of 10 ms: of 10,000 requests fewer than one in a hundred is long
  CHECK(mean_of_runs > 4.0 * 0.2);  // and of half of the runs one in a hundred is
}

TEST_CASE("about the longest of many lengths is the quantile that one of them exceeds, within the limit") {
  LengthLaw law;
  law.mean = 100;
  CHECK(longest_of(law, 1000) == 100.0);
  CHECK(cv_of(law) == 0.0);
  law.shape = LengthShape::uniform;
  law.low = 0.4;
  CHECK(longest_of(law, 1000) == doctest::Approx(160));
  law.shape = LengthShape::exponential;
  CHECK(longest_of(law, 1000) == doctest::Approx(100 * std::log(1000)));
  law.shape = LengthShape::lognormal;
  law.cv = 1.0;
  // exp(mu + 2.326 sigma), mu = ln(100) - ln(2) / 2, sigma^2 = ln(2)
  CHECK(longest_of(law, 100) == doctest::Approx(490.5).epsilon(0.01));
  CHECK(longest_of(law, 1) == 100.0);
  law.most = 300;
  CHECK(longest_of(law, 100) == 300.0);
}

TEST_CASE("the outputs of a set that a launch names differ as the set says, and without a name they are all equal") {
  const PublishedLoads& loads = published_loads(test::model_data());
  ServingConfiguration run;
  CHECK_FALSE(named_outputs(run, 3700, loads));
  run.options["lengths"] = "mlperf-reasoning";
  const std::optional<LengthLaw> outputs = named_outputs(run, 3700, loads);
  REQUIRE(outputs);
  // The mean is counted with the limit: without it the law's is above.
  RandomStream random{7};
  double drawn = 0.0;
  constexpr int draws = 200'000;
  for (int i = 0; i < draws; ++i) {
    drawn += draw(*outputs, random) / double{draws};
  }
  CHECK(drawn == doctest::Approx(3700.0).epsilon(0.01));
  CHECK(outputs->mean > 3700.0);
  CHECK(cv_of(*outputs) == 1.3);  // as the end-to-end times of DeepSeek-R1's published runs spread
  CHECK(longest_of(*outputs, 4096) == 20000.0);
}

TEST_CASE("prompts that warm-ups sent before the run are not fresh in it") {
  ServingConfiguration c = run("closed");
  c.concurrency = 32.0;
  CHECK_FALSE(fresh_prompts(c));  // every prompt is new
  c.options["distinct_prompts"] = "100";
  CHECK(fresh_prompts(c) == 100.0);
  c.options["warmups_per_client"] = "2";
  CHECK(fresh_prompts(c) == 36.0);  // 100 less 2 of each of 32
  c.concurrency = 64.0;
  CHECK(fresh_prompts(c) == 0.0);
  std::string why;
  const std::optional<ClientLoad> load = client_load(c, 1000.0, 100.0, published_loads(sources().data), why);
  REQUIRE(load);
  const RequestLoad requests = requests_of(*load, 1);
  CHECK(std::all_of(requests.requests.begin(), requests.requests.end(),
                    [](const auto& r) { return r.cached_tokens == r.prompt_tokens - 1; }));
}

TEST_CASE("a row's load: who sends, how many, how long") {
  Diagnostics diagnostics;
  const PublishedLoads loads = loads_of(chat, diagnostics);
  REQUIRE(diagnostics.empty());
  std::string why;
  ServingConfiguration c = run("online");
  c.request_rate = 8.0;
  std::optional<ClientLoad> load = client_load(c, 1000, 100, loads, why);
  REQUIRE(load);
  CHECK(load->kind == ClientKind::open);
  CHECK(load->rate == 8.0);
  CHECK(load->requests == 200);
  CHECK(load->prompt.shape == LengthShape::fixed);  // of no known set
  CHECK(load->prompt.mean == 1000.0);
  CHECK(load->output.mean == 100.0);

  load = client_load(run("burst"), 250, 140, loads, why);
  REQUIRE(load);
  CHECK(load->kind == ClientKind::burst);
  CHECK(load->prompt.shape == LengthShape::lognormal);
  CHECK(load->prompt.cv == 0.5);
  CHECK(load->prompt.mean == doctest::Approx(250.0));
  CHECK(load->output.shape == LengthShape::uniform);
  CHECK(load->output.low == 0.25);
  CHECK(load->output.mean == 120.0);  // the set's own
  CHECK(load->output.most == 200);
  CHECK(client_load(run("burst"), 250, 151, loads, why)->prompt.shape == LengthShape::fixed);  // half a set is none

  c = run("closed");
  c.concurrency = 3.0;
  c.options.erase("requests");
  load = client_load(c, 10, 10, loads, why);
  REQUIRE(load);
  CHECK(load->kind == ClientKind::closed);
  CHECK(load->clients == 3);
  CHECK(load->requests == 12);
  CHECK(why.empty());
}

TEST_CASE("requests of a load: the row's rate and number, all at once, or one for each client") {
  Diagnostics diagnostics;
  const PublishedLoads loads = loads_of(chat, diagnostics);
  ClientLoad load;
  load.requests = 4000;
  load.kind = ClientKind::open;
  load.rate = 20.0;
  load.prompt.mean = 64.0;
  const RequestLoad open = requests_of(load, 5);
  REQUIRE(open.requests.size() == 4000);
  CHECK(open.concurrency == 0);
  // 4,000 exponential gaps: their mean within 3 / sqrt(4000)
  CHECK(seconds_of(open.requests.back().arrival) == near(200.0, 0.05));
  CHECK(open.requests[7].prompt_tokens == 64);
  load.kind = ClientKind::burst;
  CHECK(requests_of(load, 5).requests.back().arrival == Picoseconds{0});
  load.kind = ClientKind::closed;
  load.clients = 7;
  CHECK(requests_of(load, 5).concurrency == 7);
  CHECK_FALSE(load.random());
  load.prompt = loads.lengths.front().prompt;
  load.prompt.mean = 250.0;
  CHECK(load.random());
  CHECK(load.repeats(loads) == 1);  // 4,000 requests are enough
  load.requests = 20;
  CHECK(load.repeats(loads) == 2);
  load.requests = 4000;
  double sum = 0.0;
  for (const Request& request : requests_of(load, 5).requests) {
    sum += request.prompt_tokens;
  }
  CHECK(sum / 4000.0 == near(250.0, 0.03));
}

TEST_CASE("a queue's row is told what is not published") {
  ServingConfiguration c = run("online");
  CHECK(predicted(c, "ttft_ms_p50").why == "not published: request_rate");
  c.request_rate = 2.0;
  CHECK(predicted(c, "ttft_ms_p50").status == RowStatus::ok);
  c.options.erase("requests");
  CHECK(predicted(c, "ttft_ms_p50").why == "not published: options.requests, how many were sent");
  c = run("closed");
  CHECK(predicted(c, "ttft_ms_p99").why == "not published: concurrency");
  c = run("interactive");
  CHECK(predicted(c, "ttft_ms_p99").status == RowStatus::ok);
  c.options["speculative"] = "1";
  CHECK(predicted(c, "ttft_ms_p99").why == "speculative decoding without a published acceptance");
}

TEST_CASE("runs of rows: below saturation the offered rate, above it the engine's, and waits that grow") {
  ServingConfiguration c = run("online");
  c.request_rate = 1.0;
  const double calm = predicted(c, "ttft_ms_mean").predicted;
  CHECK(predicted(c, "requests_per_s").predicted == near(1.0, 0.1));  // 1,000 Poisson arrivals: three deviations
  c.request_rate = 1e4;
  const double flooded = predicted(c, "requests_per_s").predicted;
  CHECK(flooded < 1000.0);
  CHECK(predicted(c, "ttft_ms_mean").predicted > 5.0 * calm);
  // all at once is the same flood
  CHECK(predicted(run("burst"), "requests_per_s").predicted == near(flooded, 0.05));
  CHECK(predicted(run("offline"), "requests_per_s").predicted == predicted(run("burst"), "requests_per_s").predicted);
  CHECK(predicted(run("burst"), "output_tokens_per_s").predicted ==
        near(100.0 * predicted(run("burst"), "requests_per_s").predicted));
  CHECK(predicted(run("burst"), "total_tokens_per_s").predicted ==
        near(1100.0 * predicted(run("burst"), "requests_per_s").predicted));
  const double p50 = predicted(run("burst"), "ttft_ms_p50").predicted;
  CHECK(p50 < predicted(run("burst"), "ttft_ms_p95").predicted);
  CHECK(predicted(run("burst"), "ttft_ms_p95").predicted < predicted(run("burst"), "ttft_ms_p99").predicted);
  c = run("burst");
  c.options["requests"] = "800";
  CHECK(predicted(c, "ttft_ms_p50").predicted > 2.0 * p50);
}

TEST_CASE("runs of rows: an interval is the errors of queues beside what the engine's speed makes of this load") {
  const ServingConfidence& errors = serving_confidence(sources().data);
  const auto of = [&](ServingQuantity quantity) {
    return errors.of("vllm-2025", quantity, false, "h100-sxm-80gb", "bf16");
  };
  const ServingErrors rate = of(ServingQuantity::rate);
  const ServingErrors ttft = of(ServingQuantity::queue_ttft);
  const auto above = [](const RowPrediction& p) { return std::log(p.high / p.predicted); };
  const auto below = [](const RowPrediction& p) { return std::log(p.predicted / p.low); };
  // All times of a burst go with the engine's.
  const RowPrediction burst = predicted(run("burst"), "ttft_ms_p50");
  CHECK(above(burst) == near(std::hypot(std::log(ttft.high), std::log(rate.low))));
  CHECK(below(burst) == near(std::hypot(std::log(ttft.low), std::log(rate.high))));
  const RowPrediction answered = predicted(run("burst"), "requests_per_s");
  CHECK(above(answered) == near(std::hypot(std::log(of(ServingQuantity::queue_rate).high), std::log(rate.high))));
  // Of an open load: hardly more than the speed where requests hardly meet, many times as much near the knee.
  ServingConfiguration c = run("online");
  c.request_rate = 0.05;
  const RowPrediction calm = predicted(c, "ttft_ms_p50");
  CHECK(above(calm) == near(std::hypot(std::log(ttft.high), std::log(rate.low)), 0.1));
  c.request_rate = 0.97 * answered.predicted;
  const auto by_speed = [&](const RowPrediction& p) {
    return std::sqrt(std::pow(above(p), 2) - std::pow(std::log(ttft.high), 2));
  };
  CHECK(by_speed(predicted(c, "ttft_ms_p50")) > 3.0 * by_speed(calm));
  // How much of an open load is answered: all of it, but for how many came, unless the engine is too slow for it.
  c.request_rate = 0.05;
  CHECK(above(predicted(c, "requests_per_s")) < 0.15);
  CHECK(below(predicted(c, "requests_per_s")) < 0.15);
  c.request_rate = 1e4;
  const ServingErrors speed = beside_reach(of(ServingQuantity::queue_rate), {rate.low, rate.high});
  CHECK(below(predicted(c, "requests_per_s")) == near(-std::log(speed.low), 0.05));
}

TEST_CASE("runs of rows: GPUs beyond the stated replicas idle") {
  ServingConfiguration c = run("burst");
  const double one = predicted(c, "requests_per_s").predicted;
  c.gpus = 4;
  CHECK(predicted(c, "requests_per_s").predicted > 2.0 * one);
  c.dp = 1;
  CHECK(predicted(c, "requests_per_s").predicted == one);
}

TEST_CASE("runs of rows: the same again in another model, and no better than the hardware") {
  for (const std::string_view scenario : {"online", "burst", "closed"}) {
    ServingConfiguration c = run(scenario);
    c.isl = 219.0;
    c.osl = 200.0;  // of a set with many lengths
    c.request_rate = 5.0;
    c.concurrency = 4.0;
    for (const std::string_view metric : {"ttft_ms_p99", "tpot_ms_p99", "e2e_ms_mean"}) {
      CAPTURE(scenario);
      CAPTURE(metric);
      const RowPrediction p = predicted(c, metric);
      REQUIRE(p.status == RowStatus::ok);
      CHECK(p.predicted > p.fastest);
      CHECK(p.low < p.predicted);
      CHECK(p.predicted < p.high);
      ServingRowModel fresh{sources()};
      CHECK(fresh.predict(c, metric, "ms").predicted == p.predicted);
    }
  }
}

TEST_CASE("published loads: every problem of the file with its place") {
  Diagnostics diagnostics;
  static_cast<void>(
      loads_of("[[lengths]]\nid = \"chat\"\nprompt = [300, 200]\noutput = [100]\nprompt_shape = \"gauss\"\n"
               "prompt_spread = 0.5\nprompt_most = 4000\noutput_shape = \"uniform\"\n"
               "output_spread = -1\noutput_most = 200\nspread = 3\nsource = \"a test\"\n",
               diagnostics));
  const auto told = [&](std::string_view part, int line) {
    const std::vector<Diagnostic> found = diagnostics.sorted();
    return std::any_of(found.begin(), found.end(), [&](const Diagnostic& d) {
      return d.message.find(part) != std::string::npos && d.at.line == line;
    });
  };
  CHECK(told("two mean lengths", 13));
  CHECK(told("two mean lengths", 13));
  CHECK(told("gauss", 15));
  CHECK(told("output_spread", 19));
  CHECK(told("spread", 21));
}

TEST_CASE("the loads that ship: each set can be drawn from") {
  const PublishedLoads& loads = published_loads(test::model_data());
  REQUIRE_FALSE(loads.lengths.empty());
  for (const KnownLengths& known : loads.lengths) {
    CAPTURE(known.id);
    if (known.prompt_bounds[0] <= 0.0) {  // known by its name alone
      for (LengthLaw law : {known.prompt, known.output}) {
        law.mean = 100.0;
        CHECK(problems(law, "lengths").empty());
      }
      continue;
    }
    for (const double isl : known.prompt_bounds) {
      for (const double osl : known.output_bounds) {
        const auto first = std::find_if(loads.lengths.begin(), loads.lengths.end(),
                                        [&](const KnownLengths& k) { return k.holds(isl, osl); });
        REQUIRE(first != loads.lengths.end());
        LengthLaw law = first->prompt;
        law.mean = law.mean > 0.0 ? law.mean : isl;
        CHECK(problems(law, "prompt").empty());
        law = first->output;
        law.mean = law.mean > 0.0 ? law.mean : osl;
        CHECK(problems(law, "output").empty());
      }
    }
  }
}
