// SPDX-License-Identifier: Apache-2.0
// What softwares do unless told otherwise, and what they keep beside the formulas of a network.
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"

using namespace headroom;

namespace {

constexpr double gib = 0x1p30;

const MemoryStack& stack(std::string_view id) {
  static const MemoryStacks all = memory_stacks(test::model_data());
  return all.find(id);
}

Architecture preset(std::string_view id) {
  return ModelLibrary::standard().find(id);
}

CompiledMemory compiled(const Architecture& arch,
                        std::string_view software,
                        MomentsApart apart = {},
                        Precision precision = Precision::bf16) {
  const MemoryStack& s = stack(software);
  StateBytes states = s.states_of(precision, "hopper");
  states.apart = apart;
  return compile_memory(arch, s, states, precision, {}, 4096, Bytes{1024 * gib});
}

Strategy strategy(int tp, int pp, int dp, int ep = 1, int etp = 1, int zero = 1) {
  Strategy s;
  s.tp = static_cast<std::uint16_t>(tp);
  s.pp = static_cast<std::uint16_t>(pp);
  s.dp = static_cast<std::uint32_t>(dp);
  s.ep = static_cast<std::uint16_t>(ep);
  s.etp = static_cast<std::uint16_t>(etp);
  s.zero = static_cast<std::uint8_t>(zero);
  s.sequence_parallel = tp > 1;
  return s;
}

MemoryTable table(const CompiledMemory& c, const Strategy& s) {
  return tabulate_memory(c, {s.tp, s.cp, s.ep, s.etp, s.micro_batch, s.sequence_parallel, s.recompute});
}

StageMemory stage_of_job(const CompiledMemory& c, const Strategy& s, std::int64_t index = 0) {
  return stage_memory(c, table(c, s), s, 64, index);
}

double bytes(const StageMemory& m, MemoryTerm term) {
  return m.bytes[term].raw();
}

}  // namespace

TEST_CASE("shards of experts add up: E/ep experts of width/etp, their states over gpus/(pp ep etp) ranks") {
  const Architecture mixtral = preset("mixtral-8x7b");
  const CompiledMemory c = compiled(mixtral, "megatron-core-te");
  const double all = count_parameters(mixtral).experts;
  for (const int ep : {1, 2, 8}) {
    for (const int etp : {1, 2, 8}) {
      const Strategy s = strategy(8, 1, 8, ep, etp);
      CAPTURE(ep);
      CAPTURE(etp);
      const double of_rank = 32.0 * table(c, s).kinds[0].experts;
      CHECK(of_rank * ep * etp == doctest::Approx(all));
      // Adam's share: dense over dp, experts over dp tp / (ep etp) = all of them over the 64 GPUs whatever the split.
      const double dense = 32.0 * table(c, s).kinds[0].dense + table(c, s).embedding + table(c, s).head + 4096.0;
      CHECK(bytes(stage_of_job(c, s), MemoryTerm::optimizer) == doctest::Approx(12.0 * (dense / 8.0 + all / 64.0)));
    }
  }
}

TEST_CASE("ranks that share an expert gather each other's tokens: the width shrinks, the tokens grow") {
  ActivationShape s;
  s.seq_len = 4096;
  s.hidden = 4096;
  s.tp = 8;
  s.sequence_parallel = true;
  s.experts = 8;
  s.expert_input = 4096;
  s.routed = 2;
  s.expert_ffn = 14336;
  s.gated = true;
  const double whole = layer_activations(s).raw();
  s.etp = 8;
  // 512 tokens of the rank, two experts each: seven times as many inputs more, the same inner bytes.
  CHECK(layer_activations(s).raw() - whole == doctest::Approx(7.0 * 512.0 * 2.0 * 2.0 * 4096.0));
}

TEST_CASE("experts are split as the software splits them when nobody says") {
  CHECK(stack("megatron-core-te").defaults.expert_tensor_ranks(8, 1) == 8);
  CHECK(stack("megatron-core").defaults.expert_tensor_ranks(8, 4) == 8);
  CHECK(stack("megatron-bridge").defaults.expert_tensor_ranks(8, 4) == 1);
  CHECK(stack("deepspeed").defaults.expert_tensor_ranks(8, 1) == 1);
  CHECK(stack("torchtitan").defaults.expert_tensor_ranks(8, 1) == 8);
  CHECK(stack("torchtitan").defaults.expert_tensor_ranks(8, 2) == 1);
}

TEST_CASE("sharded softwares shard, old ones keep scores") {
  for (const char* id : {"torchtitan", "torchtitan-2025", "pytorch-fsdp", "llm-foundry", "torchtune"}) {
    CHECK(stack(id).defaults.zero == 3);
  }
  CHECK(stack("megatron-deepspeed-zero3").defaults.zero == 3);
  CHECK(stack("megatron-core-te").defaults.zero == 1);
  CHECK_FALSE(stack("megatron-deepspeed").defaults.flash_attention);
  CHECK_FALSE(stack("megatron-deepspeed").defaults.sequence_parallel);
  CHECK(stack("torchtitan").defaults.vocabulary == 128256);
  CHECK(stack("pytorch-fsdp").defaults.vocabulary == 50257);
}

TEST_CASE("llm-foundry's loss is fused unless stated: 4 bytes a logit instead of 14") {
  CHECK(compiled(preset("llama2-7b"), "llm-foundry").logit_bytes == 4.0);
  CHECK(compiled(preset("llama2-7b"), "pytorch-fsdp").logit_bytes == 14.0);
  MemoryOptions unfused;
  unfused.fused_loss = false;
  const MemoryStack& s = stack("llm-foundry");
  CHECK(compile_memory(preset("llama2-7b"), s, s.states_of(Precision::bf16, "hopper"), Precision::bf16, unfused, 4096,
                       Bytes{gib})
            .logit_bytes == 14.0);
}

TEST_CASE("a software's dropout holds for plain MLPs and where nobody says otherwise") {
  Architecture plain = preset("llama2-7b");
  plain.gated_mlp = false;
  CHECK(compiled(plain, "megatron-core").dropout);
  CHECK_FALSE(compiled(plain, "megatron-core-te").dropout);
  CHECK_FALSE(compiled(preset("llama2-7b"), "megatron-core").dropout);
}

TEST_CASE("DeepSpeed gathers no more than the model has, and allocates whole reduce buckets at ZeRO 2 and 3") {
  Architecture small = preset("llama2-7b");
  small.layers = 2;
  const CompiledMemory c = compiled(small, "deepspeed");
  const double parameters = count_parameters(small).total;
  REQUIRE(parameters < 1e9);
  const auto buffers = [&](int zero) {
    return bytes(stage_of_job(c, strategy(1, 1, 8, 1, 1, zero)), MemoryTerm::gather_buffers);
  };
  CHECK(buffers(1) == 0.0);
  CHECK(buffers(2) == doctest::Approx(2.0 * 5e8));
  CHECK(buffers(3) == doctest::Approx(2.0 * parameters + 2.0 * 2.0 * 5e8));
  const CompiledMemory large = compiled(preset("llama2-7b"), "deepspeed");
  CHECK(bytes(stage_of_job(large, strategy(1, 1, 8, 1, 1, 3)), MemoryTerm::gather_buffers) == doctest::Approx(4e9));
  const CompiledMemory wide = compiled(preset("llama2-7b"), "deepspeed", {}, Precision::fp32);
  CHECK(bytes(stage_of_job(wide, strategy(1, 1, 8, 1, 1, 3)), MemoryTerm::gather_buffers) == doctest::Approx(8e9));
}

TEST_CASE("gradients are reduced as the software does, and no narrower than the recipe") {
  // Of one unit: two gathered in the compute format, one reduced.
  const auto gathered = [](std::string_view software, Precision precision) {
    const CompiledMemory c = compiled(preset("llama2-70b"), software, {}, precision);
    Strategy s = strategy(1, 1, 8, 1, 1, 3);
    s.recompute = Recompute::none;
    const StageMemory m = stage_of_job(c, s);
    REQUIRE(m.moment == PeakMoment::layer_backward);
    return bytes(m, MemoryTerm::gather_buffers) / m.parameters.largest_layer;
  };
  CHECK(gathered("llm-foundry", Precision::bf16) == doctest::Approx(2.0 * 2.0 + 2.0));
  CHECK(gathered("llm-foundry", Precision::fp32) == doctest::Approx(2.0 * 4.0 + 4.0));
  CHECK(gathered("pytorch-fsdp", Precision::bf16) == doctest::Approx(2.0 * 2.0 + 4.0));
}

TEST_CASE("sharded stacks keep a stage's experts whole under pipeline parallelism, gradients in fp32") {
  const CompiledMemory c = compiled(preset("mixtral-8x7b"), "torchtitan");
  const Strategy s = strategy(1, 2, 8, 1, 1, 3);
  const MemoryTable t = table(c, s);
  const double of_stage = 16.0 * (t.kinds[0].dense + t.kinds[0].experts) + t.embedding;
  CHECK(bytes(stage_of_job(c, s), MemoryTerm::gather_buffers) == doctest::Approx((2.0 + 4.0) * of_stage));
}

TEST_CASE("gradient buckets and communicators need a second rank") {
  const CompiledMemory c = compiled(preset("llama2-7b"), "nanotron");
  const double parameters = count_parameters(c.architecture).total;
  CHECK(bytes(stage_of_job(c, strategy(1, 1, 2)), MemoryTerm::gradients) == doctest::Approx(6.0 * parameters));
  CHECK(bytes(stage_of_job(c, strategy(1, 1, 1)), MemoryTerm::gradients) == doctest::Approx(4.0 * parameters));
  CHECK(bytes(stage_of_job(c, strategy(1, 1, 2)), MemoryTerm::framework) == doctest::Approx(3.5e9));
  CHECK(bytes(stage_of_job(c, strategy(1, 1, 1)), MemoryTerm::framework) == doctest::Approx(3.5e9 - 392 * 0x1p20));
}

TEST_CASE("Muon leaves embedding, head and norms to AdamW, 8-bit Adam keeps the embedding's moments in 32 bit") {
  const Architecture llama = preset("llama2-7b");
  const ParameterCount p = count_parameters(llama);
  const double norms = (2.0 * 32.0 + 1.0) * 4096.0;
  const auto more = [&](Optimizer optimizer, int pp, std::int64_t index) {
    const CompiledMemory with = compiled(llama, "megatron-core-te", moments_apart(optimizer));
    const CompiledMemory without = compiled(llama, "megatron-core-te");
    const Strategy s = strategy(1, pp, 1);
    return bytes(stage_of_job(with, s, index), MemoryTerm::optimizer) -
           bytes(stage_of_job(without, s, index), MemoryTerm::optimizer);
  };
  CHECK(more(Optimizer::muon, 1, 0) == doctest::Approx(4.0 * (p.embedding + p.head + norms)));
  CHECK(more(Optimizer::adamw_8bit, 1, 0) == doctest::Approx(6.0 * p.embedding));
  CHECK(more(Optimizer::adamw_8bit, 2, 1) == doctest::Approx(0.0));
  CHECK(more(Optimizer::adamw, 1, 0) == 0.0);
}

TEST_CASE("prediction modules: one layer more on the last stage, its projection and norms, a second pass of logits") {
  const Architecture v3 = preset("deepseek-v3");
  REQUIRE(v3.mtp_layers == 1);
  Architecture plain = v3;
  plain.mtp_layers = 0;
  const CompiledMemory with = compiled(v3, "megatron-core-te");
  const CompiledMemory without = compiled(plain, "megatron-core-te");
  const Strategy one = strategy(1, 1, 1);
  const double weights =
      bytes(stage_of_job(with, one), MemoryTerm::weights) - bytes(stage_of_job(without, one), MemoryTerm::weights);
  CHECK(weights == doctest::Approx(2.0 * count_parameters(v3).mtp));
  const double logits =
      bytes(stage_of_job(with, one), MemoryTerm::logits) - bytes(stage_of_job(without, one), MemoryTerm::logits);
  CHECK(logits == doctest::Approx(4096.0 * (8.0 * 129280.0 + 4.0 * 7168.0)));
  const double kept = bytes(stage_of_job(with, one), MemoryTerm::activations) -
                      bytes(stage_of_job(without, one), MemoryTerm::activations);
  CHECK(kept > table(with, one).kinds[1].activations);
  // On a pipeline the first stages do not notice, and the last one needs the embedding too.
  const Strategy deep = strategy(1, 4, 1);
  CHECK(stage_of_job(with, deep, 0).live() == stage_of_job(without, deep, 0).live());
  CHECK(bytes(stage_of_job(with, deep, 3), MemoryTerm::weights) -
            bytes(stage_of_job(without, deep, 3), MemoryTerm::weights) ==
        doctest::Approx(2.0 * (count_parameters(v3).mtp + 129280.0 * 7168.0)));
}

TEST_CASE("a stack's defaults and buffers are read strictly") {
  const std::string text = R"(schema = 1
id = "mine"
name = "Mine"
source = "test"
outside = "1 GB"
communicators = "2 GB"
groups = ["tp dp", "tp and pp"]
[[states]]
weights = 2.0
gradients = 4.0
optimizer = 12.0
[defaults]
zero = 4
expert_tensor_parallel = "half"
[buffers]
live_parameters = 1e9
[update]
bytes = -1.0
[loss]
logit_bytes = 8.0
[reserve]
ratio = 1.1
[interval]
value = 0.3
source = "test"
)";
  Diagnostics diagnostics;
  static_cast<void>(read_memory_stack(parse_toml(text, "mine.toml"), "mine.toml", diagnostics));
  std::string all;
  for (const Diagnostic& d : diagnostics.sorted()) {
    all += d.message + "\n";
  }
  for (const char* part : {"'communicators' are part of 'outside'", "'tp and pp', of which 'and' is no axis", "bytes",
                           "zero", "half", "reduce_bucket", "zero2_buckets", "zero3_buckets", "source"}) {
    CAPTURE(part);
    CHECK(all.find(part) != std::string::npos);
  }
}
