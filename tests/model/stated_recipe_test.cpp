// SPDX-License-Identifier: Apache-2.0
// What a training job may state beside its strategy: parts that run again, 8-bit kept activations and dispatch, routing
// limits, kept multiprocessors, averaged weights. Bytes by hand.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/step/step_time.hpp>
#include <headroom/model/train/step/step_trace.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include "stage_of.hpp"
#include "stated_step.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::catalog;
using headroom::test::near;

namespace {

Architecture deepseek() {
  return ModelLibrary::standard().find("deepseek-v3");
}

MemoryOptions recipe(std::initializer_list<RecomputePart> parts, std::optional<bool> narrow = std::nullopt) {
  MemoryOptions options;
  for (const RecomputePart part : parts) {
    options.recompute_parts.add(part);
  }
  options.narrow_saved = narrow;
  return options;
}

/// Bytes that a layer of experts keeps of one sequence of 4,096 tokens.
double kept(const MemoryOptions& options, Recompute recompute = Recompute::selective) {
  const CompiledMemory c = compiled(deepseek(), "megatron-core", 4096, Precision::fp8, options);
  const MemoryTable table = tabulate_memory(c, {1, 1, 64, 1, 1, false, recompute});
  const auto experts = std::find_if(c.kinds.begin(), c.kinds.end(),
                                    [](const LayerKind& k) { return k.block.feed_forward == FeedForward::moe; });
  return table.kinds[static_cast<std::size_t>(experts - c.kinds.begin())].activations;
}

/// A step of 64 GPUs whose experts lie on all of them, on 8 hosts.
CompiledTraining job(const MemoryOptions& options, Precision precision = Precision::fp8) {
  const Device& device = catalog().device("h800-sxm-80gb");
  TrainingWorkload work;
  work.shape = {64, 4096, 256};
  work.precision = precision;
  work.states = adam_states(precision);
  work.options = options;
  return compile(deepseek(), device,
                 std::make_shared<const JobGroups>(test::model_data(), device,
                                                   JobHosts{catalog().node("hgx-h800-8"), 0, {}, {}}, 64),
                 test::stated_software(stacks().find("megatron-core"), test::stated_stack()), work,
                 test::stated_parameters());
}

Strategy spread(Recompute recompute = Recompute::none) {
  Strategy s = strategy(1, 1, 64);
  s.ep = 64;
  s.recompute = recompute;
  return s;
}

LayerTimes layer_of(const MemoryOptions& options, const Strategy& s) {
  const CompiledTraining c = job(options);
  return c.step->tabulate(key_of(s)).layer;
}

/// With kernels that send a token to a host once.
MemoryOptions dispatched() {
  MemoryOptions options;
  options.experts.dispatcher = ExpertDispatcher::deepep;
  return options;
}

}  // namespace

TEST_CASE("norms, up-projections and the experts' activation that run again are not kept") {
  constexpr double tokens = 4096.0;
  constexpr double hidden = 7168.0;
  const double whole = kept({}, Recompute::none);
  // Two norms' 8-bit outputs, and those of the latents.
  CHECK(whole - kept(recipe({RecomputePart::layernorm})) == near(tokens * (2.0 * hidden + 1536.0 + 512.0)));
  // Queries and keys of 192, values of 128, of 128 heads in 16 bit.
  CHECK(whole - kept(recipe({RecomputePart::mla_up_proj})) == near(tokens * 2.0 * 128.0 * (192.0 + 192.0 + 128.0)));
  // The 8-bit input of the last matrix of 8 routed and one shared expert.
  CHECK(whole - kept(recipe({RecomputePart::moe_act})) == near(tokens * 9.0 * 2048.0));
  // The softmax's log-sum: a fused attention keeps no scores.
  CHECK(whole - kept(recipe({RecomputePart::core_attn})) == near(tokens * 4.0 * 128.0));
  // Parts count under selective recomputation alone.
  CHECK(kept(recipe({RecomputePart::layernorm}), Recompute::none) == whole);
}

TEST_CASE("DeepSeek-V3 keeps 154,240 bytes a token of a layer of experts") {
  // Residuals 4 h, latents 2 x 2048 and rotary key 2 x 64 in 16 bit, attention's output 1.5 x 16384, log-sums 4 x 128,
  // 8 dispatched rows of h and 2 x 2048, the shared expert's 2 x 2048, the router's 8 x 256.
  const MemoryOptions options =
      recipe({RecomputePart::layernorm, RecomputePart::mla_up_proj, RecomputePart::moe_act}, true);
  CHECK(kept(options) == near(154240.0 * 4096.0));
}

TEST_CASE("activations kept in 16 bit take what no 8-bit recipe saves") {
  const double habit = kept({}, Recompute::none);
  const double wide = kept(recipe({}, false), Recompute::none);
  // Inputs of products: two norms, two latents, 8 dispatched rows, 9 inputs of last matrices: a byte more each.
  CHECK(wide - habit == near(4096.0 * (2.0 * 7168.0 + 2048.0 + 8.0 * 7168.0 + 9.0 * 2048.0)));
}

TEST_CASE("a part that runs again takes its own forward pass, the attention what it took, and parts add up") {
  const LayerTimes plain = layer_of({}, spread(Recompute::selective));
  CHECK(plain.recompute.raw() == 0.0);
  const LayerTimes attention = layer_of(recipe({RecomputePart::core_attn}), spread(Recompute::selective));
  CHECK(attention.recompute == attention.forward.attention);
  double sum = 0.0;
  for (const RecomputePart part : {RecomputePart::layernorm, RecomputePart::mla_up_proj, RecomputePart::moe_act}) {
    const LayerTimes one = layer_of(recipe({part}), spread(Recompute::selective));
    CHECK(one.recompute.raw() > 0.0);
    CHECK(one.recompute < one.forward.total());
    sum += one.recompute.raw();
  }
  const LayerTimes three =
      layer_of(recipe({RecomputePart::layernorm, RecomputePart::mla_up_proj, RecomputePart::moe_act}),
               spread(Recompute::selective));
  CHECK(three.recompute.raw() == near(sum));
  CHECK(layer_of(recipe({RecomputePart::core_attn}), spread()).recompute.raw() == 0.0);
}

TEST_CASE("8-bit dispatch narrows what goes to the experts and nothing that comes back") {
  MemoryOptions narrow = dispatched();
  narrow.experts.narrow_dispatch = true;
  const Seconds wide = layer_of(dispatched(), spread()).forward.ep;
  const Seconds mixed = layer_of(narrow, spread()).forward.ep;
  // 1 + 4/128 bytes there and 2 back, but for the latency of each exchange.
  const double latency = 2.0 * 15e-6;
  CHECK((mixed.raw() - latency) / (wide.raw() - latency) == doctest::Approx((1.03125 + 2.0) / 4.0).epsilon(1e-3));
}

TEST_CASE("experts of a token on four hosts at most send it to fewer of eight, on as many as there are to no fewer") {
  MemoryOptions four = dispatched();
  four.experts.domains = 4;
  const Seconds any = layer_of(dispatched(), spread()).forward.ep;
  CHECK(layer_of(four, spread()).forward.ep < any);
  four.experts.domains = 8;
  CHECK(layer_of(four, spread()).forward.ep == any);
}

TEST_CASE("multiprocessors kept for exchanges slow products and attention by their share, and hide exchanges whole") {
  Strategy s = spread();
  s.overlap_experts = true;
  MemoryOptions kept_units;
  kept_units.experts.units = 20;
  const LayerTimes all = layer_of({}, s);
  const LayerTimes fewer = layer_of(kept_units, s);
  CHECK(fewer.forward.gemm.raw() == near(132.0 / 112.0 * all.forward.gemm.raw()));
  CHECK(fewer.backward.attention.raw() == near(132.0 / 112.0 * all.backward.attention.raw()));
  CHECK(fewer.forward.elementwise == all.forward.elementwise);
  const Seconds traffic = all.forward.ep + all.backward.ep;
  const auto compute = [](const LayerPass& pass) { return pass.gemm + pass.attention + pass.elementwise; };
  // A mean over 61 layers, of which the three dense ones compute and exchange nothing.
  constexpr double dense = 0.06;
  CHECK(all.ep_hidden.raw() ==
        near(0.85 * std::min(traffic, compute(all.forward) + compute(all.backward)).raw(), dense));
  CHECK(fewer.ep_hidden.raw() ==
        near(std::min(traffic, compute(fewer.forward) + compute(fewer.backward)).raw(), dense));
  // Without experts on other ranks nothing is kept.
  s.ep = 1;
  CHECK(layer_of(kept_units, s).forward.gemm == layer_of({}, s).forward.gemm);
}

TEST_CASE("averaged weights take four bytes of a shared parameter, on the GPU or on its host") {
  const auto of = [](WeightAverage average) {
    MemoryOptions options;
    options.average = average;
    return stage(compiled(slice("llama3-8b", 32, 8), "megatron-core", 4096, Precision::bf16, options),
                 strategy(1, 1, 8), 4);
  };
  const StageMemory none = of(WeightAverage::none);
  const StageMemory gpu = of(WeightAverage::gpu);
  const StageMemory host = of(WeightAverage::host);
  const double bytes = 4.0 * none.parameters.updated;
  CHECK((gpu.bytes[MemoryTerm::optimizer] - none.bytes[MemoryTerm::optimizer]).raw() == near(bytes));
  CHECK(host.bytes[MemoryTerm::optimizer] == none.bytes[MemoryTerm::optimizer]);
  CHECK(host.host.total().raw() == near(bytes));
  CHECK(none.host.total().raw() == 0.0);
}

TEST_CASE("stated ends of a DualPipe pipeline are held by both its ends") {
  const CompiledMemory c = compiled(slice("llama3-8b", 32, 8), "megatron-core-te", 4096);
  Strategy s = strategy(1, 4, 8);
  s.schedule = Schedule::dualpipe;
  s.first_stage_layers = 6;
  s.last_stage_layers = 6;
  CHECK(stage(c, s, 64, 0).layers == 12.0);
  CHECK(stage(c, s, 64, 3).layers == 12.0);
  CHECK(stage(c, s, 64, 1).layers == 20.0);
}

TEST_CASE("a DualPipe step with stated ends takes what its simulation takes, exchanges in pairs") {
  const CompiledTraining c = job({});
  Strategy s = strategy(1, 4, 16);
  s.ep = 16;
  s.schedule = Schedule::dualpipe;
  s.overlap_experts = true;
  s.first_stage_layers = 16;
  s.last_stage_layers = 15;
  StepTable table = c.step->tabulate(key_of(s));
  table.passes = simulated_passes(*c.step, table, s, 256.0);
  const Breakdown time = c.step->time(table, s, 256.0).time;
  CHECK(time[Term::bubble].raw() > 0.0);
  const Seconds beside = time[Term::optimizer] + time[Term::straggler] + time[Term::dp_comm] + time[Term::pp_comm];
  CHECK((time.total() - beside).raw() == near(table.passes.raw()));
}
