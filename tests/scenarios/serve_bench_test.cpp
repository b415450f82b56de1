// SPDX-License-Identifier: Apache-2.0
// An exported server lets in every request that its plan counts with, and its benchmark sends the plan's load.
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/traffic/admission.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

/// Requests at 12 a second, fixed lengths, on three replicas of one server each.
std::vector<std::string> fleet(const std::string& engine) {
  return {"kind=serve",
          "model=llama3.1-70b",
          "hardware.gpu=h100-sxm-80gb",
          "serving.engine=" + engine,
          "serving.weights=fp8",
          "strategy.tp=4",
          "traffic.rate=12 req/s",
          "traffic.prompt={mean=1500}",
          "traffic.output={mean=250}",
          "fleet.replicas=3"};
}

Scenario asked(std::vector<std::string> all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

ExportedLaunch exported(const Scenario& scenario) {
  const auto& serve = std::get<ServeScenario>(scenario.question);
  const auto* const form = std::find(launch_form_names.begin(), launch_form_names.end(),
                                     engine_names[static_cast<std::size_t>(serve.engine.engine)]);
  return export_launch(scenario, serve, static_cast<LaunchForm>(form - launch_form_names.begin()));
}

ExportedLaunch exported(const std::string& engine, const std::vector<std::string>& more = {}) {
  return exported(asked(fleet(engine), more));
}

bool says(const ExportedLaunch& launch, const std::string& words) {
  return launch.text.find("    " + words + " \\\n") != std::string::npos ||
         launch.text.find("    " + words + "\n") != std::string::npos;
}

bool notes(const ExportedLaunch& launch, const std::string& start) {
  const bool noted = std::any_of(launch.notes.begin(), launch.notes.end(),
                                 [&](const LaunchNote& note) { return note.text.starts_with(start); });
  CHECK(noted == (launch.text.find("# not expressed: " + start) != std::string::npos));
  return noted;
}

/// The number behind a flag of the exported file.
double number(const ExportedLaunch& launch, const std::string& flag) {
  const std::size_t at = launch.text.find(" " + flag + " ");
  REQUIRE(at != std::string::npos);
  return std::stod(launch.text.substr(at + flag.size() + 2));
}

constexpr std::array<std::string_view, 3> engines{"vllm", "sglang", "tensorrt-llm"};
constexpr std::array<std::string_view, 3> limit_flags{"--max-model-len", "--context-length", "--max_seq_len"};
const std::vector<std::string> spread{"traffic.prompt={law=\"lognormal\", mean=1500, cv=1.0, most=16384}",
                                      "traffic.output={law=\"lognormal\", mean=250, cv=0.8, most=2048}"};

}  // namespace

TEST_CASE("servers let in the longest request of the traffic") {
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const std::string engine{engines[i]};
    CAPTURE(engine);
    const Scenario scenario = asked(fleet(engine), spread);
    const auto& serve = std::get<ServeScenario>(scenario.question);
    const double longest = number(exported(scenario), std::string{limit_flags[i]});
    CHECK(longest == static_cast<double>(serve.traffic->lengths().longest));
    CHECK(longest > 16384.0);  // of a law that reaches its end, both together
    CHECK(std::find(scenario.assumptions.begin(), scenario.assumptions.end(),
                    "serving.max_seq_len = " + std::to_string(std::llround(longest)) + " (the longest request)") !=
          scenario.assumptions.end());
    CHECK(number(exported(engine, {"serving.max_seq_len=9000"}), std::string{limit_flags[i]}) == 9000.0);
    CHECK(number(exported(engine), std::string{limit_flags[i]}) == 1750.0);  // all are as long
  }
}

TEST_CASE("what a server refuses is told with its share: beyond a stated length, and beyond the model's positions") {
  // Answers of 250 tokens each; of the prompts, by their law, the share that makes a request longer than so many.
  const std::string law = "traffic.prompt={law=\"lognormal\", mean=1500, cv=1.0}";
  const auto longer = [](double tokens) {
    const double variance = std::log(2.0);  // of cv 1
    const double prompt = tokens - 250.0 + 0.5;
    return 50.0 * std::erfc((std::log(prompt / 1500.0) + 0.5 * variance) / std::sqrt(2.0 * variance));
  };
  const auto refused = [](const ExportedLaunch& launch) {
    for (const auto& [key, note] : launch.notes) {
      if (note.find(" tokens that a server lets in (") != std::string::npos) {
        CHECK(launch.text.find("# not expressed: " + note) != std::string::npos);
        return note;
      }
    }
    return std::string{};
  };
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const std::string engine{engines[i]};
    CAPTURE(engine);
    const Scenario positions = asked(fleet(engine), {"model=llama3-70b", law});
    CHECK(number(exported(positions), std::string{limit_flags[i]}) == 8192.0);
    CHECK(std::any_of(positions.assumptions.begin(), positions.assumptions.end(), [](const std::string& one) {
      return one.starts_with("serving.max_seq_len = 8192 (the positions of llama3-70b; the longest request has ");
    }));
    const std::string beyond = refused(exported(positions));
    REQUIRE(beyond.find("than the 8192 tokens that a server lets in (the positions of llama3-70b)") !=
            std::string::npos);
    CHECK(std::stod(beyond) == doctest::Approx(longer(8192.0)).epsilon(0.3));
    const std::string stated = refused(exported(engine, {law, "serving.max_seq_len=3000"}));
    REQUIRE(stated.find("than the 3000 tokens that a server lets in (serving.max_seq_len)") != std::string::npos);
    CHECK(std::stod(stated) == doctest::Approx(longer(3000.0)).epsilon(0.08));
    CHECK(stated.find("it refuses them, while the plan counts and simulates them") != std::string::npos);
    CHECK(refused(exported(engine, {"serving.max_seq_len=9000"})).empty());  // no request is longer than 1750
    const Scenario above = asked(fleet(engine), {"model=llama3-70b", "serving.max_seq_len=16384"});
    CHECK(notes(exported(above), "serving.max_seq_len = 16384 is beyond the 8192 positions of llama3-70b"));
  }
}

TEST_CASE("a benchmark sends the rate that its server gets, for five minutes, however many are under way") {
  for (const std::string_view name : engines) {
    const std::string engine{name};
    CAPTURE(engine);
    const ExportedLaunch launch = exported(engine);
    CHECK(number(launch, "--request-rate") == 4.0);  // one of three servers
    CHECK(number(launch, "--num-prompts") == 1200.0);
    CHECK(launch.text.find("--max-concurrency") == std::string::npos);
    CHECK(launch.text.find("--concurrency") == std::string::npos);
    CHECK(notes(launch, "fleet.replicas = 3 (one server a replica"));
    CHECK(notes(launch, "fleet.routing = \"least-outstanding\" ("));
    CHECK_FALSE(notes(launch, "traffic.rate"));
    const ExportedLaunch rare = exported(engine, {"traffic.rate=0.03 req/s"});
    CHECK(number(rare, "--num-prompts") >= 100.0);  // enough for a tail
  }
  // Replicas of one host are one server of vLLM's and SGLang's, which gets everything.
  const std::vector<std::string> host{"fleet.replicas=2"};
  CHECK(number(exported("vllm", host), "--request-rate") == 12.0);
  CHECK(says(exported("vllm", host), "--data-parallel-size 2"));
  CHECK_FALSE(notes(exported("vllm", host), "fleet.replicas"));
  CHECK(number(exported("sglang", host), "--request-rate") == 12.0);
  CHECK(number(exported("tensorrt-llm", host), "--request-rate") == 6.0);
  const ExportedLaunch alone = exported("vllm", {"fleet.replicas=1"});
  CHECK_FALSE(notes(alone, "fleet."));
}

TEST_CASE("lengths that spread are drawn as wide, as far as the longest is let in") {
  for (const std::string_view name : engines) {
    const std::string engine{name};
    CAPTURE(engine);
    const auto drawn = [&](const std::vector<std::string>& more) {
      const ExportedLaunch launch = exported(engine, more);
      const double length = number(launch, "--random-input-len");
      const double ratio = number(launch, "--random-range-ratio");
      const bool below = engine == "sglang";  // from ratio x length to length
      const double low = below ? ratio * length : (1.0 - ratio) * length;
      const double high = below ? length : (1.0 + ratio) * length;
      CHECK(0.5 * (low + high) == doctest::Approx(1500.0).epsilon(0.001));
      return (high - low) / 1500.0;
    };
    CHECK(drawn({}) == doctest::Approx(0.0));
    const std::vector<std::string> even{"traffic.prompt={law=\"uniform\", mean=1500, low=0.4}",
                                        "traffic.output={law=\"uniform\", mean=250, low=0.4}"};
    CHECK(drawn(even) == doctest::Approx(1.2).epsilon(0.002));
    CHECK_FALSE(notes(exported(engine, even), "traffic."));
    // A law's deviation is an even one's of sqrt(3) times the half width.
    CHECK(drawn({"traffic.prompt={law=\"lognormal\", mean=1500, cv=0.3}"}) ==
          doctest::Approx(2.0 * std::sqrt(3.0) * 0.3).epsilon(0.005));
    CHECK(drawn(spread) < 2.0);
    CHECK(notes(exported(engine, spread), "traffic.prompt.law = \"lognormal\" ("));
    const double kept = drawn({"traffic.prompt={law=\"lognormal\", mean=1500, cv=0.5}", "serving.max_seq_len=2000"});
    CHECK((1.0 + 0.5 * kept) * 1750.0 <= 2001.0);
  }
}

TEST_CASE("gaps other than a Poisson process's, promises and the rest of the load are sent or told") {
  const std::vector<std::string> gamma{"traffic.arrivals=gamma", "traffic.cv=2.0"};
  CHECK(number(exported("vllm", gamma), "--burstiness") == 0.25);
  CHECK(number(exported("tensorrt-llm", gamma), "--burstiness") == 0.25);
  CHECK(notes(exported("sglang", gamma), "traffic.arrivals = \"gamma\" ("));
  CHECK(notes(exported("vllm", {"traffic.arrivals=constant"}), "traffic.arrivals = \"constant\" ("));
  const std::vector<std::string> promised{"slo.ttft_p95=1 s", "slo.tpot_p99=50 ms"};
  CHECK(says(exported("vllm", promised), "--metric-percentiles 95,99"));
  const ExportedLaunch rest =
      exported("vllm", {"traffic.prefix={groups=4, tokens=512}", "traffic.retries={failure=0.1}",
                        "traffic.over_time={shape=\"diurnal\", peak_over_mean=1.5}", "fleet.spare=1"});
  for (const char* said :
       {"traffic.prefix = \"4 groups of 512 tokens\" (", "traffic.retries = \"10.0 % of the attempts fail, ",
        "traffic.over_time = \"", "fleet.spare = 1"}) {
    CHECK(notes(rest, said));
  }
  CHECK(rest.text.find(" req/s over 24.0 h\" (") != std::string::npos);
  CHECK(rest.text.find("\"stated\"") == std::string::npos);
  CHECK(number(rest, "--request-rate") > 1.5 * 4.0);  // the peak's, and the attempts that retries add
  const ExportedLaunch kinds = exported(
      asked({"kind=serve", "model=llama3.1-70b", "hardware.gpu=h100-sxm-80gb", "serving.weights=fp8", "strategy.tp=4",
             "traffic.class=[{name=\"chat\", rate=\"3 req/s\", prompt={mean=100}, output={mean=100}}, {name=\"code\", "
             "rate=\"1 "
             "req/s\", prompt={mean=900}, output={mean=100}}]"},
            {"fleet.replicas=1"}));
  CHECK(notes(kinds, "traffic.class = 2 ("));
  CHECK(number(kinds, "--random-input-len") == 300.0);
  CHECK(number(kinds, "--request-rate") == 4.0);
}

TEST_CASE(
    "of a fleet that prefills apart the file says what else there is, and not that its benchmark is the plan's load") {
  for (const std::string_view name : engines) {
    const std::string engine{name};
    CAPTURE(engine);
    const std::vector<std::string> apart{"fleet.replicas=1", "fleet.prefill={tp=2, replicas=3, link=\"50 GB/s\"}"};
    const ExportedLaunch launch = exported(engine, apart);
    CHECK(notes(launch, "fleet.prefill = \"3 replicas of tp 2, 6 GPUs\" ("));
    CHECK(launch.text.find("loads it as the plan does") == std::string::npos);
    CHECK(exported(engine).text.find("loads it as the plan does") != std::string::npos);
    CHECK(launch.text.find("\"stated\"") == std::string::npos);
  }
}

TEST_CASE("what no launch file has a place for is told with its numbers") {
  CHECK(notes(exported("vllm", {"traffic.cached_share=0.5"}), "traffic.cached_share = \"50.0 % of a prompt\" ("));
  CHECK(
      notes(exported("vllm", {"fleet.autoscale={cold_start=\"5 min\", least=2, target=0.6}"}),
            "fleet.autoscale = \"at 60.0 % of what replicas saturate at, 300 s to start one, 2 replicas at least\" ("));
  const ExportedLaunch tiers =
      exported("vllm", {"traffic.prefix={groups=1, tokens=512, share=0.25, zipf=1.5}",
                        "serving.kv_offload.disk={capacity=\"64 GiB\", bandwidth=\"10 GB/s\", latency=\"2 ms\"}"});
  CHECK(notes(tiers, "traffic.prefix = \"1 group of 512 tokens, 25.0 % of the requests, zipf 1.50\" ("));
  CHECK(notes(tiers, "serving.kv_offload = \"disk 64.0 GiB at 10.0 GB/s after 2.00 ms\" ("));
}

TEST_CASE("a fixed load is sent as before: so many in flight, eight requests for each") {
  const std::vector<std::string> fixed{
      "kind=serve",      "model=llama3-70b",       "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8", "serving.isl=2048",
      "serving.osl=256", "serving.concurrency=64", "serving.weights=bf16",       "strategy.tp=8"};
  const ExportedLaunch launch = exported(asked(fixed, {}));
  CHECK(number(launch, "--max-concurrency") == 64.0);
  CHECK(number(launch, "--num-prompts") == 512.0);
  CHECK(launch.text.find("--request-rate") == std::string::npos);
  CHECK(number(launch, "--max-model-len") == 2304.0);
}

TEST_CASE("a benchmark of a fixed load whose lengths are drawn is read by their means, and says so") {
  const std::string sglang =
      "python -m sglang.launch_server --model-path Qwen/Qwen3-32B --quantization fp8\n"
      "python -m sglang.bench_serving --random-input-len 2000 --random-output-len 500 --max-concurrency 16";
  const std::string vllm =
      "vllm serve Qwen/Qwen3-32B -q fp8\n"
      "vllm bench serve --random-input-len 2000 --random-output-len 500 --max-concurrency 16";
  struct Case {
    std::string text, drawn;
    std::int64_t isl, osl;
  };
  const std::vector<Case> cases{
      {sglang + " --random-range-ratio 0.2\n", "0.2;", 1200, 300},
      {sglang + "\n", "0.0, for the file does not say it;", 1000, 250},
      {vllm + " --random-range-ratio 0.5\n", "0.5;", 2000, 500},
      {sglang + " --random-range-ratio 1.0\n", "", 2000, 500},
      {vllm + " --random-range-ratio 0.0\n", "", 2000, 500},
      {vllm + "\n", "", 2000, 500},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const ImportedLaunch back =
        import_launch({"serve.sh", c.text}, {std::nullopt, {"hardware.gpu=h100-sxm-80gb"}, false}, sources());
    const std::string told = "serve.sh:2: ignored: lengths are drawn with --random-range-ratio " + c.drawn +
                             " a load without a rate takes their means, isl " + std::to_string(c.isl) + " and osl " +
                             std::to_string(c.osl);
    const auto drawn = std::count_if(back.remarks.begin(), back.remarks.end(), [](const std::string& r) {
      return r.find("--random-range-ratio") != std::string::npos;
    });
    CHECK(drawn == (c.drawn.empty() ? 0 : 1));
    CHECK(std::count(back.remarks.begin(), back.remarks.end(), told) == drawn);
    CHECK(back.toml.find("isl = " + std::to_string(c.isl) + "\n") != std::string::npos);
    CHECK(back.toml.find("osl = " + std::to_string(c.osl) + "\n") != std::string::npos);
  }
}

TEST_CASE("a load that a benchmark sends at a rate comes back as traffic") {
  for (const char* engine : {"vllm", "sglang"}) {
    CAPTURE(engine);
    const Scenario scenario =
        asked(fleet(engine), {"fleet.replicas=2", "traffic.prompt={law=\"uniform\", mean=1500, low=0.4}",
                              "traffic.output={law=\"uniform\", mean=250, low=0.4}"});
    const ImportedLaunch back = import_launch({"serve.sh", exported(scenario).text},
                                              {std::nullopt, {"hardware.gpu=h100-sxm-80gb"}, false}, sources());
    const auto& ours = std::get<ServeScenario>(scenario.question);
    const auto& theirs = std::get<ServeScenario>(back.scenario.question);
    CHECK(theirs.architecture.id == ours.architecture.id);
    CHECK(theirs.work.layout.tp == 4);
    REQUIRE(theirs.traffic);
    CHECK(theirs.traffic->rate().raw() == doctest::Approx(12.0));
    CHECK(theirs.fleet->replicas == 2);
    const LengthLaw& prompt = theirs.traffic->classes.front().traffic.prompt;
    CHECK(prompt.shape == LengthShape::uniform);
    CHECK(prompt.mean == doctest::Approx(1500.0).epsilon(0.001));
    CHECK(prompt.low == doctest::Approx(0.4).epsilon(0.005));
    CHECK(admitted_tokens(theirs) == admitted_tokens(ours));
    // The scenario file says the same.
    const Scenario again = read_scenario(parse_toml(back.toml, "again"), "again", sources());
    CHECK(std::get<ServeScenario>(again.question).traffic->rate().raw() == doctest::Approx(12.0));
  }
  const ImportedLaunch gamma = import_launch({"serve.sh",
                                              "vllm serve Qwen/Qwen3-32B -q fp8\nvllm bench serve --random-input-len "
                                              "500 --random-output-len 50 --request-rate "
                                              "3.5 --burstiness 0.25 --max-concurrency 9\n"},
                                             {std::nullopt, {"hardware.gpu=h100-sxm-80gb"}, false}, sources());
  const auto& serve = std::get<ServeScenario>(gamma.scenario.question);
  CHECK(serve.traffic->classes.front().traffic.arrivals.gaps == GapShape::gamma);
  CHECK(serve.traffic->classes.front().traffic.arrivals.cv == doctest::Approx(2.0));
  CHECK(std::any_of(gamma.remarks.begin(), gamma.remarks.end(),
                    [](const std::string& r) { return r.find("ignored: --max-concurrency") != std::string::npos; }));
}
