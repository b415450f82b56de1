// SPDX-License-Identifier: Apache-2.0
// Memory of a pipeline stage against measured runs and against arithmetic done by hand.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "stage_of.hpp"

using namespace headroom;

TEST_CASE("Llama 3 70B, 12 layers, tp1 pp2 dp4 on B200: 66.55 GiB measured (SimuMax v1.2)") {
  MemoryOptions fused;
  fused.fused_loss = true;
  const CompiledMemory c = compiled(slice("llama3-70b", 12, 8), "megatron-core-te", 4096, Precision::bf16, fused);
  const StageMemory m = stage(c, strategy(1, 2, 4), 4);
  CHECK(states(m) == doctest::Approx(51.84).epsilon(0.001));
  CHECK(in_gib(m, MemoryTerm::activations) == doctest::Approx(12.57).epsilon(0.001));
  CHECK(in_gib(m, MemoryTerm::dummy_gradients) == doctest::Approx(1.59).epsilon(0.005));
  CHECK(m.live().raw() / gib == doctest::Approx(66.55).epsilon(0.005));
  CHECK(m.moment == PeakMoment::layer_backward);
}

TEST_CASE("Llama 3.1 405B, 4 layers, 16 KV heads, tp2 dp4 on B200: 81.59 GiB measured, at the loss") {
  MemoryOptions fused;
  fused.fused_loss = true;
  const CompiledMemory c = compiled(slice("llama3.1-405b", 4, 16), "megatron-core-te", 4096, Precision::bf16, fused);
  const StageMemory m = stage(c, strategy(2, 1, 4), 4);
  CHECK(states(m) == doctest::Approx(71.61).epsilon(0.001));
  CHECK(in_gib(m, MemoryTerm::activations) == doctest::Approx(4.00).epsilon(0.002));
  CHECK(in_gib(m, MemoryTerm::logits) == doctest::Approx(2.88).epsilon(0.005));
  CHECK(in_gib(m, MemoryTerm::dummy_gradients) == doctest::Approx(3.00).epsilon(0.002));
  CHECK(m.live().raw() / gib == doctest::Approx(81.59).epsilon(0.005));
  CHECK(m.moment == PeakMoment::loss);
}

TEST_CASE("Llama 3.1 405B on 2 048 H100, tp8 pp8 vpp8 cp2, fp8: 52.48 GiB measured on rank 0 (MLPerf v5.0)") {
  Architecture arch = slice("llama3.1-405b", 126, 8);
  arch.vocab = 32000;
  const CompiledMemory c = compiled(arch, "nemo-megatron", 8192, Precision::fp8);
  const StageMemory m = stage(c, strategy(8, 8, 16, 2, 8), 1152.0 / 16.0);
  CHECK(states(m) == doctest::Approx(24.62).epsilon(0.002));
  CHECK(in_gib(m, MemoryTerm::activations) == doctest::Approx(27.59).epsilon(0.002));
  CHECK(m.live().raw() / gib == doctest::Approx(52.484).epsilon(0.005));
}

TEST_CASE("126 layers over 8 stages of 8 chunks: embedding and loss count, the first stage holds 15") {
  Architecture arch = slice("llama3.1-405b", 126, 8);
  const CompiledMemory c = compiled(arch, "nemo-megatron", 8192);
  const Strategy s = strategy(8, 8, 16, 2, 8);
  const double one = states(stage(c, s, 72, 1)) / 16.0;  // a middle stage holds layers alone
  const double embedding = 128256.0 * 16384.0 / 8.0 * (2.0 + 2.0 + 12.0 / 32.0) / gib;
  CHECK(states(stage(c, s, 72, 0)) == doctest::Approx(15.0 * one + embedding).epsilon(1e-6));
}

TEST_CASE("micro-batches in flight by schedule") {
  Strategy s = strategy(1, 8, 1);
  CHECK(micro_batches_in_flight(s, 0, 64) == 8.0);
  CHECK(micro_batches_in_flight(s, 5, 64) == 3.0);
  CHECK(micro_batches_in_flight(s, 0, 4) == 4.0);
  s.schedule = Schedule::gpipe;
  CHECK(micro_batches_in_flight(s, 7, 64) == 64.0);
  s.schedule = Schedule::zb_h1;
  CHECK(micro_batches_in_flight(s, 7, 64) == 8.0);
  s.schedule = Schedule::zb_h2;
  CHECK(micro_batches_in_flight(s, 0, 64) == 15.0);
  s.schedule = Schedule::dualpipe;
  CHECK(micro_batches_in_flight(s, 0, 64) == 9.0);
  s.schedule = Schedule::one_f_one_b;
  s.vpp = 4;  // p (1 + (p-1)/(p v)) on the first stage, Korthikanti et al. 2022, section 4.2.3
  CHECK(micro_batches_in_flight(s, 0, 64) == doctest::Approx(8.0 * (1.0 + 7.0 / 32.0)));
}

TEST_CASE("DualPipe holds two copies of the parameters, DeepSeek-V3 table 2") {
  const CompiledMemory c = compiled(slice("llama3-8b", 32, 8), "megatron-core-te", 4096);
  Strategy s = strategy(1, 4, 8);
  const double once = states(stage(c, s, 64, 1));
  s.schedule = Schedule::dualpipe;
  CHECK(states(stage(c, s, 64, 1)) == doctest::Approx(2.0 * once));
}

TEST_CASE("recomputing blocks of n layers keeps every n-th input and forms n layers again") {
  const CompiledMemory c = compiled(slice("llama3-8b", 32, 8), "megatron-core-te", 4096);
  Strategy s = strategy(1, 1, 8);
  s.recompute = Recompute::full;
  const double every = in_gib(stage(c, s, 1), MemoryTerm::activations);
  CHECK(every == doctest::Approx(32.0 * 2.0 * 4096.0 * 4096.0 / gib));  // 2 h T a layer
  s.recompute_block = 4;
  CHECK(in_gib(stage(c, s, 1), MemoryTerm::activations) == doctest::Approx(every / 4.0));
}

TEST_CASE("8-bit Adam keeps 14 GB of moments for 7e9 parameters where fp32 keeps 56, SGD none") {
  CHECK(7e9 * moment_bytes(Optimizer::adamw) == doctest::Approx(56e9));
  CHECK(7e9 * moment_bytes(Optimizer::adamw_8bit) == doctest::Approx(14e9));
  CHECK(moment_bytes(Optimizer::sgd) == 0.0);
}

TEST_CASE(
    "naive scores take 68.7 GB a layer at 32 768 tokens and 32 heads, a fused kernel 4.2 MB, by 8 shards an 8th") {
  ActivationShape shape;
  shape.seq_len = 32768;
  shape.hidden = shape.queries = shape.keys = shape.values = shape.output = 4096;
  const auto kept = [&](double heads, bool fused, double cp = 1) {
    ActivationShape asked = shape;
    asked.heads = heads;
    asked.flash_attention = fused;
    asked.cp = cp;
    return layer_activations(asked).raw();
  };
  // What scores add to a layer without any: input and output of the softmax, 68.7 GB each, or a number a row.
  const double none = kept(0, true);
  CHECK((kept(32, false) - none) / 2.0 == doctest::Approx(68.7e9).epsilon(0.001));
  CHECK(kept(32, true) - none == doctest::Approx(4.2e6).epsilon(0.01));
  for (const bool fused : {false, true}) {
    CHECK(kept(32, fused, 8) == doctest::Approx(kept(32, fused) / 8.0));
  }
  // Twice the tokens: four times the scores, twice a fused kernel's numbers.
  const double naive = kept(32, false) - none;
  const double rows = kept(32, true) - none;
  shape.seq_len *= 2.0;
  CHECK(kept(32, false) - kept(0, true) == doctest::Approx(4.0 * naive));
  CHECK(kept(32, true) - kept(0, true) == doctest::Approx(2.0 * rows));
}

TEST_CASE(
    "an offloaded optimizer leaves the device: 12 bytes a parameter on the host, and 77 ms a billion over 26 GB/s") {
  MemoryOptions offload;
  offload.offload_optimizer = true;
  const Architecture arch = slice("llama3-8b", 32, 8);
  const Strategy s = strategy(1, 1, 8);
  const StageMemory here = stage(compiled(arch, "megatron-core-te", 4096), s, 1);
  const StageMemory there = stage(compiled(arch, "megatron-core-te", 4096, Precision::bf16, offload), s, 1);
  CHECK(there.host.states.raw() == here.bytes[MemoryTerm::optimizer].raw());
  CHECK(there.bytes[MemoryTerm::optimizer].raw() == 0.0);
  CHECK((here.live() - there.live()).raw() == doctest::Approx(there.host.states.raw()));
  // Of 2e9 parameters 24 GB, and 154 ms each way for what crosses in 16 bit.
  CHECK(there.host.states.raw() == doctest::Approx(there.host.updated * 24e9 / 2e9).epsilon(0.001));
  const Bytes way{2.0 * there.host.updated};
  CHECK(offload_time(way, BytesPerSecond{26e9}).raw() ==
        doctest::Approx(there.host.updated * 0.154 / 2e9).epsilon(0.002));
}

TEST_CASE("LoRA and QLoRA keep a frozen base and 16 bytes an adapter parameter") {
  const Architecture arch = ModelLibrary::standard().find("llama2-7b");
  MemoryOptions options;
  options.method = Method::qlora;
  options.lora_rank = 16;
  const CompiledMemory c = compiled(arch, "pytorch-fsdp", 2048, Precision::bf16, options);
  const StageMemory m = stage(c, strategy(1, 1, 1), 2);
  // r (in + out) for q, k, v, o (4096 + 4096 each) and three matrices of 4096 and 11008, over 32 layers.
  const double adapters = 32.0 * 16.0 * (4.0 * 8192.0 + 3.0 * 15104.0);
  CHECK(lora_parameters(arch, arch.blocks().front(), 16).total() * 32.0 == doctest::Approx(adapters));
  const double ends = 2.0 * 32000.0 * 4096.0;
  const double norms = (2.0 * 32.0 + 1.0) * 4096.0;  // in fp32
  const double matrices = count_parameters(arch).total - ends - norms;
  const double base = 0.5625 * matrices + 2.0 * ends + 4.0 * norms;
  CHECK(states(m) * gib == doctest::Approx(base + 16.0 * adapters).epsilon(1e-6));
  // Doubly quantised: 0.5 bit of scale a weight become 8/64 + 32/(64 x 256) = 0.127 (Dettmers et al. 2023, section 3).
  options.double_quant = true;
  const StageMemory twice = stage(compiled(arch, "pytorch-fsdp", 2048, Precision::bf16, options), strategy(1, 1, 1), 2);
  CHECK((states(m) - states(twice)) * gib * 8.0 / matrices == doctest::Approx(0.373).epsilon(1e-3));
  // The base alone: 3.5 GB at 4 bits, before block scales and 16-bit ends.
  CHECK(0.5 * 7e9 == doctest::Approx(3.5e9));
}

TEST_CASE("sharding inside a node of 8 keeps eight times the states of 64 ranks") {
  const CompiledMemory c = compiled(slice("llama3-8b", 32, 8), "torchtitan", 4096);
  Strategy s = strategy(1, 1, 64);
  s.zero = 3;
  const double all = states(stage(c, s, 4));
  s.shard_ranks = 8;
  CHECK(states(stage(c, s, 4)) == doctest::Approx(8.0 * all));
}

TEST_CASE("sharded stacks keep a stage's compute copy and fp32 gradients under pipeline parallelism") {
  const CompiledMemory c = compiled(slice("llama3-8b", 32, 8), "torchtitan", 4096);
  Strategy s = strategy(1, 4, 8);
  s.zero = 3;
  const Architecture& arch = c.architecture;
  const double parameters = 8.0 * block_parameters(arch, arch.blocks().front()).total() + 128256.0 * 4096.0;
  CHECK(stage(c, s, 8).bytes[MemoryTerm::gather_buffers].raw() == doctest::Approx((2.0 + 4.0) * parameters));
}

TEST_CASE("what the allocator holds never exceeds what the device has left") {
  Architecture arch = slice("llama3-8b", 32, 8);
  const MemoryStack& software = stacks().find("torchtitan");
  const auto at = [&](double capacity) {
    const CompiledMemory c = compile_memory(arch, software, software.states_of(Precision::bf16, "hopper"),
                                            Precision::bf16, {}, 16384, Bytes{capacity});
    Strategy s = strategy(1, 1, 64);
    s.zero = 3;
    return stage(c, s, 1);
  };
  const StageMemory roomy = at(400 * gib);
  const Bytes tight = roomy.live() + software.outside + Bytes{1 * gib};
  REQUIRE(roomy.device() > tight);
  CHECK(at(tight.raw()).device().raw() == doctest::Approx(tight.raw()));
  CHECK(at(tight.raw()).live().raw() == roomy.live().raw());
}

TEST_CASE("a vocabulary of 50 257 is padded to 51 200 at multiples of 128 over 8 tensor-parallel ranks") {
  CHECK(padded_vocabulary(50257, 128 * 8) == 51200);
  CHECK(padded_vocabulary(128256, 1) == 128256);
  const Architecture arch = ModelLibrary::standard().find("gpt3-13b");
  MemoryOptions padded;
  padded.vocab_multiple = 128;
  const Strategy s = strategy(8, 2, 1);
  const auto weights = [&](MemoryOptions options) {
    return stage(compiled(arch, "megatron-core", 2048, Precision::bf16, options), s, 1)
        .bytes[MemoryTerm::weights]
        .raw();
  };
  CHECK(weights(padded) - weights({}) == doctest::Approx(2.0 * (51200 - 50257) * 5120.0 / 8.0));
}

TEST_CASE("a software is found by the longest name that a row's framework starts with") {
  CHECK(stacks().of_framework("Megatron-LM (mcore) + TE", "ampere")->id == "megatron-core-te");
  CHECK(stacks().of_framework("Megatron-LM", "ampere")->id == "megatron-lm");
  CHECK(stacks().of_framework("Megatron-LM", "hopper")->id == "megatron-core-te");
  CHECK(stacks().of_framework("Megatron-Core r0.8.0", "ampere")->id == "megatron-core");
  CHECK(stacks().of_framework("Megatron-Bridge / NeMo mb26.04", "ampere")->id == "megatron-bridge-performance");
  CHECK(stacks().of_framework("Megatron-Bridge / NeMo mb26.06.01", "ampere")->id == "megatron-bridge-2026");
  CHECK(stacks().of_framework("NeMo/Megatron", "ampere")->id == "nemo-megatron");
  CHECK(stacks().of_framework("Megatron-DeepSpeed 2021", "ampere")->id == "megatron-deepspeed");
  CHECK(stacks().of_framework("Megatron-DeepSpeed 2022", "ampere")->id == "megatron-deepspeed-2022");
  CHECK(stacks().of_framework("torchtitan", "ampere")->id == "torchtitan");
  CHECK(stacks().of_framework("nobody's trainer", "ampere") == nullptr);
}
