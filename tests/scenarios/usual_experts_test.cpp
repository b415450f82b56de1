// SPDX-License-Identifier: Apache-2.0
// How layers of experts run where nobody states it: as the software's recipe for the job, else as most published runs
// on such GPUs, which the interval knows and the plan says.
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/strategy_space.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using headroom::test::sources;
using test::near;

namespace {

/// DeepSeek-V3 on 256 GB300, laid out as Megatron-Bridge publishes it.
Plan planned(const std::string& software, const std::vector<std::string>& more = {}) {
  std::vector<std::string> all{"kind=train",
                               "model=deepseek-v3",
                               "hardware.gpu=gb300-nvl72",
                               "hardware.gpus=256",
                               "training.seq_len=4096",
                               "training.global_batch=4096",
                               "training.precision=mxfp8",
                               "training.software=" + software,
                               "strategy.pp=2",
                               "strategy.vpp=8",
                               "strategy.ep=32",
                               "strategy.micro_batch=1",
                               "strategy.recompute=none"};
  all.insert(all.end(), more.begin(), more.end());
  return make_plan(scenario_from_overrides(all, sources()), false);
}

const TrainPlan& train(const Plan& plan) {
  return std::get<TrainPlan>(plan.answer);
}

bool notes(const Plan& plan, std::string_view begin, std::string_view end) {
  return std::any_of(plan.notes.begin(), plan.notes.end(),
                     [&](const std::string& note) { return note.starts_with(begin) && note.ends_with(end); });
}

const std::vector<std::string> stated{"training.expert_launch=partial-graphs", "training.dispatcher=hybridep"};

}  // namespace

TEST_CASE("experts: what nobody states is what most published runs do, priced alike and told wider than where stated") {
  for (const std::string software : {"any", "megatron-core-te", "megatron-bridge"}) {
    const Plan open = planned(software);
    const Plan told = planned(software, stated);
    CHECK(train(open).estimate.step == train(told).estimate.step);
    CHECK(notes(open, "training.expert_launch = partial-graphs, training.dispatcher = hybridep",
                "(what training software mostly runs on gb300-nvl72)"));
    CHECK_FALSE(notes(told, "training.expert_launch", ""));
    const PlanConfidence& wide = *open.confidence;
    const PlanConfidence& narrow = *told.confidence;
    // ln(1 + width) is a multiple of the deviation, and variances add.
    const StepPosterior& posterior = step_posterior(sources().data);
    BlankAxes axes{};
    axes[static_cast<std::size_t>(BlankAxis::experts)] = true;
    const double added = std::pow(posterior.quantiles_of(StepKind::experts).eighty, 2) * posterior.blank_variance(axes);
    CHECK(std::pow(std::log1p(wide.width), 2) == near(std::pow(std::log1p(narrow.width), 2) + added, 1e-9));
    CHECK(wide.width > 1.2 * narrow.width);
    CHECK(std::any_of(wide.narrowing.begin(), wide.narrowing.end(), [&](const NarrowingFact& fact) {
      return fact.what.starts_with("training.expert_launch") && fact.width == near(narrow.width, 1e-9);
    }));
  }
}

TEST_CASE("experts: eager layers and the collective, once stated, take longer on a rack than what is usual there") {
  const Plan eager = planned("megatron-core-te", {"training.expert_launch=eager", "training.dispatcher=alltoall"});
  CHECK(train(eager).estimate.step > 1.15 * train(planned("megatron-core-te")).estimate.step);
}

TEST_CASE("experts: a plan overlaps exchanges where the recipe for its job does, unless it says otherwise") {
  const Plan recipe = planned("megatron-bridge-2026");
  CHECK(train(recipe).strategy.overlap_experts);
  CHECK(notes(recipe, "strategy.overlap_experts = true (the recipe of megatron-bridge-2026", "for this job)"));
  CHECK(notes(recipe, "training.expert_launch = full-graphs", "(the recipe of megatron-bridge-2026 for this job)"));
  const Plan without = planned("megatron-bridge-2026", {"strategy.overlap_experts=false"});
  CHECK_FALSE(train(without).strategy.overlap_experts);
  CHECK(train(without).estimate.step > 1.1 * train(recipe).estimate.step);
  // Stages without chunks and inputs that are not kept run no other micro-batch beside an exchange.
  CHECK_FALSE(train(planned("megatron-bridge-2026", {"strategy.vpp=1"})).strategy.overlap_experts);
  CHECK_FALSE(train(planned("megatron-bridge-2026", {"strategy.recompute=full"})).strategy.overlap_experts);
}
