// SPDX-License-Identifier: Apache-2.0
// Where the second forward pass of a recomputed block ends, and what a router's launches do to its scores.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/step/step_time.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include "stated_step.hpp"
#include <vector>

using namespace headroom;
using headroom::test::catalog;
using headroom::test::near;

namespace {

Architecture dense_network() {
  Architecture arch;
  arch.id = "dense";
  arch.layers = 8;
  arch.hidden = 4096;
  arch.heads = 32;
  arch.kv_heads = 32;
  arch.head_dim = 128;
  arch.ffn_hidden = 16384;
  arch.vocab = 51200;
  return arch;
}

Architecture expert_network(std::int64_t latent = 0) {
  Architecture arch = dense_network();
  Moe moe;
  moe.experts = 64;
  moe.top_k = 8;
  moe.expert_ffn_hidden = 1024;
  moe.latent = latent;
  arch.moe = moe;
  return arch;
}

LayerTimes layer(const Architecture& arch, RecomputeEnd end, const Strategy& s, double router = 0.0) {
  const Device& device = catalog().device("h100-sxm-80gb");
  TrainingWorkload work;
  work.shape = {8, 4096, 64};
  work.precision = Precision::bf16;
  work.states = adam_states(work.precision);
  StepStack stack = test::stated_stack();
  stack.router_launches = router;
  MemoryStack software = test::stated_software(memory_stacks(test::model_data()).find("megatron-core"), stack);
  software.recompute_end = end;
  return compile(arch, device,
                 std::make_shared<const JobGroups>(test::model_data(), device,
                                                   JobHosts{catalog().node("dgx-h100"), 0, {}, {}}, 8),
                 software, work, test::stated_parameters(), {})
      .step->tabulate(key_of(s))
      .layer;
}

Strategy whole_again(int tp = 1, int ep = 1) {
  Strategy s;
  s.tp = static_cast<std::uint16_t>(tp);
  s.dp = static_cast<std::uint32_t>(8 / tp);
  s.ep = static_cast<std::uint16_t>(ep);
  s.recompute = Recompute::full;
  return s;
}

double again(const Architecture& arch, RecomputeEnd end, const Strategy& s) {
  return layer(arch, end, s).recompute.raw();
}

}  // namespace

TEST_CASE("a checkpoint that stops early leaves out the residual's sum, a plain one nothing") {
  const Architecture arch = dense_network();
  const LayerTimes whole = layer(arch, RecomputeEnd::whole, whole_again());
  CHECK(whole.recompute == whole.forward.total());
  const double sum = whole.recompute.raw() - again(arch, RecomputeEnd::exchange, whole_again());
  // Two tensors read and one written, of 20 h bytes a token and the feed-forward's 4 f.
  CHECK(sum == near(whole.forward.elementwise.raw() * 6 * 4096 / (20.0 * 4096 + 4 * 16384 + 4 * 3 * 4096), 0.01));
  CHECK(sum > 0.0);
}

TEST_CASE("and the way back from experts, but where latents are projected behind it") {
  const LayerTimes whole = layer(expert_network(), RecomputeEnd::whole, whole_again(1, 8));
  REQUIRE(whole.forward.ep.raw() > 0.0);
  const auto left = [](std::int64_t latent, int ep) {
    return again(expert_network(latent), RecomputeEnd::whole, whole_again(1, ep)) -
           again(expert_network(latent), RecomputeEnd::exchange, whole_again(1, ep));
  };
  CHECK(left(0, 8) - left(0, 1) == near(0.5 * whole.forward.ep.raw()));
  CHECK(left(1024, 8) == near(left(0, 1)));
}

TEST_CASE("a router's launches go over the scores of all experts, seven bytes a launch forward and three backward") {
  const Strategy s = whole_again(1, 8);
  const LayerTimes none = layer(expert_network(), RecomputeEnd::whole, s);
  const LayerTimes plain = layer(expert_network(), RecomputeEnd::whole, s, 34.0);
  const double forward = plain.forward.elementwise.raw() - none.forward.elementwise.raw();
  const double backward = plain.backward.elementwise.raw() - none.backward.elementwise.raw();
  CHECK(forward / backward == near(7.0 / 3.0, 1e-6));
  Architecture more = expert_network();
  more.moe->experts = 128;
  const double twice = layer(more, RecomputeEnd::whole, s, 34.0).forward.elementwise.raw() -
                       layer(more, RecomputeEnd::whole, s).forward.elementwise.raw();
  CHECK(twice == near(2.0 * forward, 1e-6));
  // 34 launches by 7 bytes by 64 experts by 4,096 tokens at 0.78 of 3.35 TB/s, or as the stated physics say.
  CHECK(forward > 34.0 * 7.0 * 64.0 * 4096.0 / 3.35e12);
}

TEST_CASE(
    "published software ends its recomputation as its checkpoints do, and llm-foundry on torch 2.1 sums in fp32") {
  const MemoryStacks& stacks = memory_stacks(test::model_data());
  CHECK(stacks.find("megatron-core").recompute_end == RecomputeEnd::whole);
  CHECK(stacks.find("deepspeed").recompute_end == RecomputeEnd::whole);
  CHECK(stacks.find("nemo-automodel").recompute_end == RecomputeEnd::exchange);
  CHECK(stacks.find("pytorch-fsdp").recompute_end == RecomputeEnd::whole);
  const MemoryStack& later = stacks.find("llm-foundry-torch21");
  CHECK(later.time.plain.gradient_bytes == 4.0);
  CHECK(later.time.plain.attention == stacks.find("llm-foundry").time.plain.attention);
}
