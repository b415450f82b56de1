// SPDX-License-Identifier: Apache-2.0
// Pools of unlike SKUs: the wait for the slowest by hand from plans of each SKU, the balanced split against every
// other, and replicas behind one router against what each pool does by itself.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/mixed/mixed_fleet.hpp>
#include <headroom/scenarios/mixed/mixed_training.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

const std::string training =
    "[training]\nseq_len = 8192\nprecision = \"bf16\"\nsoftware = \"torchtitan\"\ntokens = 1e11\n"
    "[strategy]\nzero = 3\nmicro_batch = 1\nrecompute = \"selective\"\n";

std::string pools(const std::string& first, int first_gpus, const std::string& second, int second_gpus) {
  return "[[hardware.pool]]\ngpu = \"" + first + "\"\ngpus = " + std::to_string(first_gpus) +
         "\n[[hardware.pool]]\ngpu = \"" + second + "\"\ngpus = " + std::to_string(second_gpus) + "\n";
}

MixedQuestion asked(const std::string& text,
                    const std::string& kind = "train",
                    const std::string& model = "llama3-8b") {
  const std::string whole = "schema = 1\nkind = \"" + kind + "\"\nmodel = \"" + model + "\"\n" + text;
  return read_mixed(parse_toml(whole, "mixed.toml"), "mixed.toml", sources());
}

MixedTraining trained(const std::string& hardware, int batch, const std::string& more = training) {
  std::string text = more;
  text.insert(text.find("seq_len"), "global_batch = " + std::to_string(batch) + "\n");
  return plan_mixed_training(asked(hardware + text));
}

/// Compute and exposed data-parallel traffic of a job of one SKU, as its own plan has them.
struct OneSku {
  Seconds compute{}, data{};
};
OneSku one_sku(const std::string& gpu, int gpus, int micro_batches) {
  std::string text = training;
  text.insert(text.find("seq_len"), "global_batch = " + std::to_string(gpus * micro_batches) + "\n");
  const std::string whole = "schema = 1\nkind = \"train\"\nmodel = \"llama3-8b\"\n[hardware]\ngpu = \"" + gpu +
                            "\"\ngpus = " + std::to_string(gpus) + "\n" + text;
  const Plan plan = price_plan(read_scenario(parse_toml(whole, "one.toml"), "one.toml", sources()));
  const Estimate& e = std::get<TrainPlan>(plan.answer).estimate;
  return {e.step - e.time[Term::dp_comm], e.time[Term::dp_comm]};
}

std::string problems_of(const std::string& text, const std::string& kind = "train") {
  try {
    static_cast<void>(asked(text, kind));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

const std::string traffic =
    "[serving]\nengine = \"vllm\"\nweights = \"fp8\"\n[strategy]\ntp = 1\n"
    "[traffic]\nrequests = 2000\nprompt = { mean = 800 }\noutput = { mean = 200 }\n";

MixedFleet served(double rate, const std::string& more = "") {
  return plan_mixed_fleet(
      asked(pools("h100-sxm-80gb", 2, "l40s", 4) + traffic + "rate = \"" + std::to_string(rate) + " req/s\"\n" + more,
            "serve", "llama3.1-8b"));
}

}  // namespace

TEST_CASE("mixed training: a step is the slowest SKU's compute and the narrowest links, and the others wait") {
  const MixedTraining plan = trained(pools("h100-sxm-80gb", 16, "a100-sxm-80gb", 16), 512);
  REQUIRE(plan.feasible());
  const OneSku fast = one_sku("h100-sxm-80gb", 32, 16);
  const OneSku slow = one_sku("a100-sxm-80gb", 32, 16);
  const SplitStep& equal = *plan.of(BatchSplit::equal);
  const Seconds step = std::max(fast.compute, slow.compute) + std::max(fast.data, slow.data);
  CHECK(equal.step.mid / step == doctest::Approx(1.0).epsilon(1e-9));
  CHECK(equal.slowest == 1);
  CHECK(equal.pools[0].micro_batches == 16);
  CHECK(equal.pools[1].micro_batches == 16);
  CHECK(equal.pools[0].idle == doctest::Approx(1.0 - (fast.compute + fast.data) / step));
  CHECK(equal.idle_slots == 0);
  // Side by side each pool of 16 ranks would do its 256 sequences in its own time.
  const double paces = 256.0 / (fast.compute + fast.data).raw() + 256.0 / (slow.compute + slow.data).raw();
  CHECK(equal.loss == doctest::Approx(1.0 - 512.0 / step.raw() / paces));
  CHECK(*equal.lost_gpu_hours == doctest::Approx(equal.loss * 32.0 * 1e11 / equal.tokens_per_s / 3600.0));
}

TEST_CASE("mixed training: no other whole split is done sooner than the balanced one") {
  for (const int batch : {64, 200, 512}) {
    CAPTURE(batch);
    const MixedTraining plan = trained(pools("h100-sxm-80gb", 16, "a100-sxm-80gb", 8), batch);
    const SplitStep& balanced = *plan.of(BatchSplit::balanced);
    REQUIRE(balanced.why.empty());
    Seconds least{1e30};
    for (int fast = 1; fast <= batch; ++fast) {
      const int slow = std::max(1, (batch - 16 * fast + 7) / 8);
      if (fast > batch / 16 + 1) {
        break;  // more than the whole batch
      }
      const OneSku a = one_sku("h100-sxm-80gb", 24, fast);
      const OneSku b = one_sku("a100-sxm-80gb", 24, slow);
      least = std::min(least, std::max(a.compute, b.compute));
    }
    const OneSku a = one_sku("h100-sxm-80gb", 24, static_cast<int>(balanced.pools[0].micro_batches));
    const OneSku b = one_sku("a100-sxm-80gb", 24, static_cast<int>(balanced.pools[1].micro_batches));
    CHECK(std::max(a.compute, b.compute) / least == doctest::Approx(1.0).epsilon(1e-9));
    const auto slots = 16 * balanced.pools[0].micro_batches + 8 * balanced.pools[1].micro_batches;
    CHECK(slots >= batch);
    CHECK(balanced.idle_slots == slots - batch);
    const SplitStep* const equal = plan.of(BatchSplit::equal);
    CHECK((!equal->why.empty() || balanced.tokens_per_s >= equal->tokens_per_s * (1.0 - 1e-9)));
  }
}

TEST_CASE("mixed training: a batch that no equal split divides is told, and split by speed all the same") {
  const MixedTraining plan = trained(pools("h100-sxm-80gb", 16, "a100-sxm-80gb", 16), 500);
  CHECK(plan.of(BatchSplit::equal)->why.find("no multiple of dp 32") != std::string::npos);
  REQUIRE(plan.best() != nullptr);
  CHECK(plan.best()->split == BatchSplit::balanced);
  CHECK(plan.pools[0].alone_verdict.find("500") != std::string::npos);
}

TEST_CASE("mixed training: a few slow cards hold many fast ones back, which the fast ones by themselves show") {
  const MixedTraining plan = trained(pools("h100-sxm-80gb", 24, "a100-sxm-80gb", 8), 96);
  const SplitStep& equal = *plan.of(BatchSplit::equal);
  // 24 H100 by themselves run 4 micro-batches a rank; with the A100 every rank runs 3 at the A100's pace.
  CHECK(plan.pools[0].alone_tokens_per_s > equal.tokens_per_s);
  CHECK(plan.pools[1].alone_tokens_per_s < equal.tokens_per_s);
}

TEST_CASE("mixed training: within one scale-up domain's number of GPUs pools meet over NICs all the same") {
  // Eight H100 of one box exchange over NVLink; four in a box beside four A100 of another do not.
  const MixedTraining plan = trained(pools("h100-sxm-80gb", 4, "a100-sxm-80gb", 4), 32);
  const OneSku inside = one_sku("h100-sxm-80gb", 8, 4);
  const OneSku across = one_sku("h100-sxm-80gb", 16, 4);
  const SplitStep& equal = *plan.of(BatchSplit::equal);
  CHECK(equal.pools[0].own / (inside.compute + across.data) == doctest::Approx(1.0).epsilon(1e-9));
}

TEST_CASE("mixed: what lies across SKUs or is of one SKU is refused with every reason at once") {
  const std::string job = "[training]\nseq_len = 8192\nglobal_batch = 64\nprecision = \"bf16\"\n";
  const std::string groups = problems_of(pools("h100-sxm-80gb", 8, "a100-sxm-80gb", 12) + job + "[strategy]\ntp = 8\n");
  CHECK(groups.find("12 GPUs are no whole number of replicas") != std::string::npos);
  CHECK(groups.find("would wait for the slowest SKU") != std::string::npos);
  CHECK(problems_of(pools("h100-sxm-80gb", 8, "mi300x", 8) + job).find("two vendors") != std::string::npos);
  CHECK(problems_of(pools("h100-sxm-80gb", 8, "h100-sxm-80gb", 8) + job).find("join both") != std::string::npos);
  const std::string several =
      problems_of(pools("h100-sxm-80gb", 8, "a100-sxm-80gb", 8) + job + "[goodput]\n[search]\ntp = [1, 2]\n");
  CHECK(several.find("failures are of one SKU") != std::string::npos);
  CHECK(several.find("search compiles one SKU") != std::string::npos);
  const std::string fixed = "[serving]\nengine = \"vllm\"\nisl = 100\nosl = 100\nconcurrency = 8\n[fleet]\nspare = 1\n";
  const std::string load = problems_of(pools("h100-sxm-80gb", 2, "l40s", 2) + fixed, "serve");
  CHECK(load.find("a fixed load says nothing of which replica") != std::string::npos);
  CHECK(load.find("a spare replica of one SKU") != std::string::npos);
}

TEST_CASE("mixed fleet: split by rate all saturate at once, split equally the slowest first") {
  const MixedFleet plan = served(30.0);
  REQUIRE(plan.pools.size() == 2);
  const double fast = plan.pools[0].saturation.mid.raw();
  const double slow = plan.pools[1].saturation.mid.raw();
  CHECK(plan.pools[0].replicas == 2);
  CHECK(plan.pools[1].replicas == 4);
  CHECK(plan.pools[1].weight == doctest::Approx((slow / 4.0) / (fast / 2.0)));
  const RoutedFleet& by_rate = plan.routings[0];
  const RoutedFleet& equal = plan.routings[1];
  CHECK(by_rate.most.raw() == doctest::Approx(fast + slow));
  CHECK(by_rate.pools[0].share == doctest::Approx(fast / (fast + slow)));
  CHECK(by_rate.pools[0].load == doctest::Approx(by_rate.pools[1].load));
  CHECK(equal.pools[0].share == doctest::Approx(2.0 / 6.0));
  CHECK(equal.most.raw() == doctest::Approx(std::min(fast / 2.0, slow / 4.0) * 6.0));
  CHECK(equal.first_to_fill == 1);
  CHECK(equal.loss == doctest::Approx(1.0 - equal.most.raw() / (fast + slow)));
}

TEST_CASE("mixed fleet: a pool under its share is that pool by itself, and the tail of all lies between the pools'") {
  const MixedFleet plan = served(30.0, "[slo]\ntpot_p95 = \"10 ms\"\n");
  for (const RoutedFleet& fleet : plan.routings) {
    for (std::size_t i = 0; i < 2; ++i) {
      const Scenario& alone = plan.question.pools[i].alone;
      const ServingSimulation own =
          simulate_serving(std::get<ServeScenario>(alone.question), alone.money, fleet.pools[i].share);
      CHECK(own.tpot.mid.p95 == fleet.pools[i].tpot.mid.p95);
      CHECK(own.offered == fleet.pools[i].offered);
    }
    CHECK(fleet.tpot.p95 > fleet.pools[0].tpot.mid.p95);
    CHECK(fleet.tpot.p95 <= fleet.pools[1].tpot.mid.max);
    CHECK(fleet.tpot.mean.raw() == doctest::Approx(fleet.pools[0].share * fleet.pools[0].tpot.mid.mean.raw() +
                                                   fleet.pools[1].share * fleet.pools[1].tpot.mid.mean.raw())
                                       .epsilon(0.02));
    // An L40S reads 8 GB of weights at 864 GB/s, 9.3 ms a token at the least, so that the slower pool misses 10 ms.
    CHECK(fleet.pools[0].keeps);
    CHECK_FALSE(fleet.pools[1].keeps);
    CHECK_FALSE(fleet.good());
  }
}

TEST_CASE("mixed fleet: beyond what the equal split answers the slow pool is overloaded, by rate it is not") {
  const MixedFleet plan = served(0.9 * served(30.0).routings[0].most.raw());
  CHECK_FALSE(plan.routings[0].overloaded);
  CHECK(plan.routings[1].overloaded);
  CHECK(plan.routings[1].pools[1].overloaded);
  CHECK(plan.asked().good());
}
