// SPDX-License-Identifier: Apache-2.0
// The order of ranks as a key, and what a plan says of it.
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace headroom;

namespace {

Plan plan(std::vector<std::string> more) {
  static const Sources sources = Sources::standard();
  std::vector<std::string> overrides{"kind=train",
                                     "model=llama3-8b",
                                     "hardware.gpu=h100-sxm-80gb",
                                     "hardware.gpus=32",
                                     "training.seq_len=8192",
                                     "training.global_batch=128",
                                     "training.precision=bf16",
                                     "strategy.micro_batch=1",
                                     "strategy.recompute=none"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return make_plan(scenario_from_overrides(overrides, sources), false, PlanPart::all);
}

const TrainPlan& train(const Plan& p) {
  return std::get<TrainPlan>(p.answer);
}

bool says(const Plan& p, std::string_view words) {
  return std::any_of(p.notes.begin(), p.notes.end(),
                     [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("tensor ranks that leave the host are flagged: too many of them, or too far apart") {
  CHECK(says(plan({"strategy.tp=16"}), "tp 16 leaves the scale-up domain of 8 GPUs"));
  CHECK_FALSE(says(plan({"strategy.tp=8"}), "leaves the scale-up domain"));
  CHECK_FALSE(says(plan({"strategy.tp=8", "strategy.pp=4"}), "leaves the scale-up domain"));
  CHECK(says(plan({"strategy.tp=8", "strategy.pp=4", "strategy.order=pp-tp-cp-dp"}),
             "tp 8, 4 GPUs apart in the order pp-tp-cp-dp, leaves the scale-up domain of 8 GPUs"));
  CHECK_FALSE(says(plan({"strategy.tp=2", "strategy.pp=4", "strategy.order=pp-tp-cp-dp"}), "leaves the scale-up"));
}

TEST_CASE("the order is a key with or without the place of ep, and decides the step") {
  const std::vector<std::string> axes{"strategy.tp=2", "strategy.pp=4"};
  const auto with = [&](const char* order) { return plan({axes[0], axes[1], std::string{"strategy.order="} + order}); };
  CHECK(train(with("tp-cp-dp-pp")).estimate.step == train(plan(axes)).estimate.step);
  CHECK(train(with("tp-cp-ep-dp-pp")).estimate.step == train(plan(axes)).estimate.step);
  const Plan staged = with("tp-cp-ep-pp-dp");
  CHECK(train(staged).strategy.order == RankOrder::tp_cp_pp_dp);
  CHECK(train(staged).estimate.step != train(plan(axes)).estimate.step);
}

TEST_CASE("experts that an order would split over stages are an impossible plan with a way out") {
  const Plan p = plan({"model=mixtral-8x7b", "strategy.tp=2", "strategy.pp=2", "strategy.ep=8", "strategy.etp=1",
                       "strategy.order=tp-cp-pp-dp"});
  REQUIRE(train(p).problems.size() == 1);
  const Problem& problem = train(p).problems.front();
  CHECK(problem.verdict == Verdict::experts_straddle_stages);
  CHECK(problem.text.find("8 ranks of the experts inside the stages and 2 of the dense layers") != std::string::npos);
  CHECK(problem.way_out.find("\"tp-cp-dp-pp\"") != std::string::npos);
}
