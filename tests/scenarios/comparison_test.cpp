// SPDX-License-Identifier: Apache-2.0
// Plans side by side: in what they differ, by which terms, and whether the difference is larger than past errors.
#include <headroom/scenarios/compare/comparison.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>

using namespace headroom;
using headroom::test::sources;

namespace {

Scenario train(std::vector<std::string> more = {}) {
  std::vector<std::string> overrides{"kind=train",
                                     "model=llama3-70b",
                                     "hardware.gpu=h100-sxm-80gb",
                                     "hardware.gpus=512",
                                     "training.seq_len=8192",
                                     "training.global_batch=1024",
                                     "training.precision=bf16",
                                     "training.tokens=15e12",
                                     "training.software=megatron-core",
                                     "strategy.tp=8",
                                     "strategy.pp=4",
                                     "strategy.micro_batch=1",
                                     "strategy.recompute=none",
                                     "money.price=3 $/h"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return scenario_from_overrides(overrides, sources());
}

Scenario serve(std::vector<std::string> more) {
  std::vector<std::string> overrides{"kind=serve",           "model=llama3-70b", "hardware.gpus=4",
                                     "serving.isl=1024",     "serving.osl=256",  "serving.concurrency=32",
                                     "serving.weights=fp16", "strategy.tp=4"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return scenario_from_overrides(overrides, sources());
}

Comparison compared(std::vector<Scenario> scenarios, const Objectives& objectives = {}) {
  return compare_plans(std::move(scenarios), objectives);
}

std::string refusal(std::vector<Scenario> scenarios, const Objectives& objectives = {}) {
  try {
    static_cast<void>(compare_plans(std::move(scenarios), objectives));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

std::vector<std::string> keys(const Comparison& c) {
  std::vector<std::string> names;
  for (const DifferingKey& key : c.keys) {
    names.push_back(key.key);
  }
  return names;
}

}  // namespace

TEST_CASE("what is said of failures and of the building's energy differs too, each key by its own") {
  const auto run = [](const std::string& more) {
    return train({"training.tokens=1e12", "goodput.mtbf_per_gpu=\"50000 h\"", "goodput.checkpoint_store=\"50 GB/s\"",
                  "goodput.detection=\"5 min\"", "goodput.restart=\"5 min\"", "goodput.repair=\"24 h\"",
                  "goodput.spares=1", more});
  };
  CHECK(keys(compared({run("energy.pue=1.2"), run("energy.pue=1.4")})) == std::vector<std::string>{"energy.pue"});
  CHECK(keys(compared({run("goodput.spares=1"), run("goodput.spares=2")})) ==
        std::vector<std::string>{"goodput.spares"});
  CHECK(keys(compared({run("goodput.repair=\"24 h\""), run("goodput.repair=\"12 h\"")})) ==
        std::vector<std::string>{"goodput.repair"});
}

TEST_CASE("only what differs is listed, and the terms of the step add up to its difference") {
  const Comparison c = compared({train(), train({"strategy.tp=4"})});
  CHECK(keys(c) == std::vector<std::string>{"strategy.tp", "strategy.dp"});
  CHECK(c.keys[0].values == std::vector<std::string>{"8", "4"});
  REQUIRE(c.plans[1].difference);
  CHECK_FALSE(c.plans[0].difference);
  const Difference& d = *c.plans[1].difference;
  const auto step = [&](std::size_t i) { return std::get<TrainPlan>(c.plans[i].plan.answer).estimate.step; };
  CHECK(d.step.raw() == doctest::Approx((step(1) - step(0)).raw()));
  Seconds sum{};
  for (const Seconds term : d.terms) {
    sum += term;
  }
  CHECK(sum.raw() == doctest::Approx(d.step.raw()));
  CHECK(d.terms[static_cast<std::size_t>(Term::tp_comm)] < Seconds{});  // half the tensor ranks
  CHECK(d.terms[static_cast<std::size_t>(Term::bubble)] > Seconds{});   // fewer micro-batches
  CHECK(d.ratio.mid == doctest::Approx(step(0) / step(1)));
}

TEST_CASE("steps of another batch are compared at as many tokens") {
  const Comparison c = compared({train(), train({"training.global_batch=2048"})});
  const Difference& d = *c.plans[1].difference;
  const auto& a = std::get<TrainPlan>(c.plans[0].plan.answer);
  const auto& b = std::get<TrainPlan>(c.plans[1].plan.answer);
  CHECK(d.step.raw() == doctest::Approx(0.5 * b.estimate.step.raw() - a.estimate.step.raw()));
  CHECK(d.ratio.mid == doctest::Approx(b.tokens_per_s.mid / a.tokens_per_s.mid));
  CHECK(d.terms[static_cast<std::size_t>(Term::gemm)].raw() == doctest::Approx(0.0).epsilon(1e-6));
}

TEST_CASE("errors of one class, SKU and software share their level: the ratio is as sure as the errors around it") {
  const Comparison alike = compared({train(), train()});
  const PlanConfidence& dense = *alike.plans[0].plan.confidence;
  const double shared = ratio_width(dense, dense, true);
  CHECK(std::log1p(shared) == doctest::Approx(1.2815515655 * std::sqrt(2.0) * dense.errors.shape));
  CHECK(ratio_width(dense, dense, false) == doctest::Approx(std::expm1(std::sqrt(2.0) * std::log1p(dense.width))));
  CHECK(shared < ratio_width(dense, dense, false));
  CHECK(compared({train(), train({"strategy.tp=4"})}).plans[1].difference->shared_level);
  CHECK_FALSE(compared({train(), train({"training.software=torchtitan"})}).plans[1].difference->shared_level);
  CHECK_FALSE(compared({train(), train({"hardware.gpu=h200-sxm-141gb"})}).plans[1].difference->shared_level);
  CHECK_FALSE(compared({train(), train({"model=mixtral-8x7b"})}).plans[1].difference->shared_level);
}

TEST_CASE("plans inside each other's ratio are indistinguishable, plans outside are not") {
  const Comparison near = compared({train(), train({"strategy.vpp=5"})});
  CHECK_FALSE(near.plans[1].difference->distinguishable);
  CHECK(near.plans[1].difference->ratio.low < 1.0);
  const Comparison twice = compared({train(), train({"hardware.gpus=1024"})});
  CHECK(twice.plans[1].difference->distinguishable);
  CHECK(twice.plans[1].difference->ratio.low > 1.0);
  const Comparison same = compared({train(), train()});
  CHECK(same.keys.empty());
  CHECK(same.plans[1].difference->ratio.mid == 1.0);
  CHECK_FALSE(same.plans[1].difference->distinguishable);
}

TEST_CASE("the ranking is by what a dollar buys, who lies within errors of the best is told") {
  const Comparison c = compared({train(), train({"money.price=1 $/h"}), train({"strategy.vpp=5", "money.price=1 $/h"}),
                                 train({"strategy.tp=6"})});
  REQUIRE(c.ranking.size() == 4);
  CHECK(c.ranking[0].samples_per_dollar ==
        doctest::Approx(c.plans[c.ranking[0].offer].samples_per_second / (512.0 * 1.0 / 3600.0)));
  CHECK(c.plans[c.ranking[1].offer].near_best);
  CHECK(c.ranking[2].offer == 0);  // three times the price
  CHECK_FALSE(c.plans[0].near_best);
  CHECK(c.ranking[3].offer == 3);
  CHECK(c.ranking[3].standing == Standing::infeasible);
  CHECK_FALSE(c.plans[3].difference);
}

TEST_CASE("a run that misses its deadline is ranked behind") {
  const double days = std::get<TrainPlan>(compared({train(), train()}).plans[0].plan.answer).duration.mid.raw() / 86400;
  Objectives objectives;
  objectives.duration = 0.9 * days * day;
  const Comparison c = compared({train({"money.price=1 $/h"}), train({"hardware.gpus=1024"})}, objectives);
  CHECK(c.ranking[0].offer == 1);
  CHECK(c.ranking[1].standing == Standing::misses);
}

TEST_CASE("a run whose interval crosses the deadline is ranked, and says so") {
  const Interval<Seconds> run = std::get<TrainPlan>(compared({train(), train()}).plans[0].plan.answer).calendar;
  const auto crosses = [&](Seconds deadline) {
    Objectives objectives;
    objectives.duration = deadline;
    const Comparison c = compared({train({"money.price=1 $/h"}), train({"money.price=2 $/h"})}, objectives);
    return std::pair{c.ranking[0].standing, c.plans[c.ranking[0].offer].crosses};
  };
  CHECK(crosses(0.5 * (run.mid + run.high)) == std::pair{Standing::meets, true});
  CHECK(crosses(1.01 * run.high) == std::pair{Standing::meets, false});
  CHECK(crosses(0.99 * run.mid) == std::pair{Standing::misses, false});
}

TEST_CASE("70B on T4 is listed as infeasible with its numbers, the others are ranked by dollar within the objective") {
  const auto tpot_on = [](const char* gpu) {
    const std::string hardware = std::string{"hardware.gpu="} + gpu;
    return std::get<ServePlan>(compared({serve({hardware.c_str()}), serve({hardware.c_str()})}).plans[0].plan.answer)
        .tpot.mid;
  };
  const Seconds fast = tpot_on("h100-sxm-80gb");
  const Seconds slow = tpot_on("a100-sxm-80gb");
  REQUIRE(fast < slow);
  Objectives objectives;
  objectives.tpot = 1.1 * slow;
  const Comparison c = compared({serve({"hardware.gpu=t4", "money.price=0.35 $/h"}),
                                 serve({"hardware.gpu=h100-sxm-80gb", "money.price=2.99 $/h"}),
                                 serve({"hardware.gpu=a100-sxm-80gb", "money.price=1.29 $/h"})},
                                objectives);
  CHECK(c.serving);
  CHECK(c.reference == 1);
  CHECK(c.ranking[2].offer == 0);
  CHECK(c.ranking[2].standing == Standing::infeasible);
  CHECK(std::get<ServePlan>(c.plans[0].plan.answer).verdict.find("GiB") != std::string::npos);
  CHECK(c.ranking[0].offer == 2);
  REQUIRE(c.plans[2].difference);
  CHECK(c.plans[2].difference->ratio.mid < 1.0);
  objectives.tpot = 0.5 * (fast + slow);
  const Comparison strict = compared({serve({"hardware.gpu=h100-sxm-80gb", "money.price=2.99 $/h"}),
                                      serve({"hardware.gpu=a100-sxm-80gb", "money.price=1.29 $/h"})},
                                     objectives);
  CHECK(strict.ranking[0].offer == 0);
  CHECK(strict.ranking[1].standing == Standing::misses);
}

TEST_CASE("a plan of bounds alone is held beside others by its memory: no time, no ratio, no rank") {
  const auto served = [](const char* gpu, const char* tp) {  // no layer of experts was measured on Volta
    return serve({std::string{"hardware.gpu="} + gpu, "hardware.gpus=8", std::string{"strategy.tp="} + tp,
                  "model=qwen3-30b-a3b", std::string{"serving.weights="} + (gpu[0] == 'v' ? "fp16" : "fp8"),
                  "money.price=3 $/h"});
  };
  const Comparison c = compared({served("h200-sxm-141gb", "8"), served("v100-sxm2-32gb", "8")});
  CHECK(c.reference == 0);
  CHECK(c.plans[1].plan.feasible());
  CHECK(c.plans[1].samples_per_second == 0.0);
  CHECK_FALSE(c.plans[1].difference);
  CHECK(c.plans[1].untimed().find("no layer of experts was measured") != std::string::npos);
  CHECK(c.plans[0].untimed().empty());
  REQUIRE(c.ranking.size() == 2);
  CHECK(c.ranking[0].offer == 0);
  CHECK(c.ranking[1].standing == Standing::untimed);
  CHECK(c.ranking[1].samples_per_dollar == 0.0);
  // nor are layouts of one such SKU ordered
  const Comparison layouts = compared({served("v100-sxm2-32gb", "4"), served("v100-sxm2-32gb", "8")});
  CHECK_FALSE(layouts.plans[0].difference);
  CHECK_FALSE(layouts.plans[1].difference);
  CHECK(layouts.ranking[0].standing == Standing::untimed);
  CHECK(layouts.ranking[1].standing == Standing::untimed);
}

TEST_CASE(
    "a SKU whose kernels nobody measured is ranked beside measured ones, and at one price not surely before them") {
  const auto fp8 = [](const char* gpu) {
    return serve({std::string{"hardware.gpu="} + gpu, "hardware.gpus=8", "strategy.tp=8", "serving.weights=fp8",
                  "money.price=3 $/h"});
  };
  const Comparison c = compared({fp8("h200-sxm-141gb"), fp8("mi300x"), fp8("gaudi3")});
  REQUIRE(c.ranking.size() == 3);
  for (std::size_t i = 1; i < 3; ++i) {
    REQUIRE(c.plans[i].difference);
    CHECK_FALSE(c.plans[i].difference->distinguishable);
    // published comparisons put them within some tens of per cent
    CHECK(c.plans[i].difference->ratio.mid > 0.6);
    CHECK(c.plans[i].difference->ratio.mid < 1.6);
    CHECK(c.ranking[i].standing == Standing::meets);
    CHECK(c.plans[c.ranking[i].offer].near_best);
  }
}

TEST_CASE("what cannot be compared is refused") {
  CHECK(refusal({train()}).find("two scenario files or more") != std::string::npos);
  CHECK(refusal({train(), serve({"hardware.gpu=h100-sxm-80gb"})}).find("plans of one kind") != std::string::npos);
  Objectives objectives;
  objectives.tpot = Seconds{1.0};
  CHECK(refusal({train(), train()}, objectives).find("--deadline") != std::string::npos);
  objectives = {};
  objectives.duration = day;
  const std::vector<std::string> untold{"kind=train",
                                        "model=llama3-8b",
                                        "hardware.gpu=h100-sxm-80gb",
                                        "hardware.gpus=8",
                                        "training.seq_len=8192",
                                        "training.global_batch=64",
                                        "training.precision=bf16"};
  const Scenario no_tokens = scenario_from_overrides(untold, sources());
  CHECK(refusal({no_tokens, no_tokens}, objectives).find("needs training.tokens") != std::string::npos);
}
