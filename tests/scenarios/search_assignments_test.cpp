// SPDX-License-Identifier: Apache-2.0
// The keys that a search prints for a strategy make a scenario of that very strategy.
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

#include <doctest/doctest.h>

#include <random>

using namespace headroom;

namespace {

using Texts = std::vector<std::string>;

/// Every axis with every value somewhere; the software decides what blanks mean.
Texts wide(const std::string& software) {
  return {"schema=1",
          "kind=\"train\"",
          "model=mixtral-8x7b",
          "hardware.gpu=h100-sxm-80gb",
          "hardware.gpus=64",
          "training.seq_len=8192",
          "training.global_batch=256",
          "training.precision=bf16",
          "training.software=" + software,
          "search.order=[\"tp-cp-dp-pp\", \"tp-cp-pp-dp\", \"cp-tp-dp-pp\", \"dp-cp-tp-pp\"]",
          "search.tp=any",
          "search.cp=any",
          "search.ep=any",
          "search.pp=any",
          "search.micro_batch=any",
          "search.recompute=any",
          "search.recompute_block=any",
          "search.cp_form=any",
          "search.overlap_experts=any",
          "search.cuda_graphs=any",
          "search.shard_ranks=[0, 2, 4, 8]",
          "search.schedule=[\"1f1b\", \"gpipe\", \"zb-h1\", \"zb-h2\", \"zb-v\", \"dualpipe\"]",
          "search.vpp=any",
          "search.zero=[0, 1, 2, 3]"};
}

}  // namespace

TEST_CASE("the keys of a strategy make the scenario whose strategy it is") {
  const Sources sources = Sources::standard();
  std::mt19937_64 random{3};
  const auto one = [&](const auto& of) { return of[random() % of.size()]; };
  for (const std::string software : {"megatron-core-te", "torchtitan", "deepspeed", "megatron-deepspeed-zero3"}) {
    for (const std::string more :
         {"search.etp=any", "strategy.sequence_parallel=true", "search.sequence_parallel=any"}) {
      Texts keys = wide(software);
      keys.emplace_back(more);
      const SearchQuestion question = read_search(scenario_tree(keys), "test", sources);
      const MadeJob made = make_job(question, 0);
      REQUIRE(made.job);
      const StrategySpace& space = *made.job->space;
      for (int i = 0; i < 100; ++i) {
        const LayerRanks& layout = one(space.layouts());
        const std::vector<Stages> all = space.stages(layout);
        if (all.empty()) {
          continue;
        }
        const Stages& stages = one(all);
        const Strategy s = space.strategy(layout, stages, one(stages.micro_batches), one(stages.forms),
                                          one(stages.shard_ranks), one(stages.schedules), one(stages.zeros));
        if (check(made.job->compiled.architecture, made.job->train().work.shape, s).verdict != Verdict::feasible) {
          continue;
        }
        const Changes changes = changes_to(s);
        ConfigValue root = *made.job->scenario.document;
        Diagnostics diagnostics;
        std::string what;
        for (const Change& change : changes) {
          apply_override(root, text_of(change), diagnostics);
          what += text_of(change) + ", ";
        }
        REQUIRE(diagnostics.empty());
        CAPTURE(software);
        CAPTURE(more);
        CAPTURE(what);
        const auto strategy_in = [](const Scenario& scenario) {
          return std::get<TrainScenario>(scenario.question).strategy;
        };
        CHECK(strategy_in(changed(made.job->scenario, changes)) == s);
        CHECK(strategy_in(read_scenario(root, "test", sources)) == s);
        const std::optional<TrainScenario> resolved = resolved_with(made.job->train(), changes);
        REQUIRE(resolved);
        CHECK(resolved->strategy == s);
      }
    }
  }
}
