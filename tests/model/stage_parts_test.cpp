// SPDX-License-Identifier: Apache-2.0
// What a stage keeps by schedule, method, width and sharding, each against arithmetic done by hand.
#include <doctest/doctest.h>

#include "stage_of.hpp"
#include <algorithm>
#include <array>

using namespace headroom;

TEST_CASE(
    "fp32 and tf32 keep twice the bytes of every activation, input and frozen weight, and fp32's log-sum as it is") {
  const Architecture arch = slice("llama3-8b", 32, 8);
  const auto at = [&](Precision precision, Recompute recompute, MemoryOptions options = {}) {
    Strategy s = strategy(1, 1, 8);
    s.recompute = recompute;
    options.dropout = true;
    return stage(compile_memory(arch, stacks().find("megatron-core"), adam_states(precision), precision, options, 4096,
                                Bytes{192 * gib}),
                 s, 4);
  };
  for (const Precision wide : {Precision::fp32, Precision::tf32}) {
    // Masks of a byte: of dropout behind the embedding, and of two in a layer.
    CHECK(in_gib(at(wide, Recompute::full), MemoryTerm::activations) ==
          doctest::Approx((32.0 * 4.0 + 1.0) * 4096.0 * 4096.0 / gib));
    const double log_sum = 32.0 * 4.0 * 32.0 * 4096.0 / gib;
    const double masks = (32.0 * 2.0 + 1.0) * 4096.0 * 4096.0 / gib;
    CHECK(in_gib(at(wide, Recompute::none), MemoryTerm::activations) - log_sum - masks ==
          doctest::Approx(2.0 *
                          (in_gib(at(Precision::bf16, Recompute::none), MemoryTerm::activations) - log_sum - masks)));
    MemoryOptions lora;
    lora.method = Method::lora;
    const double parameters = count_parameters(arch).total;
    CHECK(in_gib(at(wide, Recompute::none, lora), MemoryTerm::weights) * gib > 4.0 * parameters);
  }
  // The head: an fp32 output stands for itself and its copy, 8 - 2 bytes a logit; three states of 4 h T.
  const double head = 6.0 * 128256.0 * 4096.0 + 3.0 * 4.0 * 4096.0 * 4096.0;
  CHECK(in_gib(at(Precision::fp32, Recompute::full), MemoryTerm::logits) == doctest::Approx(head / gib));
}

TEST_CASE("a recomputed block is never longer than the layers that run in a row") {
  const CompiledMemory c = compiled(slice("llama3-8b", 40, 8), "megatron-core-te", 4096);
  const double input = 2.0 * 4096.0 * 4096.0 / gib;
  Strategy s = strategy(1, 4, 8);  // 10 layers a stage, 4 micro-batches in flight on the first
  s.recompute = Recompute::full;
  const auto at = [&](int block) {
    s.recompute_block = static_cast<std::uint8_t>(block);
    return stage(c, s, 16);
  };
  CHECK(in_gib(at(3), MemoryTerm::activations) == doctest::Approx(4.0 * 4.0 * input));  // ceil(10 / 3) inputs
  CHECK(in_gib(at(10), MemoryTerm::activations) == doctest::Approx(4.0 * input));
  for (const int longer : {11, 20, 80, 255}) {
    CHECK(at(longer).live().raw() == at(10).live().raw());
  }
  s.vpp = 5;  // 2 layers a chunk: 5 inputs a micro-batch
  CHECK(in_gib(at(80), MemoryTerm::activations) == doctest::Approx(at(80).in_flight * 5.0 * input));
}

TEST_CASE("full recomputation never takes more than selective, nor selective more than none") {
  for (const std::string software : {"megatron-core-te", "nemo-megatron", "torchtitan", "pytorch-fsdp"}) {
    for (const std::string preset : {"llama3-8b", "gpt3-13b", "deepseek-v2-lite"}) {
      for (const std::int64_t layers : {1, 2, 4, 16}) {
        for (const bool fused : {false, true}) {
          MemoryOptions options;
          options.flash_attention = fused;
          Architecture arch = ModelLibrary::standard().find(preset);
          arch.layers = layers;
          const CompiledMemory c = compiled(arch, software, 8192, Precision::bf16, options);
          Strategy s = strategy(1, 1, 8);
          const auto live = [&](Recompute mode) {
            s.recompute = mode;
            return stage(c, s, 4).live();
          };
          CAPTURE(software);
          CAPTURE(preset);
          CAPTURE(layers);
          const Bytes rounding{1.0};
          CHECK(live(Recompute::full) <= live(Recompute::selective) + rounding);
          CHECK(live(Recompute::selective) <= live(Recompute::none) + rounding);
        }
      }
    }
  }
}

TEST_CASE(
    "selective recomputation of unfused attention forms one layer's scores again: 4 a s T / t and their gradient") {
  MemoryOptions naive;
  naive.flash_attention = false;
  const CompiledMemory c = compiled(slice("llama3-8b", 32, 8), "megatron-bridge", 8192, Precision::bf16, naive);
  Strategy s = strategy(2, 2, 8);
  s.recompute = Recompute::selective;
  const StageMemory m = stage(c, s, 4);
  REQUIRE(m.moment == PeakMoment::layer_backward);
  const double tokens = 8192.0 / 2.0;
  CHECK(in_gib(m, MemoryTerm::workspace) - 0.05 ==
        doctest::Approx(((4.0 + 2.0) * 32.0 * 8192.0 * tokens + 6.0 * 14336.0 * tokens) / gib));
}

TEST_CASE("LoRA adapters of routed experts are spread over ep, those of shared experts over tp") {
  MemoryOptions lora;
  lora.method = Method::lora;
  const Architecture arch = ModelLibrary::standard().find("deepseek-v3");
  const CompiledMemory c = compiled(arch, "megatron-bridge", 4096, Precision::bf16, lora);
  const Block moe = arch.blocks().back();
  const LoraParameters adapters = lora_parameters(arch, moe, 16);
  CHECK(adapters.experts == doctest::Approx(256.0 * 3.0 * 16.0 * (7168.0 + 2048.0)));
  const double attention =
      16.0 * ((7168 + 1536) + (1536 + 128 * 192) + (7168 + 576) + (512 + 128 * 256) + (128 * 128 + 7168));
  CHECK(adapters.dense == doctest::Approx(attention + 3.0 * 16.0 * (7168.0 + 2048.0)));
  Strategy s = strategy(1, 8, 128);
  s.ep = 64;
  const StageMemory m = stage(c, s, 64, 3);  // eight mixture layers
  CHECK(m.bytes[MemoryTerm::gradients].raw() ==
        doctest::Approx(2.0 * 8.0 * (adapters.dense + adapters.experts / 64.0)));
}

TEST_CASE("ZB-V folds the network: the first rank holds embedding, head and loss, no other does") {
  const CompiledMemory c = compiled(slice("llama3-8b", 32, 8), "megatron-bridge", 4096);
  Strategy s = strategy(1, 4, 8);
  const double layers = states(stage(c, s, 64, 1));
  const double front = states(stage(c, s, 64, 0)) - layers;
  const double back = states(stage(c, s, 64, 3)) - layers;
  s.schedule = Schedule::zb_v;
  CHECK(states(stage(c, s, 64, 0)) == doctest::Approx(layers + front + back));
  CHECK(states(stage(c, s, 64, 3)) == doctest::Approx(layers));
  CHECK(stage(c, s, 64, 3).moment == PeakMoment::layer_backward);
  CHECK(stage(c, s, 64, 0).moment == PeakMoment::loss);
  s.schedule = Schedule::dualpipe;  // both directions: the first and the last rank each hold both ends
  CHECK(states(stage(c, s, 64, 0)) == doctest::Approx(2.0 * layers + front + back));
  CHECK(states(stage(c, s, 64, 3)) == doctest::Approx(2.0 * layers + front + back));
  // p + 1 stages of activations on every rank (DeepSeek-V3, table 2), though it holds two stages.
  const double one = tabulate_memory(c, {}).kinds[0].activations;
  CHECK(stage(c, s, 64, 1).bytes[MemoryTerm::activations].raw() == doctest::Approx(5.0 * 8.0 * one));
}

TEST_CASE("ZB-V deals the layers of the two halves of a mixed network to the rank that runs them") {
  Architecture arch = ModelLibrary::standard().find("deepseek-v3");
  arch.layers = 16;  // three dense ones in front
  arch.mtp_layers = 0;
  const CompiledMemory c = compiled(arch, "megatron-bridge", 4096);
  Strategy s = strategy(1, 4, 8);
  s.schedule = Schedule::zb_v;
  const double expert_layer = block_parameters(arch, arch.blocks().back()).experts;
  CHECK(stage(c, s, 64, 0).parameters.experts == doctest::Approx(2.0 * expert_layer));  // chunks 0 and 7
  CHECK(stage(c, s, 64, 1).parameters.experts == doctest::Approx(3.0 * expert_layer));  // chunks 1 and 6
  CHECK(stage(c, s, 64, 2).parameters.experts == doctest::Approx(4.0 * expert_layer));
}

TEST_CASE("prediction modules stand beside the head, wherever the schedule puts it") {
  Architecture arch = ModelLibrary::standard().find("deepseek-v3");
  arch.layers = 16;
  const CompiledMemory with = compiled(arch, "megatron-bridge", 4096);
  arch.mtp_layers = 0;
  const CompiledMemory without = compiled(arch, "megatron-bridge", 4096);
  const double expert_layer = block_parameters(arch, arch.blocks().back()).experts;
  Strategy s = strategy(1, 4, 8);
  const auto modules = [&](std::int64_t rank) {
    return (stage(with, s, 64, rank).parameters.experts - stage(without, s, 64, rank).parameters.experts) /
           expert_layer;
  };
  const auto holders = [&](Schedule schedule) {
    s.schedule = schedule;
    return std::array{modules(0), modules(1), modules(2), modules(3)};
  };
  CHECK(holders(Schedule::one_f_one_b) == std::array{0.0, 0.0, 0.0, 1.0});
  CHECK(holders(Schedule::zb_v) == std::array{1.0, 0.0, 0.0, 0.0});
  CHECK(holders(Schedule::dualpipe) == std::array{1.0, 0.0, 0.0, 1.0});
}

TEST_CASE("QLoRA gathers 4-bit layers and holds one matrix dequantised") {
  const Architecture arch = slice("llama2-7b", 32, 32);
  MemoryOptions options;
  options.method = Method::qlora;
  const CompiledMemory c = compiled(arch, "torchtitan", 4096, Precision::bf16, options);
  Strategy s = strategy(1, 1, 8);
  s.zero = 3;
  s.recompute = Recompute::full;
  const StageMemory m = stage(c, s, 4);
  const double layer = block_parameters(arch, arch.blocks().front()).total();
  REQUIRE(m.moment == PeakMoment::loss);
  CHECK(m.bytes[MemoryTerm::gather_buffers].raw() == doctest::Approx(2.0 * 32000.0 * 4096.0 + 0.5625 * layer));
  CHECK(tabulate_memory(c, {}).kinds[0].workspace == doctest::Approx(6.0 * 11008.0 * 4096.0 + 2.0 * 4096.0 * 11008.0));
}

TEST_CASE("what ZeRO 3 gathers stands under gather buffers at both moments") {
  const Architecture arch = slice("llama3-8b", 32, 8);
  Strategy s = strategy(1, 1, 8);
  s.zero = 3;
  const double layer = block_parameters(arch, arch.blocks().front()).total();
  const double head = 128256.0 * 4096.0;
  const StageMemory loss = stage(compiled(arch, "pytorch-fsdp", 4096), s, 4);
  REQUIRE(loss.moment == PeakMoment::loss);
  CHECK(loss.bytes[MemoryTerm::gather_buffers].raw() == doctest::Approx((2.0 + 4.0) * head + 2.0 * layer));
  CHECK(loss.bytes[MemoryTerm::logits].raw() == doctest::Approx(14.0 * 128256.0 * 4096.0 + 6.0 * 4096.0 * 4096.0));
  MemoryOptions fused;
  fused.fused_loss = true;
  Architecture narrow = arch;
  narrow.vocab = 1000;
  const StageMemory backward = stage(compiled(narrow, "pytorch-fsdp", 16384, Precision::bf16, fused), s, 4);
  REQUIRE(backward.moment == PeakMoment::layer_backward);
  CHECK(backward.bytes[MemoryTerm::gather_buffers].raw() == doctest::Approx((2.0 * 2.0 + 4.0) * layer));
}

TEST_CASE("the host holds what the stage that offloads most sends there") {
  MemoryOptions offload;
  offload.offload_optimizer = true;
  const CompiledMemory c = compiled(slice("gemma2-27b", 46, 16), "megatron-bridge", 4096, Precision::bf16, offload);
  Strategy s = strategy(1, 2, 8);
  s.zero = 0;
  const MemoryTable table = tabulate_memory(c, {1, 1, 1, 1, 1, false, Recompute::none});
  const FullestStage fullest = fullest_stage(c, table, s, 64);
  double most = 0.0;
  for (std::int64_t i = 0; i < 2; ++i) {
    most = std::max(most, stage_memory(c, table, s, 64, i).host.total().raw());
  }
  CHECK(fullest.host.total().raw() == most);
  CHECK(fullest.host.updated * c.states.optimizer == doctest::Approx(most));
}

TEST_CASE("the upper end of the interval counts the slack that the device's limit hides") {
  const Architecture arch = slice("llama3-8b", 32, 8);
  const MemoryStack& software = stacks().find("torchtitan");
  const auto at = [&](double capacity) {
    const CompiledMemory c = compile_memory(arch, software, software.states_of(Precision::bf16, "hopper"),
                                            Precision::bf16, {}, 16384, Bytes{capacity});
    Strategy s = strategy(1, 1, 64);
    s.zero = 3;
    return stage(c, s, 4);
  };
  const StageMemory roomy = at(400 * gib);
  const StageMemory tight = at((roomy.live() + software.outside).raw());
  CHECK(tight.device() < roomy.device());
  CHECK(tight.wanted().raw() == doctest::Approx(roomy.device().raw()));
  CHECK(device_interval(tight, software).high.raw() == doctest::Approx(device_interval(roomy, software).high.raw()));
}

TEST_CASE("a software shards as far as it can, with stages of a pipeline less far") {
  CHECK(stacks().find("megatron-core-te").shards(1, true));
  CHECK_FALSE(stacks().find("megatron-core-te").shards(2, false));
  CHECK_FALSE(stacks().find("nemo-megatron").shards(3, true));
  CHECK(stacks().find("deepspeed").shards(3, false));
  CHECK_FALSE(stacks().find("deepspeed").shards(3, true));
  CHECK(stacks().find("torchtitan").shards(3, true));
}
