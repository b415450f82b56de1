// SPDX-License-Identifier: Apache-2.0
// What a tenth more of each part of the hardware buys: every number is the plan of a device that has it.
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::sources;

namespace {

Plan plan(std::vector<std::string> overrides) {
  overrides.insert(overrides.begin(), {"kind=train", "training.precision=bf16"});
  return make_plan(scenario_from_overrides(overrides, sources()), false);
}

Plan llama(std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"model=llama3-70b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=512", "strategy.tp=8",
                             "strategy.pp=4", "training.seq_len=8192", "training.global_batch=1024"});
  return plan(std::move(more));
}

/// 7B on few GPUs: ZeRO 3, memory is short.
Plan tight(std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"model=llama2-7b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=2", "strategy.zero=3",
                             "training.seq_len=4096", "training.global_batch=64"});
  return plan(std::move(more));
}

std::vector<Sensitivity> sensitivities(const Plan& p) {
  const auto& answer = std::get<TrainPlan>(p.answer);
  return sensitivities_of(std::get<TrainScenario>(p.scenario.question), answer.strategy, answer.estimate.step);
}

const Sensitivity* find(const std::vector<Sensitivity>& all, Resource resource) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Sensitivity& s) { return s.resource == resource; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("each sensitivity is the plan on a device that has a tenth more") {
  const Plan now = llama();
  const std::vector<Sensitivity> all = sensitivities(now);
  REQUIRE(all.size() == resource_count);
  const Seconds step = std::get<TrainPlan>(now.answer).estimate.step;
  for (const Sensitivity& s : all) {
    CAPTURE(resource_names[static_cast<std::size_t>(s.resource)]);
    Scenario with = now.scenario;
    auto& train = std::get<TrainScenario>(with.question);
    train = with_more(train, s.resource, 1.1);
    CHECK(s.step == std::get<TrainPlan>(price_plan(with).answer).estimate.step);
    CHECK(s.faster == doctest::Approx(step / s.step - 1.0));
  }
}

TEST_CASE("a tenth more of one thing buys no more than a tenth, and every part of a step is bought by something") {
  double sum = 0.0;
  for (const Sensitivity& s : sensitivities(llama({"strategy.micro_batch=1", "strategy.recompute=none"}))) {
    CAPTURE(resource_names[static_cast<std::size_t>(s.resource)]);
    CHECK(s.faster >= 0.0);
    CHECK(s.faster < 0.1);
    CHECK((s.faster > 0.0) == (s.resource != Resource::memory_capacity));
    sum += s.faster;
  }
  CHECK(sum > 0.07);
  CHECK(sum < 0.1);
}

TEST_CASE("what is scaled is what its name says") {
  const TrainScenario t = std::get<TrainScenario>(llama().scenario.question);
  CHECK(with_more(t, Resource::matrix_rate, 2.0).device.peak_of(Rate::bf16) == 2.0 * t.device.peak_of(Rate::bf16));
  CHECK(with_more(t, Resource::memory_bandwidth, 2.0).device.bandwidth() == 2.0 * t.device.bandwidth());
  CHECK(with_more(t, Resource::memory_capacity, 2.0).device.visible_capacity().value ==
        2.0 * t.device.visible_capacity().value);
  CHECK(*with_more(t, Resource::scale_out, 2.0).host->scale_out_per_gpu() == 2.0 * *t.host->scale_out_per_gpu());
  CHECK(with_more(t, Resource::scale_up, 2.0).device.scale_up.per_gpu->value == 2.0 * t.device.scale_up.per_gpu->value);
}

TEST_CASE("links that the job does not use are left out") {
  const std::vector<Sensitivity> box = sensitivities(llama({"hardware.gpus=8", "strategy.pp=1"}));
  CHECK(find(box, Resource::scale_up) != nullptr);
  CHECK(find(box, Resource::scale_out) == nullptr);
  const std::vector<Sensitivity> one = sensitivities(tight({"hardware.gpus=1"}));
  CHECK(find(one, Resource::scale_up) == nullptr);
  const std::vector<Sensitivity> pcie = sensitivities(tight({"hardware.gpu=l40s", "hardware.gpus=8"}));
  CHECK(find(pcie, Resource::scale_up) == nullptr);
}

TEST_CASE("more memory closes open axes anew: recomputation is dropped") {
  const Plan now = tight();
  const auto& answer = std::get<TrainPlan>(now.answer);
  REQUIRE(answer.strategy.recompute == Recompute::selective);
  const std::vector<Sensitivity> all = sensitivities(now);
  const Sensitivity* more = find(all, Resource::memory_capacity);
  REQUIRE(more != nullptr);
  CHECK(more->strategy.recompute == Recompute::none);
  CHECK(more->faster > 0.05);
}

TEST_CASE("a stated recomputation is opened for more memory, and what it gains today is no merit of the memory") {
  // Selective as stated, where none fits with more memory alone: the same gain as where it was open.
  const std::vector<Sensitivity> open = sensitivities(tight());
  const std::vector<Sensitivity> stated =
      sensitivities(tight({"strategy.recompute=selective", "strategy.micro_batch=1"}));
  CHECK(find(stated, Resource::memory_capacity)->strategy.recompute == Recompute::none);
  CHECK(find(stated, Resource::memory_capacity)->faster ==
        doctest::Approx(find(open, Resource::memory_capacity)->faster));
  CHECK_FALSE(find(stated, Resource::memory_capacity)->today);
  // Full as stated where none fits already: nothing is the memory's, and the step is the plan's.
  const Plan now = tight({"hardware.gpus=8", "strategy.recompute=full", "strategy.micro_batch=1"});
  const std::vector<Sensitivity> all = sensitivities(now);
  const Sensitivity& roomy = *find(all, Resource::memory_capacity);
  const Seconds step = std::get<TrainPlan>(now.answer).estimate.step;
  CHECK(roomy.faster == 0.0);
  CHECK(roomy.step == step);
  CHECK(roomy.strategy.recompute == Recompute::full);
  const Plan none = tight({"hardware.gpus=8", "strategy.recompute=none", "strategy.micro_batch=1"});
  REQUIRE(roomy.today);
  CHECK(roomy.today->strategy == std::get<TrainPlan>(none.answer).strategy);
  CHECK(roomy.today->step == std::get<TrainPlan>(none.answer).estimate.step);
  CHECK(roomy.today->faster == doctest::Approx(step / roomy.today->step - 1.0));
  CHECK(roomy.today->faster > 0.05);
}

TEST_CASE("full recomputation as stated: what fits today stands apart from what more memory allows") {
  // Selective fits today, none with a tenth more.
  const Plan now = tight({"strategy.recompute=full", "strategy.micro_batch=1"});
  const std::vector<Sensitivity> all = sensitivities(now);
  const Sensitivity& more = *find(all, Resource::memory_capacity);
  CHECK(more.strategy.recompute == Recompute::none);
  REQUIRE(more.today);
  CHECK(more.today->strategy.recompute == Recompute::selective);
  CHECK(more.faster > more.today->faster);
}

TEST_CASE("every gain is the plan's step over the step beside it") {
  for (const char* recompute : {"none", "selective", "full"}) {
    for (const char* gpus : {"2", "8"}) {
      CAPTURE(recompute);
      CAPTURE(gpus);
      const Plan now = tight({std::string{"strategy.recompute="} + recompute, std::string{"hardware.gpus="} + gpus});
      const Seconds step = std::get<TrainPlan>(now.answer).estimate.step;
      for (const Sensitivity& s : sensitivities(now)) {
        CHECK(s.faster == step / s.step - 1.0);
      }
    }
  }
}

TEST_CASE("without a priced step there is nothing to be sensitive") {
  const Plan refused = llama({"strategy.tp=6"});
  CHECK(sensitivities(refused).empty());
}
