// SPDX-License-Identifier: Apache-2.0
// What stands beside a pass: the optimizer's update, a stage's buffers, communicators and inputs that stay gathered,
// each against arithmetic done by hand from the software's code.
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "stage_of.hpp"
#include <algorithm>
#include <cmath>
#include <string_view>

using namespace headroom;

namespace {

constexpr double tokens = 2048.0;
constexpr double hidden = 4096.0;

MemoryStack software(std::string_view id) {
  MemoryStack stack = stacks().find(id);
  stack.reserve_ratio = stack.reserve_ratio_tp = 1.0;
  return stack;
}

StageMemory stage_on(const MemoryStack& stack, const Strategy& s, std::int64_t index = 0, MemoryOptions options = {}) {
  const CompiledMemory c = compile_memory(slice("llama2-7b", 32, 32), stack, stack.states_of(Precision::bf16, "ampere"),
                                          Precision::bf16, options, 2048, Bytes{192 * gib});
  return stage(c, s, 8, index);
}

Strategy recomputed(int tp, int pp, int dp) {
  Strategy s = strategy(tp, pp, dp);
  s.recompute = Recompute::full;
  return s;
}

}  // namespace

TEST_CASE("InternEvo's update is the peak of a short step: 14 bytes a parameter, 12 of shards at ZeRO 3") {
  const MemoryStack stack = software("internevo");
  const StageMemory one = stage_on(stack, recomputed(1, 1, 4));
  REQUIRE(one.moment == PeakMoment::update);
  const double updated = one.parameters.updated;
  CHECK(updated == doctest::Approx(count_parameters(slice("llama2-7b", 32, 32)).total / 4.0));
  CHECK(in_gib(one, MemoryTerm::workspace) * gib - stack.fixed.raw() == doctest::Approx(14.0 * updated));
  CHECK(in_gib(one, MemoryTerm::activations) == 0.0);
  CHECK(in_gib(one, MemoryTerm::logits) == 0.0);
  // Two buckets of 512 Mi gradients; what the passes took stays with the allocator.
  CHECK(in_gib(one, MemoryTerm::gather_buffers) == doctest::Approx(2.0));
  const double inputs = 32.0 * 2.0 * hidden * tokens;
  const double loss = 14.0 * 32000.0 * tokens + 6.0 * hidden * tokens;
  CHECK(in_gib(one, MemoryTerm::fragmentation) * gib == doctest::Approx(inputs + loss));

  Strategy sharded = recomputed(1, 1, 4);
  sharded.zero = 3;
  const StageMemory shards = stage_on(stack, sharded);
  REQUIRE(shards.moment == PeakMoment::update);
  CHECK(in_gib(shards, MemoryTerm::workspace) * gib - stack.fixed.raw() == doctest::Approx(12.0 * updated));
}

TEST_CASE("what explains a peak at the update names what the update takes, and nothing of a pass") {
  const MemoryStack stack = software("internevo");
  const CompiledMemory c = compile_memory(slice("llama2-7b", 32, 32), stack, stack.states_of(Precision::bf16, "ampere"),
                                          Precision::bf16, {}, 2048, Bytes{192 * gib});
  for (const std::uint8_t zero : {std::uint8_t{1}, std::uint8_t{3}}) {
    Strategy s = recomputed(1, 1, 4);
    s.zero = zero;
    FullestStage fullest;
    fullest.memory = stage(c, s, 8, 0);
    REQUIRE(fullest.memory.moment == PeakMoment::update);
    ExplainRecorder recorder;
    record_memory(c, "", "", s, fullest, recorder);
    const auto entry = [&](std::string_view name) {
      const auto& all = recorder.entries();
      const auto found = std::find_if(all.begin(), all.end(), [&](const ExplainEntry& e) { return e.name == name; });
      REQUIRE(found != all.end());
      return *found;
    };
    const auto input = [&](const ExplainEntry& e, std::string_view symbol) {
      const auto found =
          std::find_if(e.inputs.begin(), e.inputs.end(), [&](const auto& in) { return in.symbol == symbol; });
      return found == e.inputs.end() ? std::nan("") : found->value;
    };
    const ExplainEntry work = entry("workspace");
    CHECK(input(work, "u") == (zero < 3 ? 14.0 : 12.0));
    CHECK(work.value == doctest::Approx(input(work, "u") * input(work, "U") + input(work, "fixed")));
    CHECK(entry("activations").value == 0.0);
    CHECK(entry("activations").inputs.empty());
    for (const ExplainEntry& e : recorder.entries()) {
      CHECK(std::isnan(input(e, "layer")));
      CHECK(std::isnan(input(e, "in flight")));
    }
  }
}

TEST_CASE("a pass that takes more than the update is the peak, and the update's blocks are held beside it") {
  const MemoryStack stack = software("internevo");
  const StageMemory many = stage_on(stack, strategy(1, 1, 64));
  REQUIRE(many.moment != PeakMoment::update);
  CHECK(in_gib(many, MemoryTerm::fragmentation) * gib == doctest::Approx(14.0 * many.parameters.updated));
  MemoryOptions away;
  away.offload_optimizer = true;
  CHECK(in_gib(stage_on(stack, recomputed(1, 1, 4), 0, away), MemoryTerm::fragmentation) == 0.0);
}

TEST_CASE("a rank opens a communicator of each group with more ranks, and pays each") {
  MemoryStack stack = software("megatron-deepspeed");
  const auto beyond = [&](int tp, int pp, int dp) {
    const Bytes outside = stage_on(stack, recomputed(tp, pp, dp)).bytes[MemoryTerm::framework];
    return (outside - stack.outside) / stack.communicators;
  };
  CHECK(beyond(1, 1, 1) == doctest::Approx(-1.0));
  CHECK(beyond(1, 1, 8) == doctest::Approx(2.0 - 1.0));  // data ranks; all
  CHECK(beyond(8, 1, 1) == doctest::Approx(4.0 - 1.0));  // tensor twice, model, all
  CHECK(beyond(8, 4, 2) == doctest::Approx(8.0 - 1.0));
  stack.groups.clear();
  CHECK(beyond(8, 4, 2) == 0.0);
}

TEST_CASE("DeepSpeed's stages keep a part of each output, and one output with its gradient whole") {
  MemoryStack stack = software("megatron-deepspeed");
  Strategy s = recomputed(4, 4, 2);
  s.sequence_parallel = false;
  const double whole = 2.0 * hidden * tokens;
  const auto kept = [&](std::int64_t stage) {
    return in_gib(stage_on(stack, s, stage), MemoryTerm::activations) * gib;
  };
  CHECK(kept(0) == doctest::Approx((4.0 * 8.0 + 4.0 / 4.0 + 2.0) * whole));  // 4 in flight of 8 layers
  CHECK(kept(3) == doctest::Approx(8.0 * whole));                            // the last sends nothing on
}

TEST_CASE("stages of torch's pipelining hold receive buffers of every micro-batch") {
  const MemoryStack stack = software("torchtitan");
  const Strategy s = recomputed(1, 4, 2);
  const double whole = 2.0 * hidden * tokens;
  const auto kept = [&](std::int64_t stage) {
    return in_gib(stage_on(stack, s, stage), MemoryTerm::activations) * gib;
  };
  CHECK(kept(0) == doctest::Approx((4.0 * 8.0 + 4.0 + 8.0) * whole));
  CHECK(kept(1) == doctest::Approx((3.0 * 8.0 + 3.0 + 8.0 + 8.0) * whole));
  CHECK(kept(3) == doctest::Approx((8.0 + 8.0) * whole));
}

TEST_CASE("inputs that stay gathered are kept whole, and their gradients stand whole in a layer's backward pass") {
  MemoryStack stack = software("torchtitan");
  const Strategy s = strategy(4, 1, 8);
  const auto terms = [&](bool gathered) {
    stack.keeps_gathered_inputs = gathered;
    const CompiledMemory c =
        compile_memory(slice("llama2-7b", 32, 32), stack, stack.states_of(Precision::bf16, "hopper"), Precision::bf16,
                       {}, 2048, Bytes{192 * gib});
    return tabulate_memory(c, {s.tp, s.cp, s.ep, s.etp, s.micro_batch, s.sequence_parallel, s.recompute}).kinds[0];
  };
  const MemoryTable::Row kept = terms(true);
  const MemoryTable::Row again = terms(false);
  CHECK(kept.activations - again.activations == doctest::Approx(2.0 * 2.0 * hidden * tokens * 3.0 / 4.0));
  CHECK(kept.workspace - again.workspace == doctest::Approx(2.0 * 2.0 * hidden * tokens));
}

TEST_CASE("a loss over tensor ranks has its own bytes a logit unless it is fused") {
  const MemoryStack stack = software("torchtitan");
  MemoryOptions compiled_model;
  compiled_model.compiled = true;
  const auto logits = [&](int tp, const MemoryOptions& options) {
    const CompiledMemory c =
        compile_memory(slice("llama2-7b", 32, 32), stack, stack.states_of(Precision::bf16, "hopper"), Precision::bf16,
                       options, 2048, Bytes{192 * gib});
    return logit_bytes_of(c, tp);
  };
  CHECK(logits(1, {}) == 14.0);
  CHECK(logits(1, compiled_model) == 12.0);
  CHECK(logits(8, {}) == 16.0);  // four fp32 tensors
  CHECK(logits(8, compiled_model) == 16.0);
  MemoryOptions fused;
  fused.fused_loss = true;
  CHECK(logits(8, fused) == 2.0);
}
