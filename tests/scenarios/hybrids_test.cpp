// SPDX-License-Identifier: Apache-2.0
// Hybrids from the question to the answer: training has a term for scans, serving a state, measured rows a preset's
// sizes.
#include <headroom/scenarios/measured/training_row.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"

using namespace headroom;
using headroom::test::sources;

namespace {

Plan trained(const std::string& model, std::vector<std::string> more = {}) {
  std::vector<std::string> keys{"kind=train",
                                "model=" + model,
                                "hardware.gpu=h100-sxm-80gb",
                                "hardware.gpus=64",
                                "training.seq_len=4096",
                                "training.global_batch=512",
                                "training.precision=bf16",
                                "training.software=megatron-core",
                                "strategy.micro_batch=1",
                                "strategy.recompute=none"};
  keys.insert(keys.end(), more.begin(), more.end());
  return make_plan(scenario_from_overrides(keys, sources()), false);
}

double scan_of(const Plan& p) {
  return std::get<TrainPlan>(p.answer).estimate.time[Term::scan].raw();
}

Plan served(const std::string& model, const std::string& isl) {
  return make_plan(
      scenario_from_overrides(
          std::vector<std::string>{"kind=serve", "model=" + model, "hardware.gpu=h200-sxm-141gb", "hardware.gpus=4",
                                   "strategy.tp=4", "serving.isl=" + isl, "serving.osl=128", "serving.concurrency=16"},
          sources()),
      false);
}

}  // namespace

TEST_CASE("training of hybrids has times, and a term of their scans that shrinks with the tensor ranks") {
  for (const char* model : {"nemotron-h-8b", "mamba-1.4b"}) {
    CAPTURE(model);
    const Plan p = trained(model);
    CHECK(p.part == PlanPart::all);
    CHECK(scan_of(p) > 0.0);
    CHECK(scan_of(p) < 0.5 * std::get<TrainPlan>(p.answer).estimate.step.raw());
  }
  for (const char* model : {"qwen3-next-80b-a3b", "kimi-linear-48b-a3b", "granite-4.0-h-small"}) {
    CAPTURE(model);
    CHECK(scan_of(trained(model, {"strategy.ep=8", "strategy.zero=1"})) > 0.0);
  }
  CHECK(scan_of(trained("llama3-8b")) == 0.0);
  // Twice the tensor ranks run half of the heads each, for twice the micro-batches of a replica.
  CHECK(scan_of(trained("nemotron-h-8b", {"strategy.tp=2"})) ==
        doctest::Approx(scan_of(trained("nemotron-h-8b", {"strategy.tp=1"}))).epsilon(1e-6));
}

TEST_CASE("a sequence of a hybrid keeps its state whatever the length, and keys in its layers of attention alone") {
  // Kimi Linear: 20 layers of 32 heads of 128 x 128 in fp32 and 3 x 3 x 4,096 taps in 16 bit, over 4 ranks.
  const auto kept = [](const std::string& isl) {
    return std::get<ServePlan>(served("kimi-linear-48b-a3b", isl).answer).estimate.memory.sequence.raw();
  };
  const double state = 20.0 * (4.0 * 32 * 128 * 128 + 2.0 * 3 * 3 * 32 * 128) / 4.0;
  const double token = 7.0 * 576.0 * 2.0;
  CHECK(kept("8192") - kept("4096") == doctest::Approx(4096.0 * token).epsilon(0.02));
  CHECK(kept("4096") == doctest::Approx(state + (4096.0 + 128.0) * token).epsilon(0.02));
}

TEST_CASE("a measured row that states no size of its network takes those of the preset that it names") {
  RunConfiguration run;
  run.model = "Nemotron-H-8B";
  run.gpu = "H100-SXM5-80GB";
  run.precision = "bf16";
  run.recompute = "none";
  run.framework = "Megatron-Core";
  run.seq_len = 4096;
  run.gpus = 64;
  run.gpus_per_node = 8;
  run.dp = 64;
  run.tp = run.pp = run.vpp = run.cp = run.ep = 1;
  run.micro_batch = 1;
  run.global_batch = 512;
  TrainingRowModel model{sources()};
  const RowPrediction blank = model.predict(run, "step_time_s", "s");
  CHECK(blank.status == RowStatus::ok);
  CHECK(blank.predicted > 0.0);
  run.layers = 52;
  run.hidden = 4096;
  run.heads = 32;
  run.kv_heads = 8;
  run.head_dim = 128;
  run.ffn_hidden = 21504;
  const RowPrediction stated = model.predict(run, "step_time_s", "s");
  CHECK(stated.status == RowStatus::ok);
  CHECK(stated.predicted == doctest::Approx(blank.predicted).epsilon(0.02));
  run.layers = run.hidden = run.heads = {};
  run.model = "Nemotron-of-nobody";
  CHECK(model.predict(run, "step_time_s", "s").status != RowStatus::ok);
}
