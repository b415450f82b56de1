// SPDX-License-Identifier: Apache-2.0
// A cluster that states what share of its network training reaches: in the step, its interval and its notes.
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/training/own_numbers.hpp>

#include <doctest/doctest.h>

#include "../support/scratch_folder.hpp"
#include "../support/sources.hpp"
#include "run_rows.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::ScratchFolder;

namespace {

/// Sources with a cluster "mine" of DGX H100, with this line in its file.
Sources with_cluster(const std::string& line) {
  const ScratchFolder folder;
  folder.write("clusters/mine.toml",
               "schema = 1\nid = \"mine\"\nname = \"t\"\naliases = []\nnode = \"dgx-h100\"\n"
               "nodes = { value = 1024, source = \"T\" }\nrail_optimised = false\ntransport = \"infiniband\"\n" +
                   line +
                   "[sources]\nT = \"made for a test\"\n"
                   "[[tier]]\nname = \"leaf\"\nnodes = 1024\noversubscription = 1.0\n");
  Sources own = Sources::of({folder.path().string()});
  static_cast<void>(own.catalog.cluster("mine"));  // read while the folder is there
  return own;
}

Plan plan_of(const Sources& from, std::optional<OwnRuns> own = std::nullopt) {
  const std::vector<std::string> keys{"kind=train",
                                      "model=llama3-8b",
                                      "hardware.gpu=h100-sxm-80gb",
                                      "hardware.gpus=512",
                                      "hardware.cluster=mine",
                                      "training.seq_len=8192",
                                      "training.global_batch=256",
                                      "training.precision=bf16",
                                      "training.software=megatron-core",
                                      "strategy.tp=2",
                                      "strategy.micro_batch=1",
                                      "strategy.recompute=none"};
  return make_plan(scenario_from_overrides(keys, from), false, PlanPart::all, {}, std::move(own));
}

Seconds time_of(const Plan& plan, Term term) {
  return std::get<TrainPlan>(plan.answer).estimate.time[term];
}

}  // namespace

TEST_CASE("a cluster that states its network's reach has it in place of the fitted share") {
  const Sources blank = with_cluster("");
  const Plan fitted = plan_of(blank);
  const StepStack& stack = memory_stacks(blank.data).find("megatron-core").time.plain;
  const double share = step_parameters(blank.data).physics.nic * stack.nic;
  const auto stated = [](double reach) {
    return with_cluster("nic_reach = { value = " + std::to_string(reach) + ", source = \"T\" }\n");
  };
  const Sources same = stated(share);
  const Plan alike = plan_of(same);
  CHECK(std::get<TrainPlan>(alike.answer).step.mid.raw() ==
        doctest::Approx(std::get<TrainPlan>(fitted.answer).step.mid.raw()).epsilon(1e-5));
  CHECK(alike.confidence->width <= fitted.confidence->width);
  const Sources half = stated(0.5 * share);
  const Plan slow = plan_of(half);
  CHECK(time_of(slow, Term::dp_comm) > time_of(fitted, Term::dp_comm));
  CHECK(time_of(slow, Term::gemm) == time_of(fitted, Term::gemm));
  const auto says = [](const Plan& plan) {
    return std::any_of(plan.notes.begin(), plan.notes.end(), [](const std::string& note) {
      return note.find("of the network's curve, as mine states (made for a test)") != std::string::npos;
    });
  };
  CHECK(says(slow));
  CHECK_FALSE(says(fitted));
}

TEST_CASE("own runs do not move what the cluster states") {
  const Sources from = with_cluster("nic_reach = { value = 0.9, source = \"T\" }\n");
  const Plan plan = plan_of(from);
  const std::vector<RunFile> files{test::run_file(test::run_row({.gpus = "512", .dp = "256", .global_batch = "256"}))};
  Diagnostics diagnostics;
  const OwnRuns own = learn_from_runs(files, std::get<TrainScenario>(plan.scenario.question), from, diagnostics);
  diagnostics.throw_if_any();
  REQUIRE(own.own);
  CHECK(own.own->numbers.parameters.physics.nic == 0.9);
  CHECK(own.own->numbers.time.plain.nic == 1.0);
  CHECK(plan_of(from, own).own_effect->weight > 0.0);
}

TEST_CASE("a reach that no network has is refused with its place") {
  CHECK_THROWS_WITH(with_cluster("nic_reach = { value = 3.0, source = \"T\" }\n"),
                    doctest::Contains("'value' is 3; it must be 0.05 to 1.5"));
}
