// SPDX-License-Identifier: Apache-2.0
// What a GPU sends over each axis, how gradients go over data ranks, and what ranks hold while a checkpoint is loaded.
#include <headroom/answers/views/render.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

/// Llama 3 8B on 16 GPUs: 32 layers, hidden 4096, 8 heads of keys and values of 128.
Plan reduced(std::vector<std::string> more) {
  std::vector<std::string> overrides{"kind=train",
                                     "model=llama3-8b",
                                     "hardware.gpu=h100-sxm-80gb",
                                     "hardware.gpus=16",
                                     "training.seq_len=8192",
                                     "training.global_batch=128",
                                     "training.precision=bf16",
                                     "strategy.micro_batch=1",
                                     "strategy.recompute=none"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return make_plan(scenario_from_overrides(overrides, sources()), true);
}

const TrainPlan& trained(const Plan& p) {
  return std::get<TrainPlan>(p.answer);
}

const AxisBytes& over(const Plan& p, TrafficAxis axis) {
  return trained(p).sent[static_cast<std::size_t>(axis)];
}

std::string refusal(const std::vector<std::string>& more) {
  try {
    static_cast<void>(reduced(more));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

Seconds data_time(const Plan& p) {
  return trained(p).estimate.time[Term::dp_comm];
}

}  // namespace

TEST_CASE("tensor ranks send four all-reduces a layer, context ranks keys and values thrice, stages both ways") {
  const Plan p = reduced({"strategy.tp=2", "strategy.cp=2", "strategy.pp=2", "strategy.sequence_parallel=false"});
  // Four replicas of one sequence, 64 micro-batches each; 4096 tokens a rank; two ranks send as much as the buffer.
  const double tokens = 4096.0, passes = 64.0 * 16.0;
  CHECK(trained(p).estimate.micro_batches == 64);
  CHECK(over(p, TrafficAxis::tp).layer.raw() == doctest::Approx(4.0 * 2.0 * tokens * 4096.0));
  CHECK(over(p, TrafficAxis::tp).step.raw() == doctest::Approx(passes * 4.0 * 2.0 * tokens * 4096.0));
  CHECK(over(p, TrafficAxis::sp).step.raw() == 0.0);
  // Keys and values of four heads forward, with their gradients back.
  CHECK(over(p, TrafficAxis::cp).layer.raw() == doctest::Approx(3.0 * 2.0 * 2.0 * tokens * 4.0 * 128.0));
  // The activation of half the hidden width forward, its gradient back.
  CHECK(over(p, TrafficAxis::pp).step.raw() == doctest::Approx(2.0 * 64.0 * 2.0 * tokens * 4096.0 / 2.0));
  CHECK(over(p, TrafficAxis::dp).step == trained(p).sent_data);
  CHECK(over(p, TrafficAxis::ep).step.raw() == 0.0);
  const Plan split = reduced({"strategy.tp=2", "strategy.sequence_parallel=true"});
  CHECK(over(split, TrafficAxis::tp).step.raw() == 0.0);
  CHECK(over(split, TrafficAxis::sp).step == trained(split).sent_tensor);
  CHECK(plan_text(p).find("for context parallelism") != std::string::npos);
}

TEST_CASE("expert ranks send every routed row there and back, both ways") {
  const Plan p = reduced({"model=mixtral-8x7b", "strategy.ep=8", "training.gradients=bf16"});
  // 8192 tokens of two experts each and 4096 elements of 16 bit, 7/8 of them to other ranks: four exchanges.
  CHECK(over(p, TrafficAxis::ep).layer.raw() ==
        doctest::Approx(4.0 * 7.0 / 8.0 * 8192.0 * 2.0 * 4096.0 * 2.0).epsilon(0.02));
}

TEST_CASE("gradients sent in 16 bit are half of those in 32, in 8 a quarter, of the top 1 % lists of every rank") {
  const auto sent = [](const char* format) {
    return trained(reduced({"strategy.tp=4", "strategy.zero=0", std::string{"training.gradient_format="} + format}))
        .sent_data.raw();
  };
  const double fp32 = sent("fp32");
  CHECK(sent("bf16") == doctest::Approx(fp32 / 2.0));
  CHECK(sent("fp8") == doctest::Approx(fp32 / 4.0));
  // An all-reduce over four ranks sends 2 x 3/4 of the buffer, the gather of four lists 3 of them, 2 % each.
  CHECK(sent("topk:0.01") == doctest::Approx(fp32 * 3.0 * 0.02 / 1.5));
  // What was not sent stays in fp32: 4 bytes of a quarter of 8.03e9 parameters.
  const auto gradients = [](const char* format) {
    return trained(reduced({"strategy.tp=4", "strategy.zero=0", std::string{"training.gradient_format="} + format}))
        .estimate.memory[MemoryTerm::gradients]
        .raw();
  };
  CHECK(gradients("fp8") - gradients("bf16") == doctest::Approx(4.0 * 8.03e9 / 4.0).epsilon(0.01));
  const Plan told = reduced({"training.gradient_format=fp8"});
  CHECK(plan_text(told).find("4.00 of gradients that were not sent") != std::string::npos);
  CHECK(plan_text(told).find("gradient buckets") == std::string::npos);
}

TEST_CASE("buckets of data-parallel collectives cost messages, and the last of them hides beside nothing") {
  const auto of_bucket = [](const char* bucket) {
    return data_time(reduced({"strategy.tp=4", std::string{"training.bucket_bytes="} + bucket}));
  };
  const Seconds fitted = data_time(reduced({"strategy.tp=4"}));
  const Seconds tiny = of_bucket("1 MiB"), usual = of_bucket("200 MiB"), whole = of_bucket("100 GiB");
  CHECK(tiny > usual);
  CHECK(usual >= fitted);
  // One bucket starts when the backward pass is over.
  CHECK(whole > usual);
  const Plan told = reduced({"strategy.tp=4", "training.bucket_bytes=25 MiB"});
  bool says = false;
  for (const std::string& note : told.notes) {
    says |= note.find("training.bucket_bytes = 25.0 MiB (by itself megatron-core-te takes 40 million parameters") == 0;
  }
  CHECK(says);
}

TEST_CASE("a form of gradients that is none, residuals that ZeRO 2 does not hold, and buckets of layers are refused") {
  CHECK(refusal({"training.gradient_format=topk:0"}).find("a share of the elements in (0, 1]") != std::string::npos);
  CHECK(refusal({"training.gradient_format=int8"}).find("'gradient_format' is 'int8'") != std::string::npos);
  const std::string both = refusal({"training.gradient_format=fp8", "training.bucket_bytes=25 MiB", "strategy.zero=3"});
  CHECK(both.find("which ZeRO 3 does not hold") != std::string::npos);
  CHECK(both.find("'bucket_bytes' means something below ZeRO 2 only") != std::string::npos);
  CHECK(refusal({"training.method=lora", "training.checkpoint_form=full"}).find("with method \"full\" only") !=
        std::string::npos);
}

TEST_CASE("rank 0 holds a full checkpoint whole, of a sharded one each rank its own") {
  const Plan full = reduced({"training.gradients=bf16", "training.checkpoint_form=full"});
  // 16 bytes of 8.03e9 parameters, above what an H100 has.
  REQUIRE(trained(full).load);
  CHECK(trained(full).load->first.raw() == doctest::Approx(16.0 * 8.03e9).epsilon(0.001));
  CHECK_FALSE(trained(full).load->fits());
  CHECK(plan_text(full).find("that does not fit the") != std::string::npos);
  const Plan sharded = reduced({"training.gradients=bf16", "training.checkpoint_form=sharded"});
  CHECK(trained(sharded).load->fits());
  CHECK(trained(sharded).load->first == trained(full).load->rank);
  CHECK_FALSE(trained(reduced({})).load);
}
