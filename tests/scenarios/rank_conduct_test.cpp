// SPDX-License-Identifier: Apache-2.0
// Keys for what a diagnosis finds: a host that reads back, ranks that differ, a clock that is held, a node that is bad.
#include <headroom/model/train/step/rank_conduct.hpp>
#include <headroom/scenarios/goodput/bad_nodes.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <string>
#include <variant>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

TrainPlan conducted(const std::vector<std::string>& more = {}, int gpus = 8) {
  std::vector<std::string> overrides{"kind=train",
                                     "model=llama3-8b",
                                     "hardware.gpu=a100-sxm-80gb",
                                     "hardware.gpus=" + std::to_string(gpus),
                                     "training.seq_len=4096",
                                     "training.global_batch=1024",
                                     "training.precision=bf16",
                                     "strategy.zero=3",
                                     "strategy.micro_batch=1",
                                     "strategy.recompute=full"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return std::get<TrainPlan>(make_plan(scenario_from_overrides(overrides, sources()), false).answer);
}

Seconds rest_of(const TrainPlan& plan) {
  return plan.estimate.time.total() - plan.estimate.time[Term::straggler];
}

}  // namespace

TEST_CASE("a host that reads back exposes what it takes to send a step") {
  // 10 ms of GPU, 3.5 ms of host: 13.5 ms each step, 10.035 ms each hundred; throughput -25.9 % and -0.35 %.
  const Seconds each = Seconds{0.010} + synced_wait(Seconds{0.0035}, {}, 1.0);
  CHECK(each.raw() == doctest::Approx(0.0135));
  CHECK(0.010 / each.raw() - 1.0 == doctest::Approx(-0.259).epsilon(2e-3));
  const Seconds rarely = Seconds{0.010} + synced_wait(Seconds{0.0035}, {}, 100.0);
  CHECK(0.010 / rarely.raw() - 1.0 == doctest::Approx(-0.0035).epsilon(1e-2));
  CHECK(synced_wait(Seconds{0.0035}, Seconds{0.005}, 1.0).raw() == 0.0);  // waited for already
  CHECK(synced_wait(Seconds{0.0035}, {}, 0.0).raw() == 0.0);

  const TrainPlan plain = conducted();
  const TrainPlan synced = conducted({"training.sync_every=1", "training.host_dispatch=200 ms"});
  const Seconds waits = plain.estimate.time[Term::host];
  CHECK(synced.estimate.time[Term::host_sync].raw() == doctest::Approx(0.2 - waits.raw()));
  CHECK(synced.estimate.step.raw() - plain.estimate.step.raw() == doctest::Approx(0.2 - waits.raw()));
  const ConductCost cost = conduct_cost({1.0, Seconds{0.2}, {}, 0.0}, synced.estimate.time);
  CHECK(cost.sync_throughput == doctest::Approx(-(synced.estimate.step - plain.estimate.step) / synced.estimate.step));
  // Without a stated time the software's own launches: three passes a layer and micro-batch.
  CHECK(conducted({"training.sync_every=1"}).estimate.time[Term::host_sync].raw() > 0.0);
}

TEST_CASE("ranks that differ wait for the slowest of them") {
  // Means of the largest of 8, 64 and 512 standard normal numbers: 1.42, 2.34 to 2.35, 3.04; of 3 %: 4.3, 7.0, 9.1 %.
  const RankConduct spread{0.0, {}, 0.03, 0.0};
  CHECK(slowest_share(spread, 0.0, 8.0) == doctest::Approx(0.043).epsilon(0.01));
  CHECK(slowest_share(spread, 0.0, 64.0) == doctest::Approx(0.070).epsilon(0.01));
  CHECK(slowest_share(spread, 0.0, 512.0) == doctest::Approx(0.091).epsilon(0.01));
  CHECK(slowest_share(spread, 0.5, 1.0) == doctest::Approx(0.0));
  CHECK(slowest_share({0.0, {}, {}, 0.2}, 0.05, 8.0) == 0.2);
  CHECK(slowest_share({0.0, {}, {}, 0.02}, 0.05, 8.0) == 0.05);
  CHECK(slowest_share({0.0, {}, 0.03, 0.2}, 0.0, 512.0) == 0.2);

  const TrainPlan wide = conducted({"training.rank_spread=0.03"}, 64);
  CHECK(wide.estimate.time[Term::straggler] / rest_of(wide) == doctest::Approx(0.070).epsilon(0.01));
  const TrainPlan plain = conducted();
  const TrainPlan slow = conducted({"training.slow_rank=0.2"});
  CHECK(slow.estimate.step / rest_of(plain) == doctest::Approx(1.2));
}

TEST_CASE("a held clock slows products and not passes over memory") {
  // 1128 of 1410 MHz: 0.8.
  const TrainPlan full = conducted();
  const TrainPlan held = conducted({"hardware.clock=1128 MHz"});
  CHECK(full.estimate.time[Term::gemm] / held.estimate.time[Term::gemm] == doctest::Approx(0.8));
  CHECK(full.estimate.time[Term::attention] / held.estimate.time[Term::attention] ==
        doctest::Approx(0.8).epsilon(0.01));
  CHECK(held.estimate.time[Term::elementwise].raw() == doctest::Approx(full.estimate.time[Term::elementwise].raw()));
  CHECK(held.estimate.time[Term::optimizer].raw() == doctest::Approx(full.estimate.time[Term::optimizer].raw()));
}

TEST_CASE("the chance of a bad node grows with the nodes, and halves find it") {
  // 1 - 0.999^8 = 0.797 %, 1 - 0.999^128 = 12.0 %; log2 128 = 7.
  const goodput::BadNodes few = goodput::bad_nodes(0.001, 8, Seconds{86400.0});
  CHECK(few.of_day == doctest::Approx(0.00797).epsilon(1e-3));
  CHECK(few.of_run == doctest::Approx(few.of_day));
  CHECK(few.bisect_runs == 3);
  const goodput::BadNodes many = goodput::bad_nodes(0.001, 128, Seconds{});
  CHECK(many.of_day == doctest::Approx(0.1202).epsilon(1e-3));
  CHECK(many.of_run == 0.0);
  CHECK(many.bisect_runs == 7);
  CHECK(goodput::bad_nodes(0.001, 100, {}).bisect_runs == 7);
  CHECK(goodput::bad_nodes(1.0, 1, Seconds{1.0}).of_day == 1.0);
  CHECK(goodput::bad_nodes(0.0, 1000, Seconds{1e9}).of_run == 0.0);
  CHECK(goodput::bad_nodes(0.5, 1, {}).bisect_runs == 0);
}
