// SPDX-License-Identifier: Apache-2.0
// Layers of the end stages that balance a pipeline: against every other split, and as the software takes them.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/train/evaluate/stage_balance.hpp>
#include <headroom/model/train/step/step_time.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include "stated_step.hpp"
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

using namespace headroom;
using headroom::test::catalog;

namespace {

/// The shortest slowest stage of any split into whole layers with stages alike between the ends, none of them empty.
std::optional<double> least_slowest(int layers, int stages, double beside) {
  std::optional<double> least;
  for (int first = 1; first < layers; ++first) {
    for (int last = 1; first + last <= layers; ++last) {
      const int between = layers - first - last;
      const bool alike = stages > 2 ? between >= stages - 2 && between % (stages - 2) == 0 : between == 0;
      if (alike) {
        const double each = stages > 2 ? between / (stages - 2) : 0.0;
        const double slowest = std::max({each, double(first), last + beside});
        least = std::min(least.value_or(slowest), slowest);
      }
    }
  }
  return least;
}

struct Job {
  std::string software = "megatron-core-te";
  int layers = 61;
  bool balances = true;
};

CompiledTraining compiled(const Job& job) {
  Architecture arch;
  arch.id = "wide head";
  arch.layers = static_cast<std::uint16_t>(job.layers);
  arch.hidden = 2048;
  arch.heads = arch.kv_heads = 16;
  arch.head_dim = 128;
  arch.ffn_hidden = 8192;
  arch.vocab = 128000;
  TrainingWorkload work;
  work.shape = {64, 4096, 256};
  work.states = adam_states(work.precision);
  work.balances_stages = job.balances;
  const MemoryStacks& stacks = memory_stacks(test::model_data());
  const MemoryStack software = test::stated_software(stacks.find(job.software), test::stated_stack());
  const Device& device = catalog().device("h100-sxm-80gb");
  const auto groups = std::make_shared<const JobGroups>(test::model_data(), device,
                                                        JobHosts{catalog().node("dgx-h100"), 0, {}, {}}, 64);
  return compile(arch, device, groups, software, work, test::stated_parameters());
}

Strategy pipeline(int pp, int vpp = 1) {
  Strategy s;
  s.pp = static_cast<std::uint16_t>(pp);
  s.vpp = static_cast<std::uint16_t>(vpp);
  s.dp = static_cast<std::uint32_t>(64 / pp);
  s.zero = 1;
  return s;
}

/// The likeliest other split; the strategy itself where there is none.
Strategy balanced(const CompiledTraining& c, const Strategy& s) {
  const OpenSplits open = open_splits(c, tabulate(c, key_of(s)), s);
  return open.count > 0 ? open.strategies[0] : s;
}

}  // namespace

TEST_CASE("splits of a pipeline: none into whole layers has a shorter slowest stage than the first") {
  for (int layers = 2; layers <= 100; ++layers) {
    for (const int stages : {2, 3, 4, 6, 8, 16}) {
      for (const double beside : {0.0, 0.4, 1.2, 2.3, 5.0}) {
        CAPTURE(layers);
        CAPTURE(stages);
        CAPTURE(beside);
        const EndSplits splits = short_splits(layers, stages, beside, 1e9);
        const auto least = least_slowest(layers, stages, beside);
        REQUIRE((splits.count > 0) == least.has_value());
        for (std::size_t i = 0; i < splits.count; ++i) {
          const EndStages& ends = splits.ends[i];
          const auto between = layers - ends.first - ends.last;
          REQUIRE(std::min(ends.first, ends.last) >= 1);
          REQUIRE((stages > 2 ? between % (stages - 2) : between) == 0);
          const double each = stages > 2 ? static_cast<double>(between) / (stages - 2) : 0.0;
          const double slowest =
              std::max({each, static_cast<double>(ends.first), static_cast<double>(ends.last) + beside});
          CHECK(slowest == splits.slowest[i]);
          CHECK(slowest >= (i > 0 ? splits.slowest[i - 1] : *least));
        }
        if (least) {
          CHECK(splits.slowest[0] == *least);
          CHECK(short_splits(layers, stages, beside, *least).count == 0);
        }
      }
    }
  }
}

TEST_CASE("DeepSeek-V3's 61 layers beside a head and a module as long as 2.3 layers") {
  const auto of = [](int stages) {
    const EndStages ends = short_splits(61, stages, 2.3, 61.0).ends[0];
    return std::vector<std::int64_t>{ends.first, ends.last};
  };
  CHECK(of(4) == std::vector<std::int64_t>{16, 13});
  CHECK(of(8) == std::vector<std::int64_t>{8, 5});
  CHECK(of(16) == std::vector<std::int64_t>{4, 1});
}

TEST_CASE("stages that nobody states are balanced where the software takes any number of layers for them") {
  const CompiledTraining c = compiled({});
  const Strategy s = pipeline(8);
  const Strategy even = with_open_stages(s);
  const Strategy own = balanced(c, s);
  REQUIRE(own.stages_open);
  CHECK(own.last_stage_layers < own.first_stage_layers);
  CHECK(with_open_stages(own) == even);
  // As a whole: the step is shorter, its slowest stage too, and the same work is done.
  const LayerTable table = tabulate(c, key_of(s));
  const StepTime before = c.step->time(table.step, s, 256.0);
  const StepTime after = c.step->time(table.step, own, 256.0);
  CHECK(after.slowest < 0.95 * before.slowest);
  CHECK(after.stages.raw() == test::near(before.stages.raw()));
  CHECK(after.time.total() < before.time.total());
  CHECK(check(c.architecture, c.work.shape, own).verdict == Verdict::feasible);
  // What is stated stays, and so do stages of schedules that want equal ones, of interleaved layers that divide, and of
  // software or jobs that take the software's own.
  Strategy stated = s;
  stated.last_stage_layers = 5;
  CHECK(balanced(c, stated) == stated);
  Strategy zero_bubble = s;
  zero_bubble.schedule = Schedule::zb_h1;
  CHECK(balanced(c, zero_bubble) == zero_bubble);
  CHECK(balanced(compiled({"megatron-core-te", 64}), pipeline(8, 4)) == pipeline(8, 4));
  CHECK(balanced(compiled({"megatron-core-te", 61}), pipeline(8, 4)).stages_open);
  CHECK(balanced(compiled({"torchtitan", 61}), s) == s);
  CHECK(balanced(compiled({"megatron-core-te", 61, false}), s) == s);
  CHECK(balanced(c, pipeline(1)) == pipeline(1));
}

TEST_CASE("balanced stages that do not fit give way to the software's own") {
  const CompiledTraining c = compiled({});
  const LayerTable table = tabulate(c, key_of(pipeline(8)));
  const auto settled = [&](Bytes room) { return shortest(c, table, pipeline(8), room); };
  const StageSplit fastest = settled(Bytes{1e15});
  CHECK(fastest.strategy.stages_open);
  // Without room for it another one that fits, and without room for any the software's own.
  const Bytes less = Bytes{fastest.estimate.device.high.raw() - 1.0};
  const StageSplit other = settled(less);
  CHECK(other.estimate.device.high <= less);
  CHECK(other.estimate.step >= fastest.estimate.step);
  const StageSplit none = settled(Bytes{1.0});
  CHECK(none.strategy == pipeline(8));
  CHECK(none.estimate.device.high == evaluate_memory(c, table, none.strategy).device.high);
}

TEST_CASE(
    "of the splits of a pipeline the one with the shortest whole step is taken, however much its slowest stage gains") {
  std::size_t even = 0, uneven = 0, later = 0;
  for (int layers = 24; layers <= 96; ++layers) {
    const CompiledTraining c = compiled({"megatron-core-te", layers});
    for (const int pp : {2, 4, 8, 16}) {
      Strategy s = pipeline(pp);
      for (const std::uint8_t zero : {std::uint8_t{1}, std::uint8_t{2}}) {
        s.zero = zero;
        const LayerTable table = tabulate(c, key_of(s));
        const OpenSplits open = open_splits(c, table, s);
        if (open.count == 0) {
          continue;
        }
        const StageSplit taken = shortest(c, table, s, any_room);
        const Seconds own = evaluate(c, table, s).step;
        Seconds least = own;
        for (std::size_t i = 0; i < open.count; ++i) {
          least = std::min(least, evaluate(c, table, open.strategies[i]).step);
        }
        CHECK(taken.estimate.step == least);
        CHECK(evaluate(c, table, taken.strategy).step == least);
        CHECK(taken.strategy.stages_open == (least < own));
        later += least < own && !(taken.strategy == open.strategies[0]) ? 1 : 0;
        ++(least < own ? uneven : even);
      }
    }
  }
  // All of it happens, or nothing was shown.
  CHECK(uneven > 20);
  CHECK(even > 0);
  CHECK(later > 0);
}

TEST_CASE("strategies that share their splits are each settled as alone, in whatever room and order") {
  const CompiledTraining c = compiled({});
  for (const int pp : {2, 4, 8, 16}) {
    const LayerTable table = tabulate(c, key_of(pipeline(pp)));
    SharedSplits shared;
    shared.begin(c, table, pipeline(pp));
    REQUIRE_FALSE(shared.broken());
    std::size_t none = 0, own = 0, open = 0;
    for (const double share : {2.0, 0.99, 0.9, 0.5, 1.01}) {
      for (const std::uint8_t zero : {std::uint8_t{0}, std::uint8_t{2}, std::uint8_t{1}}) {
        for (const std::uint16_t shards : {std::uint16_t{0}, std::uint16_t{2}}) {
          Strategy s = pipeline(pp);
          s.zero = zero;
          s.shard_ranks = zero > 0 ? shards : std::uint16_t{0};
          const LayerTable grouped = tabulate(c, key_of(s));
          const Bytes room = share * evaluate_memory(c, grouped, s).device.high;
          // The definition: of all splits that fit the one of the shortest step, the first of equals.
          std::vector<Strategy> all{s};
          const OpenSplits others = open_splits(c, grouped, s);
          all.insert(all.end(), others.strategies.begin(), others.strategies.begin() + others.count);
          std::optional<StageSplit> best;
          for (const Strategy& split : all) {
            const Estimate e = evaluate(c, grouped, split);
            if (e.micro_batches > 0 && e.device.high <= room && (!best || e.step < best->estimate.step)) {
              best = StageSplit{split, e};
            }
          }
          REQUIRE(shared.fits(s, room, room) == best.has_value());
          if (!best) {
            ++none;
            continue;
          }
          const StageSplit taken = shared.shortest(grouped, room, traffic_of(c, grouped, s));
          CHECK(taken.strategy == best->strategy);
          CHECK(taken.estimate.step == best->estimate.step);
          CHECK(taken.estimate.device.high == best->estimate.device.high);
          CHECK(taken.estimate.time.exposed == best->estimate.time.exposed);
          ++(taken.strategy.stages_open ? open : own);
        }
      }
    }
    CHECK(none > 0);
    CHECK(own + open > 0);
  }
}
