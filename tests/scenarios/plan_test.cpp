// SPDX-License-Identifier: Apache-2.0
// From scenario to answer: open axes, remedies, intervals and money.
#include <headroom/scenarios/plan.hpp>
#include <headroom/scenarios/remedy.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace headroom;

namespace {

const Sources& sources() {
  static const Sources standard = Sources::standard();
  return standard;
}

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

TEST_CASE("M8: out of memory at batch 32 on 40 GB, the first remedy is batch 16 with two steps of accumulation") {
  const auto at = [](int micro_batch) {
    return make_plan(
        scenario_from_overrides(
            std::vector<std::string>{"kind=train", "model=gpt3-350m", "hardware.gpu=a100-sxm-40gb", "hardware.gpus=1",
                                     "training.seq_len=1024", "training.global_batch=32", "training.precision=fp16",
                                     "training.software=megatron-core", "strategy.zero=0", "strategy.recompute=none",
                                     "strategy.micro_batch=" + std::to_string(micro_batch)},
            sources()),
        false);
  };
  const Plan over = at(32);
  const TrainPlan& t = train(over);
  CHECK(t.estimate.verdict == Verdict::out_of_memory);
  CHECK(t.estimate.memory.total().raw() > 40e9);
  REQUIRE_FALSE(t.remedies.empty());
  CHECK(t.remedies[0].changes == std::vector<std::string>{"strategy.micro_batch = 16"});
  const Plan half = at(16);
  CHECK(half.feasible());
  CHECK(train(half).estimate.micro_batches == 2);  // the batch stays 32
  CHECK(t.remedies[0].memory.raw() == train(half).estimate.memory.total().raw());
  CHECK(t.remedies[0].step.raw() == train(half).estimate.step.raw());
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
  CHECK(only({"training.global_batch=1000"}) == "use global_batch 992 or 1008");
  CHECK(only({"training.seq_len=8191"}) == "use seq_len 8184 or 8192");
  CHECK(only({"strategy.pp=64", "strategy.vpp=2", "training.global_batch=64"}) == "keep pp x vpp at or below 82");
  CHECK(train(plan()).problems.empty());
}

TEST_CASE("a plan that does not fit offers the smallest change that fits, and it does") {
  const Plan p = plan({"strategy.pp=1", "strategy.micro_batch=4", "strategy.recompute=none"});
  const TrainPlan& t = train(p);
  CHECK(t.estimate.verdict == Verdict::out_of_memory);
  REQUIRE_FALSE(t.remedies.empty());
  for (const Remedy& remedy : t.remedies) {
    CHECK(remedy.changes.size() == t.remedies.front().changes.size());
    std::vector<std::string> sets{"strategy.pp=1", "strategy.micro_batch=4", "strategy.recompute=none"};
    for (std::string change : remedy.changes) {
      change.erase(std::remove(change.begin(), change.end(), ' '), change.end());
      sets.push_back(change);
    }
    const Plan changed = plan(sets);
    CHECK(changed.feasible());
    CHECK(train(changed).estimate.memory.total().raw() == remedy.memory.raw());
  }
}

TEST_CASE("no remedy of fewer changes exists than the one offered") {
  const Plan p = plan({"strategy.tp=1", "strategy.pp=1", "strategy.micro_batch=1", "strategy.recompute=none"});
  const TrainPlan& t = train(p);
  REQUIRE_FALSE(t.remedies.empty());
  if (t.remedies.front().changes.size() > 1) {
    for (const std::string& change : t.remedies.front().changes) {
      std::string set = change;
      set.erase(std::remove(set.begin(), set.end(), ' '), set.end());
      CHECK_FALSE(plan({"strategy.tp=1", "strategy.pp=1", "strategy.micro_batch=1", "strategy.recompute=none", set})
                      .feasible());
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
  CHECK(std::get<ServePlan>(one.answer).changes ==
        std::vector<std::string>{"hardware.gpus = 2", "strategy.tp = 2", "serving.max_num_seqs = 4"});
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
  CHECK(s.estimate.tpot.raw() > read);
  CHECK(s.estimate.decode_memory_bound);
  CHECK_FALSE(p.explain.empty());
}
