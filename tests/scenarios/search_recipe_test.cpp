// SPDX-License-Identifier: Apache-2.0
// What strategy = "any" opens beside the axes: dispatchers of experts, parts of selective recomputation, end stages.
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace headroom;
using headroom::test::near;
using headroom::test::sources;

namespace {

using Texts = std::vector<std::string>;

/// Latent attention and experts over two hosts.
Texts keys(Texts more) {
  Texts all{"schema=1",
            "kind=\"train\"",
            "model=deepseek-v2-lite",
            "hardware.gpu=h100-sxm-80gb",
            "hardware.gpus=16",
            "training.precision=bf16",
            "training.seq_len=4096",
            "training.global_batch=256",
            "training.software=megatron-core-te",
            "search.strategy=any"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

SearchPlan search(Texts more) {
  const SearchQuestion question = read_search(scenario_tree(keys(std::move(more))), "test", sources());
  SearchOptions options;
  options.threads = 2;
  return explain_search(question, run_search(question, options));
}

const Change* change_of(const Changes& changes, Knob knob) {
  const auto found = std::find_if(changes.begin(), changes.end(), [&](const Change& c) { return c.knob == knob; });
  return found == changes.end() ? nullptr : &*found;
}

const Strategy& taken_of(const SearchPlan& plan) {
  REQUIRE(plan.plan);
  return plan.recommended.candidate.strategy;
}

std::vector<RecomputeParts> sets_of(Texts more) {
  const SearchQuestion question = read_search(scenario_tree(keys(std::move(more))), "test", sources());
  const MadeJob made = make_job(question, 0);
  REQUIRE(made.job);
  std::vector<RecomputeParts> sets;
  for (const Stages& stages : made.job->space->stages(made.job->space->layouts().front())) {
    for (const LayerSettings& form : stages.forms) {
      CHECK(form.parts.any() == (form.recompute == Recompute::selective));
      if (form.parts.any() && std::find(sets.begin(), sets.end(), form.parts) == sets.end()) {
        sets.push_back(form.parts);
      }
    }
  }
  return sets;
}

RecomputeParts parts(std::initializer_list<RecomputePart> of) {
  RecomputeParts set;
  for (const RecomputePart part : of) {
    set.add(part);
  }
  return set;
}

}  // namespace

TEST_CASE("any: experts go by the fastest dispatcher that the software has, which the plan's keys say") {
  // Experts over both hosts: a copy for each expert of a token crosses the NICs, or one a host.
  const Texts spread{"strategy.ep=16", "strategy.tp=1", "strategy.pp=1", "strategy.cp=1"};
  const SearchPlan open = search(spread);
  REQUIRE(open.plan);
  const Change* dispatcher = change_of(open.recommended.changes, Knob::dispatcher);
  REQUIRE(dispatcher != nullptr);
  CHECK(std::get<std::int64_t>(dispatcher->value) == static_cast<std::int64_t>(ExpertDispatcher::hybridep));
  // The plan in full is the one that was searched.
  CHECK(std::get<TrainPlan>(open.plan->answer).estimate.step.raw() == near(open.recommended.candidate.step.raw()));
  const auto with = [&](const std::string& word) {
    Texts stated = spread;
    stated.push_back("training.dispatcher=" + word);
    const SearchPlan plan = search(stated);
    CHECK(change_of(plan.recommended.changes, Knob::dispatcher) == nullptr);
    return plan.recommended.candidate.step;
  };
  CHECK(with("hybridep") == open.recommended.candidate.step);
  CHECK(with("deepep") >= open.recommended.candidate.step);
  CHECK(with("alltoall") > open.recommended.candidate.step);
  // A device without those kernels has the collective.
  Texts old = spread;
  old.push_back("hardware.gpu=a100-sxm-80gb");
  CHECK(change_of(search(old).recommended.changes, Knob::dispatcher) == nullptr);
}

TEST_CASE("any: selective recomputation of experts by parts, as recipes of latent attention and experts have it") {
  using enum RecomputePart;
  const std::vector<RecomputeParts> both{parts({mla_up_proj}), parts({layernorm, mla_up_proj, moe_act})};
  CHECK(sets_of({}) == both);
  CHECK(sets_of({"model=mixtral-8x7b"}) == std::vector{parts({layernorm, moe_act})});
  CHECK(sets_of({"model=llama3-8b"}).empty());
  CHECK(sets_of({"training.software=deepspeed"}).empty());
  CHECK(sets_of({"strategy.recompute=none"}).empty());
}

TEST_CASE("any: what a search takes of parts is what its keys plan") {
  const Texts tight{"strategy.tp=1",
                    "strategy.pp=1",
                    "strategy.cp=1",
                    "strategy.ep=8",
                    "strategy.micro_batch=2",
                    "search.recompute=any",
                    "objective.minimize=memory"};
  const SearchPlan plan = search(tight);
  REQUIRE(plan.plan);
  for (const ListedPlan& listed : plan.front) {
    const Change* set = change_of(listed.changes, Knob::recompute_parts);
    if (set == nullptr) {
      continue;
    }
    const SearchQuestion question = read_search(scenario_tree(keys(tight)), "test", sources());
    const Scenario scenario = changed(make_job(question, 0).job->scenario, listed.changes);
    const Plan again = make_plan(scenario, false, PlanPart::all, {});
    const auto& answer = std::get<TrainPlan>(again.answer);
    CHECK(answer.estimate.step.raw() == near(listed.candidate.step.raw()));
    CHECK(answer.memory.high.raw() == near(listed.candidate.memory.raw()));
    return;
  }
  FAIL("no plan of the front recomputes parts");
}

TEST_CASE("any: experts are overlapped as Megatron-Core runs them, in every strategy and in those one step away") {
  const auto forms = [](const std::string& gpu, const std::string& model) {
    const SearchQuestion question =
        read_search(scenario_tree(keys({"hardware.gpu=" + gpu, "model=" + model})), "test", sources());
    const MadeJob made = make_job(question, 0);
    REQUIRE(made.job);
    const StrategySpace& space = *made.job->space;
    std::size_t overlapped = 0, beside_ranks = 0, laid_out = 0;
    for (const LayerRanks& layout : space.layouts()) {
      for (const Stages& stages : space.stages(layout)) {
        for (const LayerSettings& form : stages.forms) {
          for (const ScheduleForm& schedule : stages.schedules) {
            const Strategy s = space.strategy(layout, stages, 1, form, 0, schedule, 1);
            overlapped += s.overlap_experts ? 1 : 0;
            beside_ranks += s.overlap_experts && (s.tp > 1 || s.cp > 1) ? 1 : 0;
            laid_out += s.vpp > 1 && made.job->compiled.architecture.layers % (s.pp * s.vpp) != 0 ? 1 : 0;
            CHECK((!s.overlap_experts || runs_overlapped(made.job->train(), s)));
            CHECK((!s.overlap_experts || (s.recompute != Recompute::full && (s.pp == 1 || s.vpp > 1))));
          }
        }
      }
    }
    CHECK(overlapped > 0);
    return std::pair{beside_ranks, laid_out};
  };
  // One hardware queue or several: on Hopper either tensor and context ranks or overlapped experts.
  CHECK(forms("h100-sxm-80gb", "deepseek-v2-lite").first == 0);
  CHECK(forms("b200-sxm-180gb", "deepseek-v2-lite").first > 0);
  // 27 and 61 layers have no even chunks on two, four or eight stages: those of a layout.
  CHECK(forms("h100-sxm-80gb", "deepseek-v2-lite").second > 0);
  CHECK(forms("h100-sxm-80gb", "mixtral-8x7b").second == 0);
  const SearchPlan plan = search({"strategy.ep=16", "strategy.pp=1"});
  REQUIRE(taken_of(plan).overlap_experts);
  const auto beside = std::find_if(plan.neighbours.begin(), plan.neighbours.end(),
                                   [](const Neighbour& n) { return n.change.starts_with("tp = 2"); });
  REQUIRE(beside != plan.neighbours.end());
  CHECK(beside->verdict == "megatron-core-te does not overlap experts so");
}
