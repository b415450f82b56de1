// SPDX-License-Identifier: Apache-2.0
// What must hold of any strategy: memory is never below its states, and more work never takes less.
#include <headroom/hardware/catalog.hpp>
#include <headroom/model/train/memory.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace headroom;

namespace {

/// One question of the generator: a small network, a software, a strategy.
struct Drawn {
  Architecture arch;
  std::string software;
  Strategy strategy;
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
  s.schedule = static_cast<Schedule>(*rc::gen::inRange(0, 6));
  s.sequence_parallel = s.tp > 1 && *rc::gen::arbitrary<bool>();
  d.seq_len = 128 * *rc::gen::inRange(1, 256);
  d.micro_batches = *rc::gen::inRange(1, 128);
  return d;
}

StageMemory fullest(const Drawn& d) {
  static const MemoryStacks stacks = MemoryStacks::standard();
  const MemoryStack& software = stacks.find(d.software);
  // A device that holds anything: the cap on what the allocator keeps must not hide a fall.
  const CompiledMemory c = compile_memory(d.arch, software, software.states_of(Precision::bf16, "hopper"),
                                          Precision::bf16, {}, d.seq_len, Bytes{1e18});
  const Strategy& s = d.strategy;
  const LayerKey key{s.tp, s.cp, s.ep, s.etp, s.micro_batch, s.sequence_parallel, s.recompute};
  return fullest_stage(c, tabulate_memory(c, key), s, d.micro_batches).memory;
}

Bytes states(const StageMemory& m) {
  return m.bytes[MemoryTerm::weights] + m.bytes[MemoryTerm::gradients] + m.bytes[MemoryTerm::optimizer];
}

}  // namespace

TEST_CASE("memory is never below the sum of its states, and live <= reserved <= device") {
  CHECK(rc::check([] {
    const StageMemory m = fullest(draw());
    for (const Bytes bytes : m.bytes.bytes) {
      RC_ASSERT(bytes.raw() >= 0.0);
    }
    RC_ASSERT(m.live() >= states(m));
    RC_ASSERT(m.reserved() >= m.live());
    RC_ASSERT(m.device() >= m.reserved());
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
    deeper.arch.layers += d.strategy.pp;  // the same remainder: a layer more on every stage
    RC_ASSERT(fullest(deeper).device() >= now);
  }));
}

TEST_CASE("sharding states further never takes more") {
  CHECK(rc::check([] {
    Drawn d = draw();
    d.strategy.zero = *rc::gen::inRange<std::uint8_t>(0, 2);
    const Bytes now = states(fullest(d));
    ++d.strategy.zero;
    RC_ASSERT(states(fullest(d)) <= now);
  }));
}
