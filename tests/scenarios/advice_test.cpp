// SPDX-License-Identifier: Apache-2.0
// What stands beside a training plan: another batch, a sweep, other numbers of GPUs.
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <cmath>

using namespace headroom;
using headroom::test::near;

namespace {

Plan plan(std::vector<std::string> more, PlanPart part = PlanPart::all) {
  static const Sources sources = Sources::standard();
  std::vector<std::string> overrides{"kind=train",
                                     "model=llama3-8b",
                                     "hardware.gpu=h100-sxm-80gb",
                                     "hardware.gpus=64",
                                     "training.seq_len=2048",
                                     "training.global_batch=1792",
                                     "training.precision=bf16",
                                     "training.fused_loss=true",
                                     "strategy.micro_batch=4",
                                     "strategy.recompute=full",
                                     "strategy.zero=3"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return make_plan(scenario_from_overrides(overrides, sources), false, part);
}

const TrainPlan& train(const Plan& p) {
  return std::get<TrainPlan>(p.answer);
}

BatchAdvice to_2048(BatchChange change, Optimizer optimizer) {
  change.base = 256;
  return advise_batch(change, 2048, 1024.0, optimizer);
}

}  // namespace

TEST_CASE("batch 256 to 2048 with SGD: rate x8, warm-up on, a warning above the critical batch") {
  BatchChange change;
  change.rate = 0.1;
  change.critical = 512.0;
  change.epoch_samples = 1'281'167;
  const BatchAdvice a = to_2048(change, Optimizer::momentum);
  CHECK(a.rule == RateRule::linear);
  CHECK(a.rate_factor == 8.0);
  REQUIRE(a.rate);
  CHECK(*a.rate == near(0.8));
  CHECK(a.warm_up);
  CHECK(a.warm_up_steps == std::ceil(5 * 1'281'167.0 / 2048));
  CHECK(a.above);
  // (1 + 512 / 2048) / (1 + 512 / 256) of the steps, (1 + 2048 / 512) / (1 + 256 / 512) of the samples.
  CHECK(a.change.steps == near(1.25 / 3.0));
  CHECK(a.change.samples == near(5.0 / 1.5));
  change.critical = 4096.0;
  CHECK_FALSE(to_2048(change, Optimizer::sgd).above);
  change.critical.reset();
  CHECK_FALSE(to_2048(change, Optimizer::sgd).critical);
}

TEST_CASE("what divides by the size of past gradients takes the square root, the software's optimizer is such a one") {
  for (const Optimizer o : {Optimizer::adamw, Optimizer::adamw_8bit, Optimizer::lion, Optimizer::muon}) {
    CHECK(to_2048({}, o).rate_factor == near(std::sqrt(8.0)));
  }
  CHECK(to_2048({}, Optimizer::adamw).adam);
  CHECK_FALSE(to_2048({}, Optimizer::lion).adam);
  CHECK(advise_batch({256, {}, {}, {}, {}}, 2048, 1024.0, std::nullopt).rate_factor == near(std::sqrt(8.0)));
  const BatchAdvice smaller = advise_batch({256, 0.1, {}, {}, {}}, 64, 1024.0, Optimizer::sgd);
  CHECK(*smaller.rate == near(0.025));
  CHECK_FALSE(smaller.warm_up);
}

TEST_CASE("the critical batch of a loss is that of Kaplan et al. 2020: 2.1e8 tokens x loss^-4.8 in their figure 10") {
  for (const double loss : {2.0, 3.0, 4.0}) {
    CHECK(critical_tokens(loss) == near(2.1e8 * std::pow(loss, -4.8), 0.06));
  }
  BatchChange change;
  change.loss = 3.0;
  const BatchAdvice a = to_2048(change, Optimizer::adamw);
  CHECK(*a.critical == near(critical_tokens(3.0) / 1024.0));
  CHECK(a.from_loss);
  CHECK(a.above);
}

TEST_CASE("a plan carries the advice on its own batch, and none that nobody asked for") {
  const Plan p = plan({"training.base_batch=224", "training.base_learning_rate=1e-4", "training.optimizer=sgd"});
  REQUIRE(train(p).advice.batch);
  CHECK(*train(p).advice.batch->rate == near(8e-4));
  CHECK_FALSE(train(plan({})).advice.batch);
  CHECK_FALSE(train(plan({})).advice.sweep);
  CHECK(train(plan({})).advice.elastic.empty());
}

TEST_CASE("81 configurations, R = 81, eta = 3: 405 units against 6561") {
  const RunPrice run{{Seconds{81.0}, Seconds{162.0}, Seconds{324.0}}, {40.5, 81.0, 162.0}, std::nullopt};
  const SweepPlan s = plan_sweep({81, 81, 1, 3, 1, false}, run);
  REQUIRE(s.rungs.size() == 5);
  const std::array<std::int64_t, 5> configurations{81, 27, 9, 3, 1};
  const std::array<double, 5> resource{1, 3, 9, 27, 81};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(s.rungs[i].configurations == configurations[i]);
    CHECK(s.rungs[i].resource == resource[i]);
    CHECK(s.rungs[i].units == 81.0);
    CHECK(s.rungs[i].duration.raw() == near(162.0));
  }
  CHECK(s.units == 405.0);
  CHECK(s.full_units == 6561.0);
  CHECK(s.resumed_units == 81.0 + 27 * 2 + 9 * 6 + 3 * 18 + 54);
  CHECK(s.duration.mid.raw() == near(405.0 * 2.0));
  CHECK(s.duration.low.raw() == near(405.0));
  CHECK(s.gpu_hours.high == near(405.0 * 2.0));
  CHECK_FALSE(s.cost);
}

TEST_CASE("rungs stop at the least resource and at the last configuration, parallel ones take turns") {
  const RunPrice run{{Seconds{50.0}, Seconds{100.0}, Seconds{200.0}},
                     {1.0, 2.0, 4.0},
                     Interval<Dollars>{Dollars{5.0}, Dollars{10.0}, Dollars{20.0}}};
  const SweepPlan few = plan_sweep({10, 100, 1, 3, 4, false}, run);  // 10, 3, 1 at 100/9, 100/3, 100
  REQUIRE(few.rungs.size() == 3);
  CHECK(few.rungs[0].resource == near(100.0 / 9.0));
  CHECK(few.rungs[1].configurations == 3);
  CHECK(few.units == near(10 * 100.0 / 9 + 3 * 100.0 / 3 + 100));
  CHECK(few.duration.mid.raw() == near(3 * 100.0 / 9 + 100.0 / 3 + 100));  // three turns of four, one, one
  CHECK(few.cost->mid.raw() == near(10.0 * few.units / 100.0));
  CHECK(plan_sweep({81, 81, 9, 3, 1, false}, run).rungs.size() == 3);
  const SweepPlan resumed = plan_sweep({81, 81, 1, 3, 1, true}, run);
  CHECK(resumed.units == resumed.resumed_units);
  CHECK(resumed.anew_units == 405.0);
  CHECK(resumed.duration.mid.raw() == near(100.0 * 297.0 / 81.0));
  CHECK(resumed.rungs[1].units == 54.0);
  const SweepPlan one = plan_sweep({1, 7, 1, 2, 1, false}, run);
  CHECK(one.rungs.size() == 1);
  CHECK(one.units == 7.0);
}

TEST_CASE("a sweep is priced with the plan's own run") {
  const Plan p = plan({"training.tokens=1e9", "money.price=2 $/h", "sweep.configurations=81", "sweep.max_resource=81"});
  const TrainPlan& t = train(p);
  REQUIRE(t.advice.sweep);
  const SweepPlan& s = *t.advice.sweep;
  CHECK(s.gpu_hours.mid == near(5.0 * t.gpu_hours.mid));
  CHECK(s.gpu_hours.low == near(5.0 * t.gpu_hours.low));
  CHECK(s.duration.high.raw() == near(5.0 * t.duration.high.raw()));
  CHECK(s.cost->mid.raw() == near(5.0 * t.cost.mid.raw()));
  CHECK_FALSE(train(plan({"training.tokens=1e9", "sweep.configurations=81", "sweep.max_resource=81"}, PlanPart::memory))
                  .advice.sweep);
}

TEST_CASE("global batch 1792 on 64 GPUs is 4 x 7, on 56 it is 4 x 8, on 60 nothing: batches and counts that do") {
  const Plan p = plan({"training.elastic=[56, 60, 64]"});
  const TrainPlan& t = train(p);
  CHECK(t.estimate.verdict == Verdict::feasible);
  CHECK(t.estimate.micro_batches == 7);
  REQUIRE(t.advice.elastic.size() == 3);
  const ElasticCount& fewer = t.advice.elastic[0];
  CHECK(fewer.why_not.empty());
  CHECK(fewer.strategy.dp == 56);
  CHECK(fewer.strategy.micro_batch == 4);
  CHECK(fewer.accumulation == 8);
  CHECK(fewer.kept == near(t.step.mid / fewer.step.mid));
  CHECK(fewer.kept < 0.95);
  CHECK(fewer.kept > 0.80);
  const ElasticCount& uneven = t.advice.elastic[1];
  CHECK(uneven.why_not == "global batch 1792 does not divide by dp 60");
  CHECK(uneven.nearest_batches == std::vector<std::int64_t>{1800, 1740});
  CHECK(uneven.usable_gpus == 56);
  const ElasticCount& same = t.advice.elastic[2];
  CHECK(same.step.mid == t.step.mid);
  CHECK(same.kept == 1.0);
}

TEST_CASE("another micro-batch where the plan's does not divide, whole replicas alone survive") {
  const Plan p = plan(
      {"strategy.tp=2", "training.elastic=[56, 63, 16, 128]", "training.global_batch=672", "strategy.micro_batch=7"});
  const TrainPlan& t = train(p);
  REQUIRE(t.problems.empty());
  const auto& counts = t.advice.elastic;
  CHECK(counts[0].strategy.dp == 28);  // 24 a rank: seven does not divide it
  CHECK(24 % counts[0].strategy.micro_batch == 0);
  CHECK(counts[0].accumulation * counts[0].strategy.micro_batch * 28 == 672);
  CHECK(counts[1].why_not == "they do not divide by tp x pp x cp = 2");
  CHECK(counts[1].usable_gpus == 56);
  CHECK(counts[2].strategy.micro_batch == 7);  // 84 a rank
  CHECK(counts[2].accumulation == 12);
  CHECK(counts[3].why_not.find("does not divide by dp 64") != std::string::npos);
}

TEST_CASE("counts of GPUs that do are the way out of a batch that does not divide, not where dp is stated") {
  const auto way_out = [](std::vector<std::string> more) {
    const Plan p = plan(std::move(more));
    REQUIRE(!train(p).problems.empty());
    return train(p).problems.front().way_out;
  };
  CHECK(way_out({"hardware.gpus=60"}) == "use global_batch 1680 or 1920, or 56 or 64 GPUs");
  CHECK(way_out({"hardware.gpus=60", "strategy.dp=60"}) == "use global_batch 1680 or 1920");
}
