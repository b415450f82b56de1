// SPDX-License-Identifier: Apache-2.0
// What a search leaves out by a bound could not have won: bounds never exceed what they bound.
#include <headroom/model/train/evaluate/stage_balance.hpp>
#include <headroom/model/train/memory/memory_bound.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/step/step_time.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/training/train_answer.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <random>

using namespace headroom;
using headroom::test::sources;

namespace {

struct Job {
  std::string name;
  Scenario scenario;
  TrainQuestion question;
};

/// Models of every kind on software of every kind; whatever cannot be timed is left out.
std::vector<Job> jobs() {
  struct Place {
    const char* model;
    const char* gpu;
    const char* precision;
    int gpus, seq_len, batch;
  };
  const std::vector<Place> places{
      {"llama3-8b", "h100-sxm-80gb", "bf16", 64, 8192, 256},
      {"llama3-70b", "h100-sxm-80gb", "fp8", 256, 8192, 512},
      {"mixtral-8x7b", "a100-sxm-80gb", "bf16", 128, 4096, 512},
      {"gpt3-175b", "a100-sxm-80gb", "bf16", 512, 2048, 1536},
      {"deepseek-v3", "h100-sxm-80gb", "bf16", 1024, 4096, 4096},
      {"gemma2-9b", "h100-sxm-80gb", "bf16", 24, 8192, 96},
  };
  const MemoryStacks stacks = memory_stacks(test::model_data());
  std::vector<Job> made;
  for (const Place& p : places) {
    for (const MemoryStack& stack : stacks.all()) {
      for (const char* rest : {"", "training.offload=[\"optimizer\", \"activations\"]", "training.method=\"lora\""}) {
        std::vector<std::string> keys{"schema=1",
                                      "kind=\"train\"",
                                      std::string{"model="} + p.model,
                                      std::string{"hardware.gpu="} + p.gpu,
                                      "hardware.gpus=" + std::to_string(p.gpus),
                                      "training.seq_len=" + std::to_string(p.seq_len),
                                      "training.global_batch=" + std::to_string(p.batch),
                                      std::string{"training.precision="} + p.precision,
                                      "training.software=" + stack.id};
        if (*rest != '\0') {
          keys.emplace_back(rest);
        }
        Scenario scenario = scenario_from_overrides(keys, sources());
        TrainQuestion question = compile_question(std::get<TrainScenario>(scenario.question), PlanPart::all);
        made.push_back({keys[2] + " " + stack.id + " " + rest, std::move(scenario), std::move(question)});
      }
    }
  }
  return made;
}

class Draw {
 public:
  std::size_t below(std::size_t n) { return engine_() % n; }
  bool flip() { return below(2) == 0; }
  template <class T>
  T one(std::initializer_list<T> of) {
    return *(of.begin() + below(of.size()));
  }

 private:
  std::mt19937_64 engine_{20'261'122};
};

/// Any strategy of a job, legal or not.
Strategy any_strategy(Draw& draw, const TrainScenario& t) {
  Strategy s = t.strategy;
  s.tp = draw.one<std::uint16_t>({1, 1, 2, 4, 8});
  s.cp = draw.one<std::uint16_t>({1, 1, 1, 2, 4});
  s.pp = draw.one<std::uint16_t>({1, 1, 2, 3, 4, 6, 8, 16});
  s.dp = static_cast<std::uint32_t>(std::max<std::int64_t>(1, t.work.shape.gpus / (s.tp * s.cp * s.pp)));
  s.ep = t.architecture.moe ? draw.one<std::uint16_t>({1, 2, 4, 8, 16, 64}) : std::uint16_t{1};
  s.etp = t.architecture.moe ? draw.one<std::uint16_t>({1, 1, 2, s.tp}) : std::uint16_t{1};
  s.micro_batch = draw.one<std::uint16_t>({1, 1, 2, 3, 4, 8});
  s.sequence_parallel = s.tp > 1 && draw.flip();
  s.recompute = static_cast<Recompute>(draw.below(3));
  s.recompute_block = s.recompute == Recompute::full ? draw.one<std::uint8_t>({1, 1, 2, 4, 8}) : std::uint8_t{1};
  s.schedule = static_cast<Schedule>(draw.below(schedule_count));
  s.vpp = model_of(s.schedule).takes_chunks() && s.pp > 1 ? draw.one<std::uint16_t>({1, 1, 2, 4, 5}) : std::uint16_t{1};
  s.zero = static_cast<std::uint8_t>(draw.below(4));
  s.shard_ranks = draw.one<std::uint16_t>({0, 0, 2, 4, 8, 16});
  s.cp_form = static_cast<CpForm>(draw.below(4));
  s.overlap_experts = s.ep > 1 && draw.flip();
  s.cuda_graphs = draw.below(4) == 0;
  s.order = static_cast<RankOrder>(draw.below(3) == 0 ? draw.below(rank_order_names.size()) : 0);
  return s;
}

}  // namespace

TEST_CASE("no step is shorter and no device emptier than the bounds that leave strategies out") {
  const std::vector<Job> all = jobs();
  REQUIRE(all.size() > 100);
  Draw draw;
  std::size_t priced = 0;
  std::size_t balanced = 0;
  double tightest_time = 0.0, tightest_memory = 0.0;
  for (std::size_t tries = 0; priced < 100'000 && tries < 5'000'000; ++tries) {
    const Job& job = all[draw.below(all.size())];
    const CompiledTraining& c = job.question.compiled;
    const auto& train = std::get<TrainScenario>(job.scenario.question);
    Strategy s = any_strategy(draw, train);
    if (check(c.architecture, train.work.shape, s).verdict != Verdict::feasible) {
      continue;
    }
    ++priced;
    // The table as a search shares it: of no stages, shards and ZeRO stage yet.
    Strategy shared = s;
    shared.zero = 1;
    shared.shard_ranks = 0;
    const LayerTable table = tabulate(c, key_of(shared));
    const OpenSplits open = open_splits(c, table, s);
    if (open.count > 0 && draw.below(4) > 0) {
      s = open.strategies[draw.below(open.count)];
    }
    balanced += s.stages_open ? 1 : 0;
    const double m = static_cast<double>(train.work.shape.global_batch) / (static_cast<double>(s.dp) * s.micro_batch);
    const Seconds least = c.step->least_time(table.step, s.pp, m);
    const Bytes leanest = least_device(c.memory, table.memory, s, m);
    const Estimate e = evaluate(c, table_for(c, s), s);
    if (least > e.step || leanest > e.device.high) {
      FAIL_CHECK(
          job.name << ": least step " << least.raw() << " of " << e.step.raw() << ", least memory " << leanest.raw()
                   << " of " << e.device.high.raw() << ", tp " << s.tp << " pp " << s.pp << " vpp " << s.vpp << " cp "
                   << s.cp << " ep " << s.ep << " etp " << s.etp << " micro-batch " << s.micro_batch << " zero "
                   << int{s.zero} << " shard_ranks " << s.shard_ranks << " " << name_of(s.schedule) << " recompute "
                   << recompute_names[static_cast<std::size_t>(s.recompute)] << " block " << int{s.recompute_block}
                   << " overlap " << s.overlap_experts << " order " << name_of(s.order));
      return;
    }
    // What a search does with a shared table is what a plan does with its own.
    if (!pipeline_outermost(s.order) || s.first_stage_layers == 0 || s.stages_open) {
      LayerTable grouped = table;
      c.step->regroup(key_of(s), grouped.step);
      const Estimate again = evaluate(c, grouped, s);
      REQUIRE(again.step == e.step);
      REQUIRE(again.device.high == e.device.high);
    }
    tightest_time = std::max(tightest_time, least / e.step);
    tightest_memory = std::max(tightest_memory, leanest / e.device.high);
  }
  CHECK(priced == 100'000);
  CHECK(balanced > 1'000);
  // Bounds that bound nothing would hold as well.
  CHECK(tightest_time > 0.9);
  CHECK(tightest_memory > 0.9);
}
