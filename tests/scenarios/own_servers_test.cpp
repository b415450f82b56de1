// SPDX-License-Identifier: Apache-2.0
// Measured runs of the user's own servers: how far they move times and rates, how far they narrow the intervals, and
// which of them count.
#include <headroom/scenarios/measured/serving_row.hpp>
#include <headroom/scenarios/plan/own_servers.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "../support/sources.hpp"
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

Scenario asked() {
  const std::vector<std::string> all{"kind=serve",           "hardware.gpu=h100-sxm-80gb", "model=llama3-8b",
                                     "serving.weights=bf16", "serving.isl=1024",           "serving.osl=128",
                                     "hardware.gpus=1",      "serving.concurrency=16",     "strategy.tp=1",
                                     "serving.engine=vllm"};
  return scenario_from_overrides(all, sources());
}

const ServeScenario& server(const Scenario& scenario) {
  return std::get<ServeScenario>(scenario.question);
}

constexpr std::string_view header =
    "model,gpu,gpus,tp,pp,weight_dtype,kv_dtype,isl,osl,concurrency,request_rate,engine,options,metric,value,unit\n";

std::string row(const std::string& metric,
                double value,
                const std::string& front = "llama3-8b,h100-sxm-80gb",
                const std::string& load = "16,") {
  return front + ",1,1,1,bf16,bf16,1024,128," + load + ",vLLM,scenario=closed," + metric + "," + std::to_string(value) +
         "," + (metric.ends_with("per_s") ? "tokens/s" : "ms") + "\n";
}

RunFile file_of(const std::string& rows) {
  std::istringstream stream{std::string{header} + rows};
  Diagnostics diagnostics;
  RunFile file = read_runs(stream, "mine.csv", diagnostics);
  diagnostics.throw_if_any();
  return file;
}

OwnServers learned(const std::string& rows) {
  const Scenario scenario = asked();
  const std::vector<RunFile> files{file_of(rows)};
  Diagnostics diagnostics;
  OwnServers own = learn_from_servers(files, server(scenario), sources(), diagnostics);
  diagnostics.throw_if_any();
  return own;
}

std::string refused(const std::string& rows) {
  try {
    static_cast<void>(learned(rows));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

/// What is predicted of a row by itself.
double predicted(const std::string& metric) {
  ServingRowModel model{sources()};
  const RowPrediction prediction = model.predict(file_of(row(metric, 1.0)).rows.front());
  REQUIRE(prediction.status == RowStatus::ok);
  return prediction.predicted;
}

}  // namespace

TEST_CASE("own servers: levels are conditional means, and a time between tokens moves what shares the pace") {
  ServerLevels before;
  before.pace = 0.2;
  before.first_token = 0.3;
  before.rate = 0.1;
  before.noise.fill(0.1);
  // One TPOT off by 0.1: 0.04 / (0.04 + 0.01) of it is the pace, and 0.04 x 0.01 / 0.05 of the variance is left.
  const std::vector<ServerError> one{{ServingQuantity::tpot, 0.1}};
  const LearnedLevels pace = learned_levels(before, one);
  CHECK(pace.shift(ServingQuantity::tpot) == doctest::Approx(0.08));
  CHECK(pace.shift(ServingQuantity::ttft) == doctest::Approx(0.08));
  CHECK(pace.shift(ServingQuantity::rate) == doctest::Approx(0.08));
  CHECK(pace.variance(ServingQuantity::tpot) == doctest::Approx(0.008));
  CHECK(pace.variance(ServingQuantity::ttft) == doctest::Approx(0.098));  // 0.008 and 0.3 squared
  // One TTFT: of 0.14, level and noise, 0.04 are the pace and 0.09 the first token.
  const std::vector<ServerError> first{{ServingQuantity::ttft, 0.14}};
  const LearnedLevels token = learned_levels(before, first);
  CHECK(token.mean[0] == doctest::Approx(0.04));
  CHECK(token.mean[1] == doctest::Approx(0.09));
  CHECK(token.mean[2] == 0.0);
  // A rate that shows the pace's time moves it as a TPOT would, beside its own level: 0.04 of 0.04 + 0.01 + 0.01.
  const std::vector<ServerError> rate{{ServingQuantity::rate, 0.06}};
  CHECK(learned_levels(before, rate).mean[0] == doctest::Approx(0.04));
  // Runs without end leave no doubt of what they show.
  const std::vector<ServerError> many(10'000, ServerError{ServingQuantity::tpot, 0.1});
  CHECK(learned_levels(before, many).shift(ServingQuantity::tpot) == doctest::Approx(0.1).epsilon(1e-3));
  CHECK(learned_levels(before, many).variance(ServingQuantity::tpot) < 1e-5);
  CHECK(learned_levels(before, {}).shift(ServingQuantity::ttft) == 0.0);
}

TEST_CASE("own servers: a measured TPOT moves the plan's as far as the class's level allows, and narrows it") {
  const Scenario scenario = asked();
  const Plan plain = make_plan(asked(), false);
  const OwnServers own = learned(row("tpot_ms_mean", 1.2 * predicted("tpot_ms_mean")));
  CHECK(own.told.rows == 1);
  CHECK(own.told.level.runs == 1.0);
  REQUIRE(own.errors.size() == 1);
  CHECK(own.errors.front().error == doctest::Approx(std::log(1.2)));
  CHECK(own.told.slow() == doctest::Approx(1.0 / 1.2 - 1.0));  // ours over theirs
  const ServerLevels levels = server_levels(server(scenario));
  const double level = levels.pace * levels.pace;
  const double noise = std::pow(levels.noise[static_cast<std::size_t>(ServingQuantity::tpot)], 2.0);
  REQUIRE(level > 0.0);
  const double share = level / (level + noise);
  Plan moved = make_plan(asked(), false);
  apply_own_servers(moved, own);
  const auto& was = std::get<ServePlan>(plain.answer);
  const auto& now = std::get<ServePlan>(moved.answer);
  CHECK(now.tpot.mid / was.tpot.mid == doctest::Approx(std::pow(1.2, share)));
  CHECK(now.ttft.mid / was.ttft.mid == doctest::Approx(std::pow(1.2, share)));
  CHECK(was.requests_per_s.mid / now.requests_per_s.mid == doctest::Approx(std::pow(1.2, share)));
  const double narrower = std::sqrt((level * (1.0 - share) + noise) / (level + noise));
  CHECK(std::log(now.tpot.high / now.tpot.mid) == doctest::Approx(narrower * std::log(was.tpot.high / was.tpot.mid)));
  CHECK(std::log(now.tpot.low / now.tpot.mid) == doctest::Approx(narrower * std::log(was.tpot.low / was.tpot.mid)));
  CHECK(now.estimate.memory.pool == was.estimate.memory.pool);
  REQUIRE(moved.own_effect);
  CHECK(moved.own_effect->weight == doctest::Approx(share));
  CHECK(says(moved.interval_source, "1 run of yours on h100-sxm-80gb under vllm makes TTFT"));
}

TEST_CASE("own servers: of a run the mean counts before the median and a tail, and repeats are one") {
  const double tpot = predicted("tpot_ms_mean");
  const OwnServers both = learned(row("tpot_ms_p50", 3.0 * predicted("tpot_ms_p50")) + row("tpot_ms_mean", 1.1 * tpot) +
                                  row("tpot_ms_mean", 1.1 * tpot));
  CHECK(both.told.level.runs == 1.0);
  REQUIRE(both.errors.size() == 1);
  CHECK(both.errors.front().error == doctest::Approx(std::log(1.1)));
  CHECK(both.told.rows == 3);
}

TEST_CASE("own servers: runs of another model, SKU or engine are refused by name") {
  const std::string model = refused(row("tpot_ms_mean", 20.0, "llama3-70b,h100-sxm-80gb"));
  CHECK(says(model, "no run matches: needed are times or rates of llama3-8b on h100-sxm-80gb under vllm"));
  CHECK(says(model, "1 row of llama3-70b on h100-sxm-80gb under vLLM: another model than llama3-8b"));
  CHECK(says(refused(row("tpot_ms_mean", 20.0, "llama3-8b,a100-sxm-80gb")), "another SKU than h100-sxm-80gb"));
  CHECK(says(refused(row("tpot_ms_mean", 20.0, "llama3-8b,h100")), "none") == false);
  CHECK(says(refused(row("power_w_per_gpu", 400.0)), "power_w_per_gpu tells no time of a token and no rate"));
  // A microsecond a token is no H100.
  CHECK(says(refused(row("tpot_ms_mean", 0.001)),
             "mine.csv:2:1: error: tpot_ms_mean is 0.001: faster than the hardware"));
  // One beside others is listed.
  const OwnServers some =
      learned(row("tpot_ms_mean", predicted("tpot_ms_mean")) + row("tpot_ms_mean", 20.0, "llama3-8b,a100-sxm-80gb"));
  CHECK(some.told.rows == 1);
  REQUIRE(some.told.unused.size() == 1);
  CHECK(some.told.unused.front().what == "llama3-8b on a100-sxm-80gb under vLLM");
}

TEST_CASE("own servers: a rate that the client set says nothing, and blank cells are the plan's") {
  CHECK(says(refused(row("output_tokens_per_s", 100.0, "llama3-8b,h100-sxm-80gb", ",2")),
             "requests came at the client's own rate"));
  std::istringstream stream{"isl,osl,concurrency,engine,metric,value,unit\n1024,128,16,vLLM,tpot_ms_mean,10,ms\n"};
  Diagnostics diagnostics;
  const std::vector<RunFile> files{read_runs(stream, "few.csv", diagnostics)};
  const Scenario scenario = asked();
  const OwnServers own = learn_from_servers(files, server(scenario), sources(), diagnostics);
  diagnostics.throw_if_any();
  CHECK(own.told.rows == 1);
  REQUIRE(own.told.assumed.size() == 1);
  CHECK(says(own.told.assumed.front(), "your runs: model = llama3-8b, gpu = h100-sxm-80gb, gpus = 1, tp = 1, pp = 1"));
}
