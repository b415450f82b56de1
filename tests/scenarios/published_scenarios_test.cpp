// SPDX-License-Identifier: Apache-2.0
// Published runs that ship as scenarios: every choice is said, they fit as they ran, and the published figure stands
// beside the plan's own.
#include <headroom/scenarios/plan/beside_plan.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <array>
#include <cmath>

using namespace headroom;
using headroom::test::sources;

namespace {

Plan planned(const std::string& name, const std::vector<std::string>& more = {}) {
  Plan plan = make_plan(load_scenario(std::string{HEADROOM_SOURCE_DIR} + "/scenarios/" + name, more, sources()), false);
  add_nearest(plan, {}, sources());
  return plan;
}

bool assumes(const Plan& plan, std::string_view key) {
  return std::any_of(plan.notes.begin(), plan.notes.end(),
                     [&](const std::string& note) { return note.starts_with(key); });
}

const NearRun& beside(const Plan& plan) {
  REQUIRE(plan.nearest);
  REQUIRE_FALSE(plan.nearest->runs.empty());
  return plan.nearest->runs.front();
}

}  // namespace

TEST_CASE("DeepSeek-V3's published training fits its 80 GB, and 2.664 M GPU-hours lie inside the interval") {
  const Plan plan = planned("train/deepseek-v3-2048xh800.toml");
  const TrainPlan& train = std::get<TrainPlan>(plan.answer);
  CHECK(train.estimate.verdict == Verdict::feasible);
  CHECK(train.estimate.memory.total().raw() / 0x1p30 > 60.0);
  for (const std::string_view key : {"strategy.", "training."}) {
    CHECK_FALSE(assumes(plan, key));  // nothing of the run is left to a default
  }
  constexpr double published = 2.664e6;  // GPU-hours of 14.8 T tokens
  const double hours = train.gpu_hours.mid;
  CHECK(train.gpu_hours.low < published);
  CHECK(train.gpu_hours.high > published);
  CHECK(hours / published < 1.4);
  CHECK(hours / published > 1.0 / 1.4);
}

TEST_CASE("the published figure of DeepSeek-V3's training stands beside the plan, priced as the plan is") {
  const Plan plan = planned("train/deepseek-v3-2048xh800.toml");
  const NearRun& run = beside(plan);
  CHECK(plan.nearest->within >= 1);
  CHECK(run.measured == doctest::Approx(1543.2));  // tokens/s a GPU: 14.8e12 / (2.664e6 h x 3600 s)
  const TrainPlan& train = std::get<TrainPlan>(plan.answer);
  CHECK(run.predicted == doctest::Approx(train.tokens_per_s_per_gpu.mid).epsilon(0.03));
}

TEST_CASE("what DeepSeek-V3's run would need without its own choices does not fit") {
  const auto needs = [](std::vector<std::string> more) {
    const Plan plan = planned("train/deepseek-v3-2048xh800.toml", more);
    return std::get<TrainPlan>(plan.answer).estimate.memory.total().raw() / 0x1p30;
  };
  const double own = needs({});
  CHECK(needs({"strategy.recompute_parts=[\"layernorm\"]"}) > 80.0);
  CHECK(needs({"training.saved_activations=bf16"}) > own);
  CHECK(needs({"training.optimizer=adamw"}) > own);
}

TEST_CASE("published pools of wide expert parallelism run as many sequences as they ran, and print theirs") {
  struct Pool {
    std::string file;
    double published = 0.0;    ///< the figure of the publication that the scenario's head names
    std::int64_t running = 0;  ///< sequences at once; 0: of a pool that prefills
    double held = 0.0;         ///< experts of a rank
  };
  // Tokens/s of the pool, of the last its median time between tokens in ms: 9 hosts x 22,282; 4 x 52,300; 48 GPUs x
  // 9,087.
  const std::array pools{Pool{"deepseek-v3-sglang-decode-72xh100.toml", 200538.0, 18432, 4.0},
                         Pool{"deepseek-v3-sglang-prefill-32xh100.toml", 209200.0, 0, 9.0},
                         Pool{"deepseek-v3-sglang-decode-48xgb200.toml", 436176.0, 36864, 6.0},
                         Pool{"deepseek-r1-trtllm-decode-32xgb200.toml", 35.6259, 8192, 8.0}};
  for (const Pool& pool : pools) {
    CAPTURE(pool.file);
    const Plan plan = planned("serve/" + pool.file);
    const auto& serve = std::get<ServeScenario>(plan.scenario.question);
    const auto& answer = std::get<ServePlan>(plan.answer);
    CHECK(answer.estimate.verdict == Verdict::feasible);
    const ServingLayout& layout = serve.work.layout;
    CHECK(static_cast<double>(serve.architecture.moe->experts + layout.redundant) / static_cast<double>(layout.ep) ==
          pool.held);
    if (pool.running > 0) {
      CHECK(answer.estimate.batch == pool.running);
    }
    const NearRun& run = beside(plan);
    CHECK(run.measured == doctest::Approx(pool.published));
    // Within the spread of published pools against the model.
    CHECK(std::abs(std::log(run.predicted / run.measured)) < std::log(3.5));
  }
}

TEST_CASE("a plan of serving has published runs of steady loads beside it, and none of open loads or bursts") {
  const Plan steady = planned("serve/llama3-70b.toml", {"model=llama3.1-70b", "hardware.gpus=2", "strategy.tp=2",
                                                        "serving.isl=1024", "serving.osl=1024", "serving.weights=fp8"});
  CHECK(beside(steady).source == "InferenceX (through AIConfigurator)");
  CHECK(beside(steady).distance == doctest::Approx(1.0));
  // As long as the prompts and answers of a published burst on the same GPU.
  const Plan burst = planned("serve/llama3-70b.toml", {"model=qwen3-32b", "hardware.gpus=1", "strategy.tp=1",
                                                       "serving.isl=217", "serving.osl=201", "serving.concurrency=16"});
  CHECK_FALSE(burst.nearest.has_value());
}
