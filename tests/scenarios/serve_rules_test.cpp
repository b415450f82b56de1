// SPDX-License-Identifier: Apache-2.0
// What engines do with prompts longer than a step, with drafts and with replicas.
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/read/serve_rules.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

Scenario question(const std::vector<std::string>& more) {
  std::vector<std::string> all{"kind=serve",      "model=llama3.1-70b",   "hardware.gpu=h100-sxm-80gb",
                               "hardware.gpus=8", "serving.isl=2048",     "serving.osl=256",
                               "strategy.tp=8",   "serving.weights=bf16", "serving.concurrency=64"};
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

bool assumes(const Scenario& scenario, std::string_view text) {
  return std::any_of(scenario.assumptions.begin(), scenario.assumptions.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

bool chunked(const std::vector<std::string>& more) {
  return std::get<ServeScenario>(question(more).question).chunked_prefill;
}

}  // namespace

TEST_CASE("drafted tokens: none accepted is one token a step, all accepted the draft and one more") {
  CHECK(Speculation{3, 0.0}.tokens_per_step() == 1.0);
  CHECK(Speculation{3, 1.0}.tokens_per_step() == 4.0);
  // 1 + 0.7 + 0.49 + 0.343
  CHECK(Speculation{3, 0.7}.tokens_per_step() == doctest::Approx(2.533));
  const Scenario scenario = question(
      {"serving.speculative.draft=3", "serving.speculative.acceptance=0.7", "serving.speculative.method=ngram"});
  CHECK(assumes(scenario, "3 drafted tokens at acceptance 0.700 make 2.53 tokens a step"));
  CHECK(assumes(scenario, "at no GPU time"));
}

TEST_CASE("a stated release is answered by the stack that stands for it") {
  const auto of = [](const Scenario& s) { return std::get<ServeScenario>(s.question).engine.id; };
  CHECK(of(question({})) == "vllm");
  const Scenario old = question({"serving.engine_version=0.7.3"});
  CHECK(of(old) == "vllm-v0");
  CHECK(assumes(old, "serving.engine_version = 0.7.3: its iterations are those of stack vllm-v0"));
  CHECK(of(question({"serving.engine=tensorrt-llm", "serving.engine_version=v0.17"})) == "tensorrt-llm-engines-2025");
}

TEST_CASE("prompts are cut into steps by default, but by TensorRT-LLM only where they must be") {
  CHECK(chunked({}));
  CHECK(chunked({"serving.engine=sglang"}));
  CHECK_FALSE(chunked({"serving.engine=tensorrt-llm"}));
  const Scenario longer = question({"serving.engine=tensorrt-llm", "serving.isl=16384"});
  CHECK(std::get<ServeScenario>(longer.question).chunked_prefill);
  CHECK(assumes(longer, "serving.chunked_prefill = true (TensorRT-LLM's default, false, refuses prompts above 8192"));
  CHECK_FALSE(chunked({"serving.chunked_prefill=false"}));
}

TEST_CASE("no change is proposed that the engine would refuse") {
  // fewer tokens a step would make room, and no step would hold a prompt of 24 832
  const std::vector<std::string> whole{"hardware.gpus=1",
                                       "strategy.tp=1",
                                       "serving.engine=tensorrt-llm",
                                       "serving.weights=fp8",
                                       "serving.isl=24832",
                                       "serving.max_num_tokens=32768",
                                       "serving.chunked_prefill=false"};
  const auto changes = [](std::vector<std::string> start) {
    return std::get<ServePlan>(make_plan(question(start), false, PlanPart::memory).answer).changes;
  };
  const auto steps = [](const Changes& all) {
    return std::any_of(all.begin(), all.end(),
                       [](const Change& change) { return change.knob == Knob::max_num_tokens; });
  };
  CHECK_FALSE(changes(whole).empty());
  CHECK_FALSE(steps(changes(whole)));
  std::vector<std::string> cut = whole;
  cut.back() = "serving.chunked_prefill=true";
  CHECK(steps(changes(cut)));
}

TEST_CASE("replicas may be stated where they are what GPUs and ranks say") {
  CHECK_NOTHROW(question({"strategy.tp=2", "strategy.dp=4"}));
  CHECK_THROWS_WITH_AS(question({"strategy.tp=2", "strategy.dp=2"}), doctest::Contains("use dp 4, gpus 4"),
                       ConfigError);
}
