// SPDX-License-Identifier: Apache-2.0
// What must hold of any strategy: memory is never below its states, and more work never takes less.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/train/memory/held_stages.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "../support/model_data.hpp"
#include <algorithm>

using namespace headroom;

namespace {

/// One question of the generator: a small network, a software, a strategy.
struct Drawn {
  Architecture arch;
  std::string software;
  Strategy strategy;
  MemoryOptions options;
  std::int64_t seq_len = 0;
  double micro_batches = 1;
};

Drawn draw() {
  Drawn d;
  static const ModelLibrary models = ModelLibrary::standard();
  d.arch =
      models.find(*rc::gen::elementOf(std::vector<std::string>{"llama3-8b", "gpt3-13b", "mixtral-8x7b", "gemma2-9b"}));
  d.arch.layers = *rc::gen::inRange(8, 64);
  d.software = *rc::gen::elementOf(std::vector<std::string>{"megatron-core-te", "megatron-core", "megatron-deepspeed",
                                                            "torchtitan", "deepspeed", "torchtune", "internevo"});
  Strategy& s = d.strategy;
  s.tp = *rc::gen::elementOf(std::vector<std::uint16_t>{1, 2, 4, 8});
  s.pp = *rc::gen::elementOf(std::vector<std::uint16_t>{1, 2, 4, 8});
  s.dp = *rc::gen::elementOf(std::vector<std::uint32_t>{1, 2, 8, 64});
  s.zero = *rc::gen::inRange<std::uint8_t>(0, 4);
  s.micro_batch = *rc::gen::inRange<std::uint16_t>(1, 9);
  s.recompute = static_cast<Recompute>(*rc::gen::inRange(0, 3));
  s.schedule = static_cast<Schedule>(*rc::gen::inRange(0, static_cast<int>(schedule_count)));
  s.sequence_parallel = s.tp > 1 && *rc::gen::arbitrary<bool>();
  d.seq_len = 128 * *rc::gen::inRange(1, 256);
  d.micro_batches = *rc::gen::inRange(1, 128);
  d.options.flash_attention = *rc::gen::arbitrary<bool>();
  return d;
}

CompiledMemory compiled(const Drawn& d) {
  static const MemoryStacks stacks = memory_stacks(test::model_data());
  const MemoryStack& software = stacks.find(d.software);
  // A device that holds anything: the cap on what the allocator keeps must not hide a fall.
  return compile_memory(d.arch, software, software.states_of(Precision::bf16, "hopper"), Precision::bf16, d.options,
                        d.seq_len, Bytes{1e18});
}

MemoryTable table(const CompiledMemory& c, const Strategy& s) {
  return tabulate_memory(c, {s.tp, s.cp, s.ep, s.etp, s.micro_batch, s.sequence_parallel, s.recompute});
}

StageMemory fullest(const Drawn& d) {
  const CompiledMemory c = compiled(d);
  return fullest_stage(c, table(c, d.strategy), d.strategy, d.micro_batches).memory;
}

StageMemory on_stage(const Drawn& d, std::int64_t stage) {
  const CompiledMemory c = compiled(d);
  return stage_memory(c, table(c, d.strategy), d.strategy, d.micro_batches, stage);
}

Bytes kept_states(const StageMemory& m) {
  return m.bytes[MemoryTerm::weights] + m.bytes[MemoryTerm::gradients] + m.bytes[MemoryTerm::optimizer];
}

/// Pipelines of many stages, in chunks, or with end stages of their own.
void split_otherwise(Strategy& s) {
  if (*rc::gen::arbitrary<bool>()) {
    return;
  }
  s.schedule = usual_schedule;
  s.pp = *rc::gen::inRange<std::uint16_t>(2, 33);
  s.vpp = *rc::gen::inRange<std::uint16_t>(1, 4);
  if (s.pp < 8 && *rc::gen::arbitrary<bool>()) {
    s.vpp = 1;
    s.first_stage_layers = *rc::gen::inRange<std::uint8_t>(0, 4);
    s.last_stage_layers = *rc::gen::inRange<std::uint8_t>(1, 4);
  }
}

}  // namespace

TEST_CASE("memory is never below the sum of its states, and live <= reserved <= device") {
  CHECK(rc::check([] {
    const StageMemory m = fullest(draw());
    for (const Bytes bytes : m.bytes.bytes) {
      RC_ASSERT(bytes.raw() >= 0.0);
    }
    RC_ASSERT(m.live() >= kept_states(m));
    RC_ASSERT(m.reserved() >= m.live());
    RC_ASSERT(m.device() >= m.reserved());
  }));
}

TEST_CASE("no stage wants more than the fullest, and the earliest of equals is told") {
  static const ModelLibrary models = ModelLibrary::standard();
  CHECK(rc::check([] {
    Drawn d = draw();
    if (*rc::gen::arbitrary<bool>()) {  // dense layers first, experts after them
      d.arch = models.find("deepseek-v3");
      d.arch.layers = *rc::gen::inRange(8, 64);
    }
    split_otherwise(d.strategy);
    const CompiledMemory c = compiled(d);
    const FullestStage told = fullest_stage(c, table(c, d.strategy), d.strategy, d.micro_batches);
    Bytes most{}, host{};
    std::int32_t earliest = 0;
    for (std::int32_t stage = 0; stage < d.strategy.pp; ++stage) {
      const StageMemory m = on_stage(d, stage);
      earliest = stage == 0 || m.wanted() > most ? stage : earliest;
      most = std::max(most, m.wanted());
      host = std::max(host, m.host.total());
    }
    RC_ASSERT(told.memory.wanted() == most);
    RC_ASSERT(told.stage == earliest);
    RC_ASSERT(told.host.total() == host);
  }));
}

TEST_CASE("what a room does not hold is told to be beyond it, and what it holds in full") {
  CHECK(rc::check([] {
    Drawn d = draw();
    split_otherwise(d.strategy);
    const CompiledMemory c = compiled(d);
    const MemoryTable t = table(c, d.strategy);
    const FullestStage whole = fullest_stage(c, t, d.strategy, d.micro_batches);
    const Bytes needed = device_interval(whole.memory, c.stack).high;
    const Bytes room = 0.01 * *rc::gen::inRange(50, 150) * needed;
    const FullestStage told = fullest_stage(c, t, d.strategy, d.micro_batches, room);
    const Bytes upper = std::max(device_interval(told.memory, c.stack).high, told.at_least);
    RC_ASSERT(whole.at_least == Bytes{});
    RC_ASSERT((upper > room) == (needed > room));
    if (needed <= room) {
      RC_ASSERT(upper == needed);
      RC_ASSERT(told.stage == whole.stage);
      RC_ASSERT(told.host.total() == whole.host.total());
    }
  }));
}

TEST_CASE("strategies that differ in ZeRO stage and shards alone share their stages, and each has its own memory") {
  CHECK(rc::check([] {
    Drawn d = draw();
    split_otherwise(d.strategy);
    const CompiledMemory c = compiled(d);
    const MemoryTable t = table(c, d.strategy);
    HeldStages held;
    held.begin(c, t, d.strategy, d.micro_batches);
    for (int asked = 0; asked < 6; ++asked) {
      Strategy s = d.strategy;
      s.zero = *rc::gen::inRange<std::uint8_t>(0, 4);
      s.shard_ranks = *rc::gen::elementOf(std::vector<std::uint16_t>{0, 1, 2, 8});
      const FullestStage alone = fullest_stage(c, t, s, d.micro_batches);
      // In a room that holds it or not, in any order: what one leaves early the next must still find.
      const Bytes room = 0.01 * *rc::gen::inRange(50, 150) * device_interval(alone.memory, c.stack).high;
      for (const Bytes within : {room, any_room}) {
        const FullestStage own = fullest_stage(c, t, s, d.micro_batches, within);
        const FullestStage shared = held.fullest(s, within);
        RC_ASSERT(shared.memory.bytes.bytes == own.memory.bytes.bytes);
        RC_ASSERT(shared.memory.wanted_slack == own.memory.wanted_slack);
        RC_ASSERT(shared.memory.moment == own.memory.moment);
        RC_ASSERT(shared.memory.parameters.updated == own.memory.parameters.updated);
        RC_ASSERT(shared.memory.in_flight == own.memory.in_flight);
        RC_ASSERT(shared.host.total() == own.host.total());
        RC_ASSERT(shared.at_least == own.at_least);
        RC_ASSERT(shared.stage == own.stage);
      }
    }
  }));
}

TEST_CASE("states over fewer of the data ranks never take less, which lets a search leave shards out") {
  CHECK(rc::check([] {
    Drawn d = draw();
    split_otherwise(d.strategy);
    const CompiledMemory c = compiled(d);
    // As SharedSplits has it: what a software prints is a function of what the fullest stage wants, and no moment of
    // the peak hangs on gradients that are not there yet.
    RC_PRE(c.stack.measured != MemoryKind::live);
    RC_PRE(!c.stack.gradients_are_late || d.micro_batches > 1.0);
    const MemoryTable t = table(c, d.strategy);
    const auto high = [&](std::uint16_t ranks) {
      Strategy s = d.strategy;
      s.shard_ranks = ranks;
      return device_interval(fullest_stage(c, t, s, d.micro_batches).memory, c.stack).high;
    };
    for (const std::uint16_t ranks : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}}) {
      RC_ASSERT((1.0 + 1e-9) * high(ranks) >= high(0));
    }
  }));
}

TEST_CASE("a larger micro-batch, a longer sequence or more layers never take less memory") {
  CHECK(rc::check([] {
    const Drawn d = draw();
    const Bytes now = fullest(d).device();
    Drawn batch = d;
    batch.strategy.micro_batch = static_cast<std::uint16_t>(d.strategy.micro_batch + 1);
    RC_ASSERT(fullest(batch).device() >= now);
    Drawn sequence = d;
    sequence.seq_len += 128;
    RC_ASSERT(fullest(sequence).device() >= now);
    Drawn deeper = d;
    // The same remainder: a layer more in every part, of which a folded network has several a stage.
    deeper.arch.layers += d.strategy.pp * chunks_of(d.strategy.schedule, 1);
    RC_ASSERT(fullest(deeper).device() >= now);
  }));
}

TEST_CASE("recomputing more never takes more on any stage, in any schedule") {
  CHECK(rc::check([] {
    Drawn d = draw();
    const std::int64_t stage = *rc::gen::inRange<std::int64_t>(0, d.strategy.pp);
    const auto live = [&](Recompute mode) {
      d.strategy.recompute = mode;
      return on_stage(d, stage).live();
    };
    const Bytes rounding{1024.0};
    RC_ASSERT(live(Recompute::selective) <= live(Recompute::none) + rounding);
    RC_ASSERT(live(Recompute::full) <= live(Recompute::selective) + rounding);
  }));
}

TEST_CASE("sharding states further never takes more") {
  CHECK(rc::check([] {
    Drawn d = draw();
    d.strategy.zero = *rc::gen::inRange<std::uint8_t>(0, 2);
    const Bytes now = kept_states(fullest(d));
    ++d.strategy.zero;
    RC_ASSERT(kept_states(fullest(d)) <= now);
  }));
}
