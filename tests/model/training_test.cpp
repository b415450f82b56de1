// SPDX-License-Identifier: Apache-2.0
// The training evaluation: legality, schedules, and explain against evaluate.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/step/step_time.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include <cstring>
#include <random>

using namespace headroom;
using headroom::test::near;

namespace {

CompiledTraining llama70b(std::int64_t gpus, std::int64_t batch, Precision precision = Precision::bf16) {
  static const Catalog catalog = Catalog::standard();
  static const ModelLibrary models = ModelLibrary::standard();
  TrainingWorkload work;
  work.shape = {gpus, 8192, batch};
  work.precision = precision;
  work.states = adam_states(precision);
  const Device& device = catalog.device("h100-sxm-80gb");
  return compile(models.find("llama3-70b"), device,
                 std::make_shared<const JobGroups>(test::model_data(), device,
                                                   JobHosts{catalog.node("dgx-h100"), 0, {}, {}}, gpus),
                 memory_stacks(test::model_data()).find("megatron-bridge"), work, step_parameters(test::model_data()));
}

Strategy strategy(int tp, int pp, std::int64_t gpus) {
  Strategy s;
  s.tp = static_cast<std::uint16_t>(tp);
  s.pp = static_cast<std::uint16_t>(pp);
  s.dp = static_cast<std::uint32_t>(gpus / (tp * pp));
  s.zero = 1;
  s.sequence_parallel = tp > 1;
  return s;
}

Estimate price(const CompiledTraining& c, const Strategy& s) {
  return evaluate(c, tabulate(c, key_of(s)), s);
}

}  // namespace

TEST_CASE("explain returns what evaluate returns, bit for bit, on a thousand random strategies") {
  const CompiledTraining c = llama70b(512, 1024);
  std::mt19937 random{7};
  const auto pick = [&](std::initializer_list<int> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  int feasible = 0;
  for (int i = 0; i < 1000; ++i) {
    Strategy s = strategy(pick({1, 2, 4, 8}), pick({1, 2, 4, 8, 16}), 512);
    s.vpp = static_cast<std::uint16_t>(pick({1, 2, 5}));
    s.zero = static_cast<std::uint8_t>(pick({0, 1, 2, 3}));
    s.micro_batch = static_cast<std::uint16_t>(pick({1, 2, 4}));
    s.recompute = static_cast<Recompute>(pick({0, 1, 2}));
    const LayerTable table = tabulate(c, key_of(s));
    ExplainRecorder recorder;
    const Estimate quick = evaluate(c, table, s);
    const Estimate told = explain(c, table, s, recorder);
    CHECK(std::memcmp(&quick.time, &told.time, sizeof quick.time) == 0);
    CHECK(std::memcmp(&quick.memory, &told.memory, sizeof quick.memory) == 0);
    CHECK(quick.verdict == told.verdict);
    CHECK(quick.step.raw() == told.step.raw());
    feasible += quick.verdict == Verdict::feasible ? 1 : 0;
  }
  CHECK(feasible > 50);
}

TEST_CASE("terms add up to the step") {
  const CompiledTraining c = llama70b(512, 1024);
  const Estimate e = price(c, strategy(8, 4, 512));
  CHECK(e.time.total().raw() == e.step.raw());
  CHECK(e.micro_batches == 64);
}

TEST_CASE("the bubble is the other stages' micro-batch, over v when interleaved, Narayanan et al. 2021 section 2.2") {
  const CompiledTraining c = llama70b(512, 1024);
  Strategy s = strategy(8, 4, 512);
  const Estimate plain = price(c, s);
  // Four equal stages and the head on the last, which is the slowest.
  const StepTable table = c.step->tabulate(key_of(s));
  const Seconds stage = 20.0 * (table.layer.total() + table.layer.accumulation);
  CHECK(plain.time[Term::bubble].raw() == near(3.0 * stage.raw()));
  s.vpp = 5;
  CHECK(price(c, s).time[Term::bubble] / plain.time[Term::bubble] == doctest::Approx(1.0 / 5.0));
}

TEST_CASE("interleaving holds 1 + (p-1)/(p v) of the layers on the first stage, Korthikanti et al. 2022 equation 5") {
  const CompiledTraining c = llama70b(512, 1024);
  Strategy s = strategy(8, 4, 512);
  const Estimate plain = price(c, s);
  CHECK(plain.stage == 0);
  const LayerTable table = tabulate(c, key_of(s));
  CHECK(plain.memory[MemoryTerm::activations].raw() == doctest::Approx(80.0 * table.memory.kinds[0].activations));
  s.vpp = 5;
  CHECK(price(c, s).memory[MemoryTerm::activations] / plain.memory[MemoryTerm::activations] ==
        doctest::Approx(1.0 + 3.0 / 20.0));
}

TEST_CASE("full recomputation costs one more forward of the layers") {
  const CompiledTraining c = llama70b(512, 1024);
  Strategy s = strategy(8, 4, 512);
  s.recompute = Recompute::full;
  const Estimate e = price(c, s);
  const StepTable table = c.step->tabulate(key_of(s));
  CHECK(e.time[Term::recompute].raw() == near(64.0 * 20.0 * table.layer.forward.total().raw()));
}

TEST_CASE("model FLOP of a token are 6 per active matrix weight and 12 L q s, Chowdhery et al. 2022 appendix B") {
  const CompiledTraining c = llama70b(512, 1024);
  const double matrices = 70553706496.0 - 128256.0 * 8192 - 161 * 8192.0;  // no embedding table, no norms
  CHECK(c.model_flops_per_token.raw() == doctest::Approx(6 * matrices + 12.0 * 80 * 8192 * 8192));
}

TEST_CASE("every rule of legality is broken by the strategy that breaks it") {
  const Architecture arch = llama70b(512, 1024).architecture;
  const TrainingShape shape{512, 8192, 1024};
  const auto verdict = [&](auto change) {
    Strategy s = strategy(8, 4, 512);
    change(s);
    return check(arch, shape, s).verdict;
  };
  CHECK(verdict([](Strategy&) {}) == Verdict::feasible);
  CHECK(verdict([](Strategy& s) { s.dp = 15; }) == Verdict::gpus_not_divisible);
  CHECK(check(arch, {96, 8192, 1024}, strategy(3, 1, 96)).verdict == Verdict::heads_not_divisible);
  CHECK(verdict([](Strategy& s) { s.vpp = 20; }) == Verdict::feasible);
  CHECK(verdict([](Strategy& s) { s.vpp = 21; }) == Verdict::layers_too_few);
  CHECK(check(arch, {512, 8191, 1024}, strategy(8, 4, 512)).verdict == Verdict::sequence_not_divisible);
  CHECK(verdict([](Strategy& s) { s.micro_batch = 3; }) == Verdict::batch_not_divisible);
  CHECK(check(arch, {512, 8192, 16},
              [] {
                Strategy s = strategy(8, 4, 512);
                s.vpp = 2;
                return s;
              }())
            .verdict == Verdict::micro_batches_too_few);
  CHECK(verdict([](Strategy& s) { s.ep = 2; }) == Verdict::experts_not_divisible);
}

TEST_CASE("a plan that needs more than the capacity says how much") {
  const CompiledTraining c = llama70b(512, 1024);
  const Estimate e = price(c, strategy(1, 1, 512));
  CHECK(e.verdict == Verdict::out_of_memory);
  CHECK(e.broke == e.memory.total().raw());
  CHECK(e.limit == c.capacity.raw());
}

TEST_CASE("a recipe the device has no peak for is refused by name") {
  CHECK_THROWS_AS(llama70b(512, 1024, Precision::nvfp4), ConfigError);
}
