// SPDX-License-Identifier: Apache-2.0
// Blank keys of scenarios and blank cells of measured rows mean what the software does, by one rule.
#include <headroom/scenarios/measured/training_row.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include "../support/sources.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::sources;

namespace {

Plan plan(std::string_view model, std::vector<std::string> more) {
  std::vector<std::string> all{"kind=train",
                               "model=" + std::string{model},
                               "hardware.gpu=h100-sxm-80gb",
                               "hardware.gpus=64",
                               "training.seq_len=4096",
                               "training.global_batch=256",
                               "training.precision=bf16",
                               "strategy.micro_batch=1",
                               "strategy.recompute=none"};
  all.insert(all.end(), more.begin(), more.end());
  return make_plan(scenario_from_overrides(all, sources()), false);
}

const TrainPlan& train(const Plan& p) {
  return std::get<TrainPlan>(p.answer);
}

bool says(const Plan& p, std::string_view text) {
  return std::any_of(p.notes.begin(), p.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

RunConfiguration v100(const std::string& framework) {
  RunConfiguration run;
  run.model = "GPT2-52B";
  run.arch = "dense";
  run.gpu = "V100-SXM2-32GB";
  run.precision = "fp16";
  run.recompute = "full";
  run.framework = framework;
  run.layers = 64;
  run.hidden = 8192;
  run.heads = 32;
  run.vocab = 50304;
  run.tied_embeddings = 1;
  run.seq_len = 1024;
  run.gpus = 64;
  run.dp = 16;
  run.tp = 4;
  run.pp = run.cp = 1;
  run.seq_parallel = run.flash_attn = 0;
  run.micro_batch = 48;
  run.global_batch = 768;
  return run;
}

double memory(const RunConfiguration& run) {
  TrainingRowModel model{sources()};
  const RowPrediction answer = model.predict(run, "memory_gib_per_gpu", "GiB");
  REQUIRE(answer.status == RowStatus::ok);
  return answer.predicted;
}

}  // namespace

TEST_CASE("naming an FSDP software makes the plan FSDP, and it says so") {
  const Plan p = plan("llama3-8b", {"training.software=torchtitan"});
  CHECK(int{train(p).strategy.zero} == 3);
  CHECK(says(p, "strategy.zero = 3"));
  const Plan stated = plan("llama3-8b", {"training.software=torchtitan", "strategy.zero=1"});
  CHECK(int{train(stated).strategy.zero} == 1);
  CHECK(int{train(plan("llama3-8b", {})).strategy.zero} == 1);
}

TEST_CASE("experts follow tp on Megatron-Core, and the plan says so") {
  const Plan p = plan("mixtral-8x7b", {"strategy.tp=8"});
  CHECK(int{train(p).strategy.etp} == 8);
  CHECK(says(p, "strategy.etp = 8"));
  CHECK(train(p).memory.mid < Bytes{60.0 * 0x1p30});
  CHECK_FALSE(says(plan("llama3-8b", {"strategy.tp=8"}), "strategy.etp"));
}

TEST_CASE("etp must divide tp and an expert's width, with or without expert parallelism") {
  const auto verdicts = [](std::string_view model, const std::string& etp) {
    std::vector<Verdict> all;
    const Plan p = plan(model, {"strategy.tp=8", "strategy.etp=" + etp});
    for (const Problem& problem : train(p).problems) {
      all.push_back(problem.verdict);
    }
    return all;
  };
  const std::vector<Verdict> seven = verdicts("mixtral-8x7b", "7");
  CHECK(std::find(seven.begin(), seven.end(), Verdict::tensor_ranks_not_divisible) != seven.end());
  CHECK(verdicts("mixtral-8x7b", "64") == std::vector{Verdict::tensor_ranks_not_divisible});
  CHECK(verdicts("llama3-8b", "2") == std::vector{Verdict::expert_width_not_divisible});
  CHECK(verdicts("mixtral-8x7b", "4").empty());
}

TEST_CASE("a network of experts that does not fit is offered expert parallelism") {
  const Plan p = plan("mixtral-8x7b", {"strategy.tp=8", "strategy.etp=1"});
  const std::vector<Remedy>& remedies = train(p).remedies;
  const auto offers = [&](const Change& change) {
    return std::any_of(remedies.begin(), remedies.end(), [&](const Remedy& r) { return r.changes == Changes{change}; });
  };
  CHECK(offers({Knob::ep, 8}));
  CHECK(offers({Knob::etp, 8}));
}

TEST_CASE("where nothing helps the way out names what was tried, ep and etp for models with experts") {
  CHECK(train(plan("deepseek-v3", {"hardware.gpus=8"})).way_out.find("cp, ep or etp at") != std::string::npos);
  CHECK(train(plan("llama3.1-405b", {"hardware.gpus=8"})).way_out.find("tp, pp or cp at") != std::string::npos);
}

TEST_CASE("a remedy of an open etp costs what the changed scenario costs") {
  const std::string software = "training.software=megatron-core-te";
  const Plan p = plan("mixtral-8x7b", {software});
  bool found = false;
  for (const Remedy& remedy : train(p).remedies) {
    std::vector<std::string> changes = texts_of(remedy.changes);
    changes.push_back(software);
    const Plan changed = plan("mixtral-8x7b", changes);
    CHECK(train(changed).memory.mid.raw() == doctest::Approx(remedy.memory.raw()));
    found = found || remedy.changes.front().knob == Knob::tp;
  }
  CHECK(found);
}

TEST_CASE("dropout of Megatron-LM reaches a plan of a plain MLP, as it reaches a measured row") {
  const Plan habit = plan("gpt3-175b", {"training.software=megatron-core", "strategy.tp=8", "strategy.pp=8"});
  const Plan off = plan(
      "gpt3-175b", {"training.software=megatron-core", "strategy.tp=8", "strategy.pp=8", "training.dropout=false"});
  CHECK(says(habit, "training.dropout = true"));
  CHECK_FALSE(says(off, "training.dropout"));
  CHECK(train(habit).live > train(off).live);
  CHECK_FALSE(says(plan("llama3-8b", {"training.software=megatron-core"}), "training.dropout"));
}

TEST_CASE("prediction modules are told, with what they are not in") {
  CHECK(says(plan("deepseek-v3", {}), "model.mtp_layers = 1"));
  CHECK_FALSE(says(plan("llama3-8b", {}), "mtp"));
}

TEST_CASE("a row's framework decides what its blank ZeRO cell means") {
  // The script of these runs notes about 30 GB of a 32 GB card at this micro-batch.
  const double sharded = memory(v100("Megatron + DeepSpeed ZeRO (v1.1.5-ZeRO3 branch)"));
  CHECK(sharded > 22.0);
  CHECK(sharded < 30.0);
  CHECK(memory(v100("Megatron-DeepSpeed")) > 100.0);
  RunConfiguration stated = v100("Megatron + DeepSpeed ZeRO");
  stated.zero = 1;
  CHECK(memory(stated) > 2.0 * sharded);
}

TEST_CASE("a software's default ZeRO stage is one that it can shard, and no remedy asks for more than it can") {
  const MemoryStacks stacks = memory_stacks(test::model_data());
  for (const MemoryStack& stack : stacks.all()) {
    CAPTURE(stack.id);
    CHECK(stack.shards(stack.defaults.zero, false));
  }
  CHECK_FALSE(memory_stacks(test::model_data()).find("llm-foundry").offloads_optimizer);
  // The BigScience fork has no sequence parallelism: off by default, never offered.
  const Plan p = plan("mixtral-8x7b", {"training.software=megatron-deepspeed", "strategy.tp=2"});
  REQUIRE_FALSE(train(p).remedies.empty());
  for (const Remedy& remedy : train(p).remedies) {
    CHECK_FALSE(remedy.strategy.sequence_parallel);
    for (const Change& change : remedy.changes) {
      CHECK(change.knob != Knob::sequence_parallel);
    }
  }
}
