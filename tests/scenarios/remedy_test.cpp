// SPDX-License-Identifier: Apache-2.0
// A remedy is a promise: made in the scenario, it gives the very memory and step that were printed, and surely fits.
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/plan/remedy.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

using Overrides = std::vector<std::string>;

Overrides question(const std::string& model, const std::string& gpu, int gpus, int seq_len, int batch, Overrides more) {
  Overrides all{"kind=train",
                "model=" + model,
                "hardware.gpu=" + gpu,
                "hardware.gpus=" + std::to_string(gpus),
                "training.seq_len=" + std::to_string(seq_len),
                "training.global_batch=" + std::to_string(batch),
                "training.precision=bf16"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Questions that do not surely fit: layouts stated and open, software stated and chosen by ZeRO, mixtures, adapters.
std::vector<Overrides> tight_questions() {
  const std::string h100 = "h100-sxm-80gb";
  const std::string a100 = "a100-sxm-80gb";
  return {
      question("llama3.1-8b", h100, 8, 8192, 512, {"strategy.micro_batch=1", "strategy.recompute=none"}),
      question("llama3-70b", h100, 512, 8192, 1024,
               {"strategy.tp=8", "strategy.pp=2", "strategy.micro_batch=4", "strategy.recompute=none"}),
      question(
          "llama3-70b", h100, 512, 8192, 1024,
          {"strategy.tp=8", "strategy.pp=4", "strategy.dp=16", "strategy.micro_batch=8", "strategy.recompute=none"}),
      question("llama3-8b", h100, 8, 8192, 64, {}),
      question("llama3-8b", h100, 8, 32768, 64, {"strategy.sequence_parallel=false"}),
      question("llama3-8b", h100, 8, 8192, 64, {"training.software=megatron-core-te"}),
      question("llama3-8b", h100, 8, 8192, 64, {"training.software=pytorch-fsdp", "strategy.zero=2"}),
      question("llama3-8b", h100, 8, 8192, 64, {"training.software=deepspeed", "strategy.zero=1"}),
      question("llama2-13b", a100, 8, 4096, 64, {"training.software=deepspeed", "strategy.zero=0"}),
      question("llama3-70b", h100, 64, 131072, 64, {"strategy.tp=8", "strategy.dp=8", "strategy.recompute=full"}),
      question("llama3-70b", h100, 8, 8192, 64, {"training.method=lora", "strategy.micro_batch=4"}),
      question("llama3.1-8b", "rtx-4090", 1, 4096, 4, {"training.method=lora", "training.software=axolotl"}),
      question("llama-65b", "rtx-a6000", 1, 512, 16,
               {"training.method=qlora", "training.lora_rank=64", "hardware.host_memory=256 GiB"}),
      question("mixtral-8x7b", h100, 64, 4096, 512, {"strategy.tp=2", "strategy.ep=8"}),
      question("gpt3-13b", a100, 16, 2048, 256, {"training.software=nanotron", "strategy.tp=2"}),
      question("llama3-8b", h100, 8, 8192, 64, {"training.precision=fp32"}),
      question("mixtral-8x7b", h100, 64, 4096, 512, {"strategy.tp=8", "strategy.etp=1", "strategy.recompute=none"}),
      question("deepseek-v3", h100, 1024, 4096, 2048, {"strategy.tp=8", "strategy.pp=16", "strategy.micro_batch=1"}),
      question("gpt3-13b", a100, 16, 2048, 256, {"training.software=megatron-deepspeed", "strategy.tp=2"}),
  };
}

const TrainPlan& train(const Plan& p) {
  return std::get<TrainPlan>(p.answer);
}

std::string joined(const Overrides& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += text + " ";
  }
  return all;
}

}  // namespace

TEST_CASE("each remedy, made in the scenario, gives the memory and the step that were printed and surely fits") {
  std::size_t tried = 0;
  for (const Overrides& overrides : tight_questions()) {
    for (const PlanPart part : {PlanPart::all, PlanPart::memory}) {
      const Scenario scenario = scenario_from_overrides(overrides, sources());
      const Plan p = make_plan(scenario, false, part);
      CAPTURE(joined(overrides));
      REQUIRE(train(p).problems.empty());
      if (train(p).estimate.verdict == Verdict::feasible) {
        continue;
      }
      CHECK(train(p).remedies.size() <= 3);
      for (const Remedy& remedy : train(p).remedies) {
        CAPTURE(joined(texts_of(remedy.changes)));
        const Scenario read = changed(scenario, remedy.changes);
        const auto& t = std::get<TrainScenario>(read.question);
        const std::optional<TrainScenario> resolved =
            resolved_with(std::get<TrainScenario>(scenario.question), remedy.changes);
        REQUIRE(resolved);
        CHECK(resolved->strategy == t.strategy);
        CHECK(resolved->software.id == t.software.id);
        CHECK(resolved->work.states.optimizer == t.work.states.optimizer);
        CHECK(resolved->work.options.offload_checkpoints == t.work.options.offload_checkpoints);
        const Plan made = make_plan(read, false, part);
        CHECK(train(made).estimate.verdict == Verdict::feasible);
        CHECK(train(made).memory.high <=
              std::get<TrainScenario>(made.scenario.question).device.visible_capacity().value);
        CHECK(train(made).estimate.memory.total().raw() == remedy.memory.raw());
        CHECK(train(made).estimate.step.raw() == remedy.step.raw());
        ++tried;
      }
    }
  }
  CHECK(tried >= 30);
}

TEST_CASE("a plan has remedies or is told that there are none, never both and never neither") {
  std::size_t with = 0;
  std::size_t without = 0;
  std::vector<Overrides> all = tight_questions();
  const std::string h100 = "h100-sxm-80gb";
  all.push_back(question("llama3-70b", h100, 8, 8192, 64, {"strategy.tp=1", "training.method=lora"}));
  all.push_back(question("llama3.1-405b", h100, 8, 8192, 64, {}));
  all.push_back(question("deepseek-v3", h100, 8, 4096, 64, {}));
  all.push_back(question("llama3-70b", h100, 64, 8192, 64,
                         {"training.offload=[\"optimizer\"]", "training.software=megatron-core-te", "strategy.tp=8",
                          "hardware.host_memory=64 GiB"}));
  for (const Overrides& overrides : all) {
    CAPTURE(joined(overrides));
    const Plan p = make_plan(scenario_from_overrides(overrides, sources()), false);
    REQUIRE(train(p).problems.empty());
    const bool fits = train(p).estimate.verdict == Verdict::feasible;
    CHECK(train(p).way_out.empty() == (fits || !train(p).remedies.empty()));
    with += train(p).remedies.empty() ? 0 : 1;
    without += train(p).way_out.empty() ? 0 : 1;
  }
  CHECK(with > 0);
  CHECK(without > 0);
}

TEST_CASE("remedies come with the fewest changes, the cheapest step first, one for each set of keys") {
  for (const Overrides& overrides : tight_questions()) {
    const Plan p = make_plan(scenario_from_overrides(overrides, sources()), false);
    const std::vector<Remedy>& remedies = train(p).remedies;
    for (std::size_t i = 1; i < remedies.size(); ++i) {
      const auto numeric = [](const Remedy& r) {
        return std::any_of(r.changes.begin(), r.changes.end(), [](const Change& c) {
          return c.knob == Knob::method || c.knob == Knob::seq_len ||
                 (c.knob == Knob::optimizer && c != Change{c.knob, Optimizer::paged_adamw});
        });
      };
      CHECK((numeric(remedies[i]) || remedies[i - 1].step <= remedies[i].step));
      CHECK((!numeric(remedies[i - 1]) || numeric(remedies[i])));
      CHECK(remedies[i].changes != remedies[i - 1].changes);
    }
  }
}

TEST_CASE("a software is offered what it can do: no ZeRO 2 or 3 on Megatron-Core, offloading on DeepSpeed") {
  const auto changes = [](Overrides more) {
    const Plan p = make_plan(
        scenario_from_overrides(question("llama3-8b", "h100-sxm-80gb", 4, 8192, 64, std::move(more)), sources()),
        false);
    std::string all;
    for (const Remedy& remedy : train(p).remedies) {
      all += joined(texts_of(remedy.changes));
    }
    return all;
  };
  for (const char* pp : {"1", "2", "4"}) {
    const std::string megatron = changes({"training.software=megatron-core-te", std::string{"strategy.pp="} + pp,
                                          "strategy.micro_batch=8", "strategy.recompute=none"});
    CHECK(megatron.find("strategy.zero = 2") == std::string::npos);
    CHECK(megatron.find("strategy.zero = 3") == std::string::npos);
    CHECK(megatron.find("training.offload") == std::string::npos);
  }
  const std::string deepspeed = changes({"training.software=deepspeed", "strategy.zero=2", "strategy.micro_batch=1",
                                         "strategy.recompute=full", "training.fused_loss=true"});
  CAPTURE(deepspeed);
  CHECK(deepspeed.find("strategy.pp") == std::string::npos);
}

TEST_CASE("ZeRO 3 offered where the software was not stated is read as the software that ZeRO 3 means") {
  const Scenario scenario = scenario_from_overrides(
      question("llama3-8b", "h100-sxm-80gb", 8, 4096, 64, {"training.precision=fp32"}), sources());
  const Plan p = make_plan(scenario, false, PlanPart::memory);
  const auto sharded = std::find_if(train(p).remedies.begin(), train(p).remedies.end(), [](const Remedy& r) {
    return r.changes == Changes{{Knob::zero, 3}};
  });
  REQUIRE(sharded != train(p).remedies.end());
  const Scenario made = changed(scenario, sharded->changes);
  CHECK(std::get<TrainScenario>(made.question).software.id == "torchtitan");
}

TEST_CASE("a remedy that needs another dp says so where dp was stated") {
  const Plan p = make_plan(scenario_from_overrides(question("llama3-70b", "h100-sxm-80gb", 64, 131072, 64,
                                                            {"strategy.tp=8", "strategy.dp=8", "strategy.zero=2"}),
                                                   sources()),
                           false, PlanPart::memory);
  REQUIRE_FALSE(train(p).remedies.empty());
  CHECK(train(p).remedies.front().changes == Changes{{Knob::cp, 2}, {Knob::dp, 4}});
}
