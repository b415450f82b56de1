// SPDX-License-Identifier: Apache-2.0
// From scenario to answer: open axes, remedies, intervals and money.
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/plan/remedy.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::sources;

namespace {

Plan plan(std::vector<std::string> more = {}, bool explained = false) {
  std::vector<std::string> overrides{"kind=train",
                                     "model=llama3-70b",
                                     "hardware.gpu=h100-sxm-80gb",
                                     "hardware.gpus=512",
                                     "training.seq_len=8192",
                                     "training.global_batch=1024",
                                     "training.precision=bf16",
                                     "strategy.tp=8",
                                     "strategy.pp=4"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return make_plan(scenario_from_overrides(overrides, sources()), explained);
}

const TrainPlan& train(const Plan& p) {
  return std::get<TrainPlan>(p.answer);
}

}  // namespace

TEST_CASE("days, GPU-hours and dollars follow from the step") {
  const Plan p = plan({"training.tokens=15e12", "money.price=2 $/h"});
  const TrainPlan& t = train(p);
  REQUIRE(p.feasible());
  const double steps = 15e12 / (1024.0 * 8192.0);
  CHECK(t.duration.mid.raw() == doctest::Approx(steps * t.estimate.step.raw()));
  CHECK(t.gpu_hours.mid == doctest::Approx(512 * t.duration.mid.raw() / 3600));
  CHECK(t.cost.mid.raw() == doctest::Approx(2 * t.gpu_hours.mid));
  CHECK(t.cost_per_million_tokens.mid.raw() == doctest::Approx(t.cost.mid.raw() / 15e6));
  CHECK(t.step.low < t.step.mid);
  CHECK(t.step.mid < t.step.high);
}

TEST_CASE("out of memory at batch 32 on 40 GB, the first remedy is batch 16 with two steps of accumulation") {
  const auto at = [](int micro_batch) {
    return make_plan(
        scenario_from_overrides(
            std::vector<std::string>{"kind=train", "model=gpt3-350m", "hardware.gpu=a100-sxm-40gb", "hardware.gpus=1",
                                     "training.seq_len=960", "training.global_batch=32", "training.precision=fp16",
                                     "training.fused_loss=false", "training.software=megatron-core", "strategy.zero=0",
                                     "strategy.recompute=none", "strategy.micro_batch=" + std::to_string(micro_batch)},
            sources()),
        false);
  };
  const Plan over = at(32);
  const TrainPlan& t = train(over);
  CHECK(t.estimate.verdict == Verdict::out_of_memory);
  CHECK(t.estimate.memory.total().raw() > 40e9);
  REQUIRE_FALSE(t.remedies.empty());
  CHECK(t.remedies[0].changes == Changes{{Knob::micro_batch, 16}});
  const Plan half = at(16);
  CHECK(half.feasible());
  CHECK(train(half).estimate.micro_batches == 2);  // the batch stays 32
  CHECK(t.remedies[0].memory.raw() == train(half).estimate.memory.total().raw());
  CHECK(t.remedies[0].step.raw() == train(half).estimate.step.raw());
}

TEST_CASE("the interval decides: it fits, it may not, it does not") {
  const auto at = [](int micro_batch) {
    return plan({"strategy.pp=2", "training.fused_loss=false", "strategy.recompute=none",
                 "strategy.micro_batch=" + std::to_string(micro_batch)});
  };
  const Bytes capacity = std::get<TrainScenario>(at(1).scenario.question).device.visible_capacity().value;
  const Plan sure = at(1);
  CHECK(train(sure).memory.high <= capacity);
  CHECK(train(sure).estimate.verdict == Verdict::feasible);
  CHECK(train(sure).verdict == "fits");
  const Plan open = at(2);
  CHECK(train(open).memory.low < capacity);
  CHECK(train(open).memory.high > capacity);
  CHECK(train(open).estimate.verdict == Verdict::may_not_fit);
  CHECK(train(open).verdict.starts_with("may not fit: "));
  CHECK_FALSE(train(open).remedies.empty());
  CHECK(open.feasible());
  const Plan none = at(4);
  CHECK(train(none).memory.low > capacity);
  CHECK(train(none).estimate.verdict == Verdict::out_of_memory);
  CHECK_FALSE(none.feasible());
}

TEST_CASE("an open axis prefers what fits at the upper end") {
  const TrainPlan t = train(plan({"strategy.pp=2", "strategy.recompute=none"}));
  CHECK(t.estimate.verdict == Verdict::feasible);
  const Plan tight = plan({"hardware.gpus=16", "strategy.pp=1", "training.global_batch=16"});
  if (train(tight).estimate.verdict != Verdict::feasible) {  // then no value of the open axes is sure
    for (const char* mode : {"none", "selective", "full"}) {
      const Plan fixed = plan({"hardware.gpus=16", "strategy.pp=1", "training.global_batch=16",
                               std::string{"strategy.recompute="} + mode, "strategy.micro_batch=1"});
      CHECK(train(fixed).estimate.verdict != Verdict::feasible);
      CHECK(train(fixed).memory.high >= train(tight).memory.high);
    }
  }
}

TEST_CASE("memory alone needs no peak and no measured share, and is the memory of the whole plan") {
  const auto ask = [](const std::string& gpu, const std::string& precision, PlanPart part) {
    return make_plan(
        scenario_from_overrides(
            std::vector<std::string>{"kind=train", "model=llama3-8b", "hardware.gpu=" + gpu, "hardware.gpus=8",
                                     "training.seq_len=4096", "training.global_batch=64",
                                     "training.precision=" + precision, "strategy.tp=4"},
            sources()),
        true, part);
  };
  CHECK_THROWS_AS(ask("h100-sxm-80gb", "nvfp4", PlanPart::all), ConfigError);  // no fp4 peak
  CHECK(ask("h100-sxm-80gb", "nvfp4", PlanPart::memory).feasible());
  Scenario bare = scenario_from_overrides(
      std::vector<std::string>{"kind=train", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8",
                               "training.seq_len=4096", "training.global_batch=64", "training.precision=bf16"},
      sources());
  Device& device = std::get<TrainScenario>(bare.question).device;
  device.peak = {};
  device.memory.bandwidth.reset();
  CHECK(train(make_plan(bare, false, PlanPart::memory)).memory.mid.raw() > 0.0);
  CHECK(train(ask("h100-sxm-80gb", "fp32", PlanPart::all)).memory.mid >
        train(ask("h100-sxm-80gb", "bf16", PlanPart::all)).memory.mid);
  for (const char* precision : {"bf16", "fp8"}) {
    const Plan whole = ask("h100-sxm-80gb", precision, PlanPart::all);
    const Plan alone = ask("h100-sxm-80gb", precision, PlanPart::memory);
    CHECK(train(alone).strategy == train(whole).strategy);
    CHECK(train(alone).memory.mid.raw() == train(whole).memory.mid.raw());
    const auto tells_time = [](const Plan& p) {
      return std::any_of(p.explain.begin(), p.explain.end(),
                         [](const ExplainEntry& entry) { return entry.as == Shown::seconds; });
    };
    CHECK(tells_time(whole));
    CHECK_FALSE(tells_time(alone));
  }
}

TEST_CASE("offloading needs room on the host, and none there on NVMe") {
  const auto with = [](std::vector<std::string> more) {
    std::vector<std::string> overrides{"kind=train",
                                       "model=llama3-8b",
                                       "hardware.gpu=h100-sxm-80gb",
                                       "hardware.gpus=8",
                                       "training.seq_len=8192",
                                       "training.global_batch=64",
                                       "training.precision=bf16",
                                       "training.offload=[\"optimizer\"]",
                                       "strategy.zero=1",
                                       "strategy.micro_batch=1",
                                       "strategy.recompute=full"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    return make_plan(scenario_from_overrides(overrides, sources()), false);
  };
  CHECK(with({"hardware.host_memory=2 TB"}).feasible());
  CHECK_FALSE(with({"hardware.host_memory=64 GB"}).feasible());
  CHECK(with({"hardware.host_memory=64 GB", "training.offload_to=nvme"}).feasible());
  const Plan small = with({"hardware.host_memory=64 GB"});
  CHECK(train(small).estimate.verdict == Verdict::host_memory_too_small);
  // Both run out: the GPU comes first, and keeps its numbers.
  const Plan both = with({"hardware.host_memory=64 GB", "strategy.micro_batch=8", "strategy.recompute=none"});
  CHECK(train(both).estimate.verdict == Verdict::out_of_memory);
  CHECK(train(both).estimate.broke == train(both).memory.mid.raw());
  CHECK(train(both).verdict.starts_with("does not fit: needs "));
  CHECK(train(both).verdict.find("and offloading needs ") != std::string::npos);
}

TEST_CASE("what crosses the link follows from what is trained, on NVMe the states themselves are read and written") {
  const auto with = [](std::vector<std::string> more) {
    std::vector<std::string> overrides{"kind=train",
                                       "model=llama3-8b",
                                       "hardware.gpu=h100-sxm-80gb",
                                       "hardware.gpus=8",
                                       "hardware.host_memory=2 TB",
                                       "training.seq_len=8192",
                                       "training.global_batch=64",
                                       "training.precision=bf16",
                                       "strategy.zero=1",
                                       "strategy.micro_batch=1",
                                       "strategy.recompute=full"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    const Plan p = make_plan(scenario_from_overrides(overrides, sources()), false);
    REQUIRE(train(p).offload);
    return *train(p).offload;
  };
  const double parameters = count_parameters(sources().models.find("llama3-8b")).total;
  const OffloadPlan states = with({"training.offload=[\"optimizer\"]"});
  CHECK(states.step_way.raw() == doctest::Approx(2.0 * parameters / 8.0));
  CHECK(states.gpu.raw() == doctest::Approx(12.0 * parameters / 8.0));
  CHECK(states.read.raw() == 0.0);
  const OffloadPlan nvme = with({"training.offload=[\"optimizer\"]", "training.offload_to=nvme"});
  CHECK(nvme.to_nvme);
  CHECK(nvme.read.raw() == doctest::Approx(12.0 * parameters / 8.0));
  CHECK(nvme.written.raw() == nvme.read.raw());
  // 32 inputs of 2 h T but for two, in every micro-batch.
  const OffloadPlan saved = with({"training.offload=[\"activations\"]"});
  CHECK(saved.pass_way.raw() == doctest::Approx(30.0 * 2.0 * 4096.0 * 8192.0));
  REQUIRE(saved.pass_time);
  CHECK(saved.pass_time->raw() > 0.0);
  CHECK(saved.step_way.raw() == 0.0);
  // Adapters alone go, whatever the base's optimizer would keep.
  const OffloadPlan lora = with({"training.offload=[\"optimizer\"]", "training.method=lora", "training.optimizer=sgd"});
  const Architecture arch = sources().models.find("llama3-8b");
  CHECK(lora.step_way.raw() ==
        doctest::Approx(2.0 * 32.0 * lora_parameters(arch, arch.blocks().front(), 16).total() / 8.0));
}

TEST_CASE("ranks that share states must divide the data ranks") {
  const auto problem = [](int shard_ranks) {
    const Plan p = plan({"strategy.zero=3", "strategy.shard_ranks=" + std::to_string(shard_ranks)});
    return train(p).problems.empty() ? std::string{} : train(p).problems.front().way_out;
  };
  CHECK(problem(8).empty());
  CHECK(problem(12) == "use shard_ranks 8");
  CHECK(problem(32) == "use shard_ranks 16");
}

TEST_CASE("every broken rule is told with values that obey, and none that only follows from another") {
  // 64 heads: 4 and 8 divide, 6 does not. 512 is no multiple of 6 x 4; 504 and 528 are. The batch and the sequence
  // would only complain about the dp and the tp that are wrong already.
  const Plan both = plan({"strategy.tp=6"});
  const std::vector<Problem>& problems = train(both).problems;
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].verdict == Verdict::gpus_not_divisible);
  CHECK(problems[0].way_out == "use 504 or 528 GPUs, or other ranks");
  CHECK(problems[1].verdict == Verdict::heads_not_divisible);
  CHECK(problems[1].way_out == "use tp 4 or 8");
  const auto only = [](std::vector<std::string> overrides) {
    const Plan p = plan(std::move(overrides));
    return train(p).problems.size() == 1 ? train(p).problems[0].way_out : "not one problem";
  };
  CHECK(only({"training.global_batch=1000"}) == "use global_batch 992 or 1008, or 320 or 640 GPUs");
  CHECK(only({"training.seq_len=8191"}) == "use seq_len 8184 or 8192");
  CHECK(only({"strategy.pp=64", "strategy.vpp=2", "training.global_batch=64"}) == "keep pp x vpp at or below 82");
  CHECK(train(plan()).problems.empty());
}

TEST_CASE("no remedy of fewer changes exists than the one offered") {
  const Plan p = plan({"strategy.tp=1", "strategy.pp=1", "strategy.micro_batch=1", "strategy.recompute=none"});
  const TrainPlan& t = train(p);
  REQUIRE_FALSE(t.remedies.empty());
  if (t.remedies.front().changes.size() > 1) {
    for (const Change& change : t.remedies.front().changes) {
      const Plan one = plan(
          {"strategy.tp=1", "strategy.pp=1", "strategy.micro_batch=1", "strategy.recompute=none", override_of(change)});
      CHECK(train(one).estimate.verdict != Verdict::feasible);
    }
  }
}

TEST_CASE("a blank micro-batch takes the fastest of 1, 2, 4, 8 that fits") {
  const TrainPlan open = train(plan());
  for (const int micro_batch : {1, 2, 4, 8}) {
    for (const char* recompute : {"none", "selective", "full"}) {
      const Plan fixed =
          plan({"strategy.micro_batch=" + std::to_string(micro_batch), std::string{"strategy.recompute="} + recompute});
      if (fixed.feasible()) {
        CHECK(open.estimate.step <= train(fixed).estimate.step);
      }
    }
  }
}

TEST_CASE("an inline model extends a preset") {
  const ConfigValue root = parse_toml(
      "schema = 1\nkind = \"train\"\n[model]\nbase = \"llama3-70b\"\nlayers = 40\n[hardware]\ngpu = \"h100-sxm-80gb\"\n"
      "gpus = 64\n[training]\nseq_len = 4096\nglobal_batch = 64\nprecision = \"bf16\"\n[strategy]\ntp = 8\n",
      "inline.toml");
  const Scenario s = read_scenario(root, "inline.toml", sources());
  CHECK(std::get<TrainScenario>(s.question).architecture.layers == 40);
  CHECK(std::get<TrainScenario>(s.question).architecture.hidden == 8192);
}

TEST_CASE("serving: a 70B in bf16 does not fit one H100 and does on two") {
  const auto serve = [&](int gpus, int tp) {
    return make_plan(
        scenario_from_overrides(std::vector<std::string>{"kind=serve", "model=llama3-70b", "hardware.gpu=h100-sxm-80gb",
                                                         "hardware.gpus=" + std::to_string(gpus), "serving.isl=512",
                                                         "serving.osl=128", "serving.concurrency=4",
                                                         "serving.weights=bf16", "strategy.tp=" + std::to_string(tp)},
                                sources()),
        false);
  };
  const Plan one = serve(1, 1);
  CHECK_FALSE(one.feasible());
  CHECK(std::get<ServePlan>(one.answer).estimate.verdict == Verdict::out_of_memory);
  CHECK(std::get<ServePlan>(one.answer).changes == Changes{{Knob::gpus, 2}, {Knob::tp, 2}, {Knob::max_num_seqs, 4}});
  CHECK(serve(4, 4).feasible());
}

TEST_CASE("a decode step never beats the read of its weights") {
  const Plan p =
      make_plan(scenario_from_overrides(
                    std::vector<std::string>{"kind=serve", "model=llama3-70b", "hardware.gpu=h100-sxm-80gb",
                                             "hardware.gpus=8", "serving.isl=2048", "serving.osl=256",
                                             "serving.concurrency=1", "serving.weights=bf16", "strategy.tp=8"},
                    sources()),
                true);
  const ServePlan& s = std::get<ServePlan>(p.answer);
  const double read = (70553706496.0 - 0.0) * 2 / 8 / 3.35e12;
  REQUIRE(s.times);
  CHECK(s.tpot.mid.raw() > read);
  CHECK(s.times->reads);
  CHECK_FALSE(p.explain.empty());
}
